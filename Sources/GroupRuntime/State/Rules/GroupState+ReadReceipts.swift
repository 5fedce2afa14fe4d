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
  /// when it is sent counts".
  mutating func storeReceiptMembers(at message: Message, into decision: inout Decision) {
    guard message.needReadReceipt, let seq = message.seq, receiptRosterVersion != roster.version else { return }
    receiptRosterVersion = roster.version
    decision.changes.append(.putReceiptMembers(roster.userIDs.sorted(), from: seq, in: record.id))
  }

  // MARK: Confirming

  /// "Others, own and invisible ones are ignored."
  func confirm(_ request: SendMessageReadReceipts, by caller: Caller) throws(WireError) -> Decision {
    let visible = try historyWithReceipts(for: caller)
    let seqs = request.seqs.filter(visible.contains)
    guard record.type.hasReadReceipts, !seqs.isEmpty else { return Decision(.empty) }
    return .answer(.lookUpReceipts(.confirmable(seqs), epoch: record.epoch, by: caller))
  }

  /// Membership is not asked again: who has left since was a member when confirming.
  /// - Parameters:
  ///   - seqs: those that the caller had not confirmed a moment ago. To confirm one twice changes
  ///     nothing.
  ///   - epoch: of the group that was asked.
  func confirm(found seqs: [Int64], epoch: String, by caller: Caller) throws(WireError) -> Decision {
    guard epoch == record.epoch else { throw WireError(.noSuchGroup) }
    let seqs = seqs.filter { !messages.isRecentlyRecalled($0) }
    var decision = Decision(.empty)
    guard let reader = caller.userID, !seqs.isEmpty else { return decision }
    decision.showsMembers = false
    decision.changes.append(.addReadReceipts(seqs, of: reader, in: record.id))
    decision.effects.append(.noteReceipts(seqs))
    return decision
  }

  /// onRecvMessageReadReceipts: "to the sender's sessions", of those who are members and see the
  /// message.
  func receiptEvents(_ counts: [ReceiptCount], at now: WallInstant) -> [Effect] {
    let opTime = max(now, messages.lastMessage?.timestamp ?? .unset)
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
  func readReceipts(_ request: GetMessageReadReceipts, for caller: Caller) throws(WireError) -> Decision {
    let visible = try historyWithReceipts(for: caller)
    let seqs = request.seqs.filter(visible.contains)
    guard record.type.hasReadReceipts, let sender = caller.userID, !seqs.isEmpty else {
      return Decision(.readReceipts(GetMessageReadReceipts.Result(receiptList: [])))
    }
    return .answer(.stored(.readReceipts(seqs, of: sender, epoch: record.epoch), for: caller.requester))
  }

  func readMembers(_ request: GetGroupMessageReadMemberList, for caller: Caller) throws(WireError) -> Decision {
    guard try historyWithReceipts(for: caller).contains(request.seq) else { throw WireError(.messageUnknown, field: "seq") }
    return .answer(.lookUpReceipts(.readers(request), epoch: record.epoch, by: caller))
  }

  /// "One's own message with receipts, else 10032"; recalled, unknown or invisible 10030 before.
  /// - Parameters:
  ///   - found: as the store had it a moment ago.
  ///   - epoch: of the group that was asked.
  func readMembers(
    _ request: GetGroupMessageReadMemberList, found: MessageReaders?, epoch: String, for caller: Caller,
    in context: DecisionContext
  ) throws(WireError) -> Decision {
    guard epoch == record.epoch, try historyWithReceipts(for: caller).contains(request.seq), let found, !found.isRevoked,
      !messages.isRecentlyRecalled(request.seq)
    else { throw WireError(.messageUnknown, field: "seq") }
    guard found.sender == caller.userID, let members = found.members else {
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
      listed.append(listedReader(user, in: context))
    }
    let result = GetGroupMemberList.Result(memberList: listed, nextSeq: next)
    return .answer(.stored(.shown(.memberList(result)), for: caller.requester))
  }

  private func listedReader(_ user: UserID, in context: DecisionContext) -> ListedMember {
    guard let member = roster[user] else { return ListedMember(former: user) }
    return ListedMember(member.current(at: context.wall), isOnline: roster.isOnline(user), isReader: false)
  }

  /// The messages that the caller may see; 10033 where the type stores none.
  private func historyWithReceipts(for caller: Caller) throws(WireError) -> VisibleHistory {
    try requireMembership(caller)
    guard record.type.storesMessages else {
      throw WireError(.recallUnsupported, "This type of group keeps no messages")
    }
    return try visibleHistory(for: caller)
  }
}

extension ReadReceiptCount {
  init(_ count: ReceiptCount) { self.init(seq: count.seq, readCount: count.read, unreadCount: count.unread) }
}
