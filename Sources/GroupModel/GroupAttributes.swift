/// The attributes of a group: texts by key, which members read and write (Protocol.md,
/// "Attributes"). Keys and values are compared byte for byte.
public struct GroupAttributes: Sendable, Equatable {
  /// The most keys of a group.
  public static let maxCount = 16
  /// The most bytes of all keys and values together.
  public static let maxBytes = 16_384

  /// One attribute.
  public struct Entry: Sendable, Equatable {
    /// Unique in its group.
    public let key: String
    /// Any text.
    public let value: String

    /// An attribute.
    public init(key: String, value: String) {
      self.key = key
      self.value = value
    }

    public static func == (a: Entry, b: Entry) -> Bool { a.key.isSame(as: b.key) && a.value.isSame(as: b.value) }
  }

  private var values: [ExactText: ExactText] = [:]

  /// No attributes.
  public init() {}

  /// The given attributes; the last entry of a key counts.
  public init(_ entries: [Entry]) {
    for entry in entries { self[entry.key] = entry.value }
  }

  /// The value of a key; nil = none. Setting nil removes the key.
  public subscript(key: String) -> String? {
    get { values[ExactText(key)]?.text }
    set { values[ExactText(key)] = newValue.map { ExactText($0) } }
  }

  /// The number of keys.
  public var count: Int { values.count }

  /// The bytes of all keys and values.
  public var byteCount: Int { values.reduce(0) { $0 + $1.key.text.utf8.count + $1.value.text.utf8.count } }

  /// All attributes, ordered by the bytes of their keys.
  public var entries: [Entry] {
    values.map { Entry(key: $0.key.text, value: $0.value.text) }.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
  }
}
