/// The counters of a group: whole numbers by key, which members raise and lower (Protocol.md,
/// "Counters").
public struct GroupCounters: Sendable, Equatable {
  /// The most counters of a group.
  public static let maxCount = 20
  /// The most bytes of a key, which has ASCII letters, digits and `_` alone.
  public static let maxKeyBytes = 32
  /// The values: whole numbers that every JSON parser reads exactly.
  public static let values: ClosedRange<Int64> = -(1 << 53)...(1 << 53)

  /// One counter and the value that it gets.
  public struct Entry: Sendable, Equatable {
    /// Unique in its group.
    public let key: String
    /// Nil = the counter is removed.
    public let value: Int64?

    /// A counter.
    public init(key: String, value: Int64?) {
      self.key = key
      self.value = value
    }
  }

  private var byKey: [String: Int64] = [:]

  /// No counters.
  public init() {}

  /// The given counters; the last entry of a key counts.
  public init(_ entries: some Sequence<Entry>) {
    for entry in entries { byKey[entry.key] = entry.value }
  }

  /// The value of a counter; nil = there is none. Setting nil removes it.
  public subscript(key: String) -> Int64? {
    get { byKey[key] }
    set { byKey[key] = newValue }
  }

  /// The number of counters.
  public var count: Int { byKey.count }

  /// All counters, ordered by their keys.
  public var entries: [Entry] {
    byKey.map { Entry(key: $0.key, value: $0.value) }.sorted { $0.key < $1.key }
  }
}
