import GroupModel

/// A reaction to a stored message.
public struct StoredReaction: Sendable, Equatable {
  /// The change that began it, which orders the reactions of a message.
  public let number: Int64
  public let reaction: String
  /// How many users give it.
  public var count: Int
  /// Whether the user gives it for whom it was read.
  public var isByReader: Bool
  /// The first who gave it, as many as were asked for.
  public var users: [UserID]

  /// A reaction with everything given.
  public init(number: Int64, reaction: String, count: Int, isByReader: Bool = false, users: [UserID] = []) {
    self.number = number
    self.reaction = reaction
    self.count = count
    self.isByReader = isByReader
    self.users = users
  }
}

/// A user has added a reaction to a message, or removed it.
public struct ReactionUpdate: Sendable, Equatable {
  public let group: GroupID
  public let seq: Int64
  /// The reaction's number, see `StoredReaction`.
  public let number: Int64
  public let reaction: String
  public let user: UserID
  public let isAdded: Bool
  /// The number of this change.
  public let changeSeq: Int64

  /// An update with everything given.
  public init(
    group: GroupID, seq: Int64, number: Int64, reaction: String, user: UserID, isAdded: Bool, changeSeq: Int64
  ) {
    self.group = group
    self.seq = seq
    self.number = number
    self.reaction = reaction
    self.user = user
    self.isAdded = isAdded
    self.changeSeq = changeSeq
  }
}

/// Messages that were changed.
public struct ChangedMessages: Sendable, Equatable {
  /// Ascending by `changeSeq`, as they are now.
  public let messages: [Message]
  /// The change up to which was looked, where there may be more; nil = there are no more.
  public let cutAt: Int64?

  /// With everything given.
  public init(messages: [Message], cutAt: Int64?) {
    self.messages = messages
    self.cutAt = cutAt
  }
}
