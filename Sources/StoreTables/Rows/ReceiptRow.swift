import GroupModel
import GroupRuntime

/// A message that was sent with needReadReceipt.
public struct ReceiptMessage: Sendable {
  public let seq: Int64
  public let sender: UserID
  /// How many members there were when it was sent, the sender apart.
  public let others: Int

  @usableFromInline init(seq: Int64, sender: UserID, others: Int) {
    (self.seq, self.sender, self.others) = (seq, sender, others)
  }

  /// The members whom message `m` names; NULL = it is for everybody.
  public static let targetsSQL = "(SELECT e.toUserIDs FROM messageExtras AS e WHERE e.number = m.number AND e.seq = m.seq)"

  /// The members who could see message `m` when it was sent: those whom it names, or all.
  public static let membersSQL = """
    coalesce(\(targetsSQL), \
    (SELECT l.userIDs FROM receiptMembers AS l WHERE l.number = m.number AND l.seq <= m.seq ORDER BY l.seq DESC LIMIT 1), '')
    """

  /// Reads a message's seq and sender, and `membersSQL`.
  @inlinable public static func read<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) -> ReceiptMessage {
    let (seq, sender) = (try reader.integer(), try reader.value(UserID.self))
    // Only counted: a list has hundreds of names, and a page of messages as many lists.
    let names = try reader.text().utf8.split(separator: UInt8(ascii: " "))
    let isMember = names.contains { $0.elementsEqual(sender.rawValue.utf8) }
    return ReceiptMessage(seq: seq, sender: sender, others: names.count - (isMember ? 1 : 0))
  }

  /// The count of those who have read it, and of those who have not.
  public func count(read: Int) -> ReceiptCount {
    ReceiptCount(seq: seq, sender: sender, read: read, unread: max(0, others - read))
  }
}

extension MessageReaders {
  /// Reads a message's sender and isRevoked, the list of its members, NULL where it was sent without
  /// needReadReceipt, and `targetsSQL`: nobody has read it yet.
  @inlinable public static func read<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) -> MessageReaders {
    let (sender, isRevoked) = (try reader.value(UserID.self), try reader.flag())
    let members = try reader.value([UserID]?.self)
    return MessageReaders(
      sender: sender, isRevoked: isRevoked, members: members, readers: [], targets: try reader.value([UserID]?.self) ?? [])
  }

  /// The same with those who have read it.
  public func read(by readers: some Sequence<UserID>) -> MessageReaders {
    MessageReaders(sender: sender, isRevoked: isRevoked, members: members, readers: Set(readers), targets: targets)
  }
}
