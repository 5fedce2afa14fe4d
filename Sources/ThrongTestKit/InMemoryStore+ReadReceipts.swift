import GroupModel
import GroupRuntime
import Synchronization

extension InMemoryStore {
  /// Those of the messages that a user may confirm and has not.
  public func confirmable(
    _ seqs: [Int64], of group: GroupID, epoch: String, by reader: UserID
  ) async throws(StoreError) -> [Int64] {
    contents.withLock { $0.group(group, epoch: epoch)?.confirmable(seqs, by: reader) ?? [] }
  }

  /// The counts of those of the messages that were sent with needReadReceipt and are not recalled.
  public func receiptCounts(
    of seqs: [Int64], in group: GroupID, epoch: String
  ) async throws(StoreError) -> [ReceiptCount] {
    contents.withLock { contents in
      guard let group = contents.group(group, epoch: epoch) else { return [] }
      return Set(seqs).sorted().compactMap { group.receiptCount(of: $0) }
    }
  }

  /// The readers of a message; nil where there is none.
  public func readers(of seq: Int64, in group: GroupID, epoch: String) async throws(StoreError) -> MessageReaders? {
    contents.withLock { $0.group(group, epoch: epoch)?.readers(of: seq) }
  }
}

extension StoreContents {
  fileprivate func group(_ id: GroupID, epoch: String) -> Group? {
    groups[id].flatMap { $0.record.epoch == epoch ? $0 : nil }
  }

  mutating func put(_ members: [UserID], _ seq: Int64, _ group: GroupID) throws(StoreError) -> Undo {
    guard let before = groups[group]?.receiptMembers else {
      throw StoreError(.inconsistent, "no group \(group) to have members")
    }
    groups[group]?.receiptMembers[seq] = members
    return { $0.groups[group]?.receiptMembers = before }
  }

  mutating func confirm(_ seqs: [Int64], _ reader: UserID, _ group: GroupID) throws(StoreError) -> Undo {
    guard let before = groups[group]?.readers else { throw StoreError(.inconsistent, "no group \(group) to read in") }
    for seq in seqs { groups[group]?.readers[seq, default: []].insert(reader) }
    return { $0.groups[group]?.readers = before }
  }
}

extension StoreContents.Group {
  private func message(_ seq: Int64) -> Message? { messages(in: seq...seq).first }

  /// The members who could see the message: those whom it names, or all.
  private func members(at seq: Int64) -> [UserID] {
    if let named = message(seq)?.extras?.toUserIDList, !named.isEmpty { return named }
    return receiptMembers.filter { $0.key <= seq }.max { $0.key < $1.key }?.value ?? []
  }

  fileprivate func confirmable(_ seqs: [Int64], by reader: UserID) -> [Int64] {
    Set(seqs).sorted().filter { seq in
      guard let message = message(seq), message.needReadReceipt, !message.isRevoked, message.sender != reader else {
        return false
      }
      return members(at: seq).contains(reader) && readers[seq]?.contains(reader) != true
    }
  }

  fileprivate func receiptCount(of seq: Int64) -> ReceiptCount? {
    guard let message = message(seq), message.needReadReceipt, !message.isRevoked else { return nil }
    let (read, others) = (readers[seq]?.count ?? 0, members(at: seq).count { $0 != message.sender })
    return ReceiptCount(seq: seq, sender: message.sender, read: read, unread: max(0, others - read))
  }

  fileprivate func readers(of seq: Int64) -> MessageReaders? {
    guard let message = message(seq) else { return nil }
    return MessageReaders(
      sender: message.sender, isRevoked: message.isRevoked, members: message.needReadReceipt ? members(at: seq) : nil,
      readers: message.needReadReceipt ? readers[seq] ?? [] : [], targets: message.extras?.toUserIDList ?? [])
  }
}
