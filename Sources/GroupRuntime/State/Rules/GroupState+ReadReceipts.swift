import GroupModel
import WireProtocol

/// Read receipts: the members who may confirm a message, confirming, and asking who has (Protocol.md,
/// "Read receipts").
extension GroupState {
  // MARK: Sending

  /// "Work and Public, else 10007."
  func requireReceiptType() throws(WireError) {
    guard record.type.hasReadReceipts else {
      throw WireError(.noRight, "This type of group has no read receipts", field: "needReadReceipt")
    }
  }

  /// "Groups of more than limits.readReceiptMembers members 10054."
  func requireFewMembers() throws(WireError) {
    guard roster.count <= rules.limits.readReceiptMembers else {
      throw WireError(.tooManyForReceipts, field: "needReadReceipt")
    }
  }

  /// Stores the members at a message, unless the newest list is of the same ones: "who is a member
  /// when it is sent counts". A message that names its readers has them in itself.
  mutating func storeReceiptMembers(at message: Message, _ turn: inout Turn) {
    guard message.needReadReceipt, !message.isTargeted, let seq = message.seq, receiptRosterVersion != roster.version else {
      return
    }
    receiptRosterVersion = roster.version
    turn.store(.putReceiptMembers(roster.userIDs.sorted(), from: seq, in: record.id))
  }

  // MARK: Confirming

  /// "Others, own and invisible ones are ignored."
  /// - Returns: nil = there is nothing to confirm.
  func confirm(_ request: SendMessageReadReceipts, _ turn: borrowing Turn) throws(WireError) -> LookUp? {
    let visible = try historyWithReceipts(turn)
    let seqs = request.seqs.filter(visible.contains)
    return record.type.hasReadReceipts && !seqs.isEmpty ? .confirmable(seqs, epoch: record.epoch) : nil
  }

  /// Membership is not asked again: who has left since was a member when confirming.
  /// - Parameters:
  ///   - seqs: those that the caller had not confirmed a moment ago. To confirm one twice changes
  ///     nothing.
  ///   - epoch: of the group that was asked.
  func confirm(found seqs: [Int64], epoch: String, _ turn: inout Turn) throws(WireError) {
    guard epoch == record.epoch else { throw WireError(.noSuchGroup) }
    let seqs = seqs.filter { !messages.isRecentlyRecalled($0) }
    guard let reader = turn.userID, !seqs.isEmpty else { return }
    turn.decision.showsMembers = false
    turn.store(.addReadReceipts(seqs, of: reader, in: record.id))
    turn.perform(.noteReceipts(seqs))
  }

  /// onRecvMessageReadReceipts: "to the sender's sessions", of those who are members and see the
  /// message.
  func receiptEvents(_ counts: [ReceiptCount], at now: WallInstant) -> [Effect] {
    let opTime = max(now, messages.newestTime)
    return Dictionary(grouping: counts, by: \.sender).sorted { $0.key < $1.key }.compactMap { sender, counts in
      guard let member = roster[sender] else { return nil }
      let visible = visibleHistory(of: member)
      let rows = counts.filter { visible.contains($0.seq) && !messages.isRecentlyRecalled($0.seq) }.map(ReadReceiptCount.init)
      guard !rows.isEmpty else { return nil }
      return .send(GroupEvent(groupID: record.id, opTime: opTime, .onRecvMessageReadReceipts(rows)), to: [sender])
    }
  }

  // MARK: Asking

  /// "Own messages with receipts; others are left out."
  /// - Returns: nil = there are none.
  func readReceipts(_ request: GetMessageReadReceipts, _ turn: borrowing Turn) throws(WireError) -> StoredAnswer? {
    let visible = try historyWithReceipts(turn)
    let seqs = request.seqs.filter(visible.contains)
    guard record.type.hasReadReceipts, let sender = turn.userID, !seqs.isEmpty else { return nil }
    return .readReceipts(seqs, of: sender, epoch: record.epoch)
  }

  func readMembers(_ request: GetGroupMessageReadMemberList, _ turn: borrowing Turn) throws(WireError) -> LookUp {
    guard try historyWithReceipts(turn).contains(request.seq) else { throw WireError(.messageUnknown, field: "seq") }
    return .readers(request, epoch: record.epoch)
  }

  /// "One's own message with receipts, else 10032"; recalled, unknown or invisible 10030 before.
  /// - Parameters:
  ///   - found: as the store had it a moment ago.
  ///   - epoch: of the group that was asked.
  func readMembers(
    _ request: GetGroupMessageReadMemberList, found: MessageReaders?, epoch: String, _ turn: borrowing Turn
  ) throws(WireError) -> ShownAnswer {
    let visible = try historyWithReceipts(turn)
    guard epoch == record.epoch, visible.contains(request.seq), let found, !found.isRevoked,
      !messages.isRecentlyRecalled(request.seq), visible.visibility.isAddressed(to: found.targets, from: found.sender)
    else { throw WireError(.messageUnknown, field: "seq") }
    guard found.sender == turn.userID, let members = found.members?.sorted() else {
      throw WireError(.recallNotYours, "Not a message of one's own with read receipts", field: "seq")
    }
    let isWanted = { (user: UserID) in user != found.sender && found.readers.contains(user) == (request.filter == .read) }
    var listed: [ListedMember] = []
    var next: Int64 = 0
    // The members at the message never change, so a place among them is where a page begins.
    for (place, user) in members.enumerated().dropFirst(Int(request.nextSeq)) where isWanted(user) {
      if listed.count == request.count {
        next = Int64(place)
        break
      }
      let member = roster[user]?.current(at: turn.wall)
      listed.append(
        member.map { ListedMember($0, isOnline: roster.isOnline(user), isReader: false) } ?? ListedMember(former: user))
    }
    return .memberPage(listed, nextSeq: next)
  }

  /// The messages that the caller may see; 10033 where the type stores none.
  private func historyWithReceipts(_ turn: borrowing Turn) throws(WireError) -> VisibleHistory {
    try requireMembership(turn)
    guard record.type.storesMessages else {
      throw WireError(.recallUnsupported, "This type of group keeps no messages")
    }
    return try visibleHistory(turn)
  }
}

extension ReadReceiptCount {
  init(_ count: ReceiptCount) { self.init(seq: count.seq, readCount: count.read, unreadCount: count.unread) }
}
