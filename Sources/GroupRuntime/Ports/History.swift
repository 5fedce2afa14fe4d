import GroupModel

/// The messages that a group keeps (`history.…`; Protocol.md, "Retention").
public struct HistoryLimits: Sendable, Equatable {
  /// How long; nil = for ever.
  public var age: Duration?
  /// How many; nil = all.
  public var count: Int64?

  /// Limits; nil = none.
  public init(age: Duration? = nil, count: Int64? = nil) {
    self.age = age
    self.count = count
  }
}

/// Messages that retention has removed from a group (Protocol.md, "Retention").
public struct HistoryRemoval: Sendable, Equatable {
  public let groupID: GroupID
  /// The history's, since another group may use the groupID by now.
  public let epoch: String
  /// The oldest message that is kept; the next message's `seq` where there is none.
  public let firstSeq: Int64

  /// A removal with everything given.
  public init(groupID: GroupID, epoch: String, firstSeq: Int64) {
    self.groupID = groupID
    self.epoch = epoch
    self.firstSeq = firstSeq
  }
}

/// The measured times for which background work has held the writer of a store.
public struct WriterHolds: Sendable, Equatable {
  /// The longest since the start, by the name of the work.
  public var longest: [String: Duration] = [:]
  /// Messages that retention has removed since the start.
  public var removedMessages = 0

  /// Nothing measured yet.
  public init() {}

  /// Notes one hold.
  public mutating func note(_ task: String, _ hold: Duration) { longest[task] = max(longest[task] ?? .zero, hold) }
}

/// A store that removes messages beyond `HistoryLimits` by itself.
public protocol HistoryStore: Sendable {
  /// Calls a handler for each group after its messages were removed, from a thread of the store.
  /// Groups that are loaded later are read without these messages.
  func onRemoval(_ handler: @escaping @Sendable (HistoryRemoval) -> Void)

  /// How background work has held the writer.
  var writerHolds: WriterHolds { get }
}
