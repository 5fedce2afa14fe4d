import GroupModel

/// Keeps who has read messages that were sent with needReadReceipt (Protocol.md, "Read receipts").
/// A reading names the epoch of the group that has decided; another group may use its ID by now.
public protocol ReadReceiptStore: Sendable {
  /// Those of the messages that a user may confirm and has not: sent with needReadReceipt, by
  /// another, while the user was a member, and not recalled.
  func confirmable(
    _ seqs: [Int64], of group: GroupID, epoch: String, by reader: UserID
  ) async throws(StoreError) -> [Int64]

  /// The counts of those of the messages that were sent with needReadReceipt and are not recalled,
  /// by `seq`.
  func receiptCounts(of seqs: [Int64], in group: GroupID, epoch: String) async throws(StoreError) -> [ReceiptCount]

  /// The readers of a message; nil = there is no such message.
  func readers(of seq: Int64, in group: GroupID, epoch: String) async throws(StoreError) -> MessageReaders?
}

/// How many have read a message.
public struct ReceiptCount: Sendable, Equatable {
  public let seq: Int64
  public let sender: UserID
  public let read: Int
  /// How many were members when it was sent and have not read it, the sender apart.
  public let unread: Int

  /// With everything given.
  public init(seq: Int64, sender: UserID, read: Int, unread: Int) {
    self.seq = seq
    self.sender = sender
    self.read = read
    self.unread = unread
  }
}

/// The readers of a message, and those who might have read it.
public struct MessageReaders: Sendable, Equatable {
  public let sender: UserID
  public let isRevoked: Bool
  /// The members when it was sent, by userID; nil = it was sent without needReadReceipt.
  public let members: [UserID]?
  public let readers: Set<UserID>
  /// The only members who see the message, besides its sender; empty = everybody does.
  public let targets: [UserID]

  /// With everything given.
  public init(sender: UserID, isRevoked: Bool, members: [UserID]?, readers: Set<UserID>, targets: [UserID] = []) {
    self.targets = targets
    self.sender = sender
    self.isRevoked = isRevoked
    self.members = members
    self.readers = readers
  }
}
