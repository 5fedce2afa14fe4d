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
    /// The user to whom the key belongs; nil = nobody.
    public let holder: UserID?
    /// Whether the key goes when its holder leaves the group; false where there is no holder.
    public let isDeletedAfterHolderLeft: Bool

    /// An attribute.
    public init(key: String, value: String, holder: UserID? = nil, isDeletedAfterHolderLeft: Bool = false) {
      self.key = key
      self.value = value
      self.holder = holder
      self.isDeletedAfterHolderLeft = holder != nil && isDeletedAfterHolderLeft
    }

    public static func == (a: Entry, b: Entry) -> Bool {
      a.key.isSame(as: b.key) && a.value.isSame(as: b.value) && a.holder == b.holder
        && a.isDeletedAfterHolderLeft == b.isDeletedAfterHolderLeft
    }
  }

  private var values: [ExactText: Entry] = [:]

  /// No attributes.
  public init() {}

  /// The given attributes; the last entry of a key counts.
  public init(_ entries: [Entry]) {
    for entry in entries { put(entry) }
  }

  /// The value of a key; nil = none. Setting nil removes the key; a new value leaves the key to its
  /// holder.
  public subscript(key: String) -> String? {
    get { values[ExactText(key)]?.value }
    set {
      let old = values[ExactText(key)]
      values[ExactText(key)] = newValue.map {
        Entry(
          key: key, value: $0, holder: old?.holder, isDeletedAfterHolderLeft: old?.isDeletedAfterHolderLeft ?? false)
      }
    }
  }

  /// The attribute of a key; nil = none.
  public func entry(of key: String) -> Entry? { values[ExactText(key)] }

  /// Sets an attribute with its holder.
  public mutating func put(_ entry: Entry) { values[ExactText(entry.key)] = entry }

  /// The keys that somebody holds, ordered by their bytes.
  public var holders: [(key: String, holder: UserID)] {
    entries.compactMap { entry in entry.holder.map { (key: entry.key, holder: $0) } }
  }

  /// The number of keys.
  public var count: Int { values.count }

  /// The bytes of all keys and values.
  public var byteCount: Int { values.reduce(0) { $0 + $1.value.key.utf8.count + $1.value.value.utf8.count } }

  /// All attributes, ordered by the bytes of their keys.
  public var entries: [Entry] {
    values.values.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
  }
}
