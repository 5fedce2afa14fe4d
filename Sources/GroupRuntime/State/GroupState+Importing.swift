import GroupModel
import GroupPermissions
import WireProtocol

/// Imports from another system (Protocol.md, "Imports"): no events, no tips; 10007 without history.
extension GroupState {
  mutating func importMembers(
    _ request: ImportGroupMembers, firstSeqs: [UserID: Int64], _ facts: UserFacts, in context: DecisionContext
  ) throws(WireError) -> Decision {
    try requireImportable()
    if !rules.permissions.allowsAdmins(in: record.type), request.memberList.contains(where: { $0.role == .admin }) {
      throw WireError(.noRight, "A \(record.type.rawValue) group has no admins", field: "memberList")
    }
    var decision = Decision(.empty)
    var rows: [MemberResult] = []
    var seen: Set<UserID> = []
    for given in request.memberList where seen.insert(given.userID).inserted {
      let result = verdict(onImporting: given.userID, facts, in: context)
      rows.append(MemberResult(userID: given.userID, result: result))
      if result == .success { bring(given, firstSeq: firstSeqs[given.userID], in: context, into: &decision) }
    }
    decision.answer = .reply(.success(.memberResults(MemberResults(memberList: rows))))
    return decision
  }

  private func requireImportable() throws(WireError) {
    guard record.type.storesMessages else { throw WireError(.noRight, "Nothing can be imported into this type of group") }
  }

  private func verdict(onImporting user: UserID, _ facts: UserFacts, in context: DecisionContext) -> MemberResult.Outcome {
    if members[user] != nil { return .invalid }
    if isBanned(user, at: context.wall) || facts.unknown.contains(user) { return .fail }
    return isFull || facts.atGroupLimit.contains(user) ? .overLimit : .success
  }

  /// Whoever is imported without a joinTime has been there from the beginning.
  private mutating func bring(
    _ given: ImportGroupMembers.ImportedMember, firstSeq: Int64?, in context: DecisionContext, into decision: inout Decision
  ) {
    var member = newMember(given.userID, role: given.role, at: given.joinTime ?? record.createTime)
    member.firstVisibleSeq = isFromTheBeginning(member) ? 1 : firstSeq ?? lastSeq + 1
    member.unreadSinceSeq = lastSeq
    member.unreadBase = record.type.countsUnread ? given.unreadCount : 0
    member.changeTime = context.now
    remember(&member, into: &decision)
    member.earlierVisibleRanges = member.earlierVisibleRanges.compactMap { stay in
      stay.lowerBound < member.firstVisibleSeq ? stay.lowerBound...min(stay.upperBound, member.firstVisibleSeq - 1) : nil
    }
    put(member)
    decision.changes.append(.putMember(member, in: record.id))
    decision.effects.append(.admit(given.userID, receiving: member.receiveOption))
  }

  private func isFromTheBeginning(_ member: Member) -> Bool { member.joinTime <= record.createTime }

  mutating func importMessages(_ request: ImportGroupMessages, in context: DecisionContext) throws(WireError) -> Decision {
    try requireImportable()
    guard lastSeq == record.importedThroughSeq else {
      throw WireError(.noRight, "The group has messages of its own")
    }
    let new = request.messageList.filter { importedSeq(of: $0, in: context) == nil }
    if let first = new.first, let last = lastMessage, first.timestamp < last.timestamp {
      throw WireError(.badValue, "Older than a message that was imported before", field: "messageList")
    }
    var decision = Decision(.empty)
    let firstSeq = lastSeq + 1
    let seqs = request.messageList.map { importedSeq(of: $0, in: context) ?? append($0, in: context, into: &decision) }
    if !decision.changes.isEmpty {
      hideBeforeJoining(firstSeq: firstSeq, in: &decision)
      record.importedThroughSeq = lastSeq
      record.changeTime = context.now
      decision.changes.append(.putGroup(record, isNew: false))
    }
    let rows = seqs.map { ImportGroupMessages.Row(seq: $0, code: 0) }
    decision.answer = .reply(.success(.importedMessages(ImportGroupMessages.Result(resultList: rows))))
    return decision
  }

  /// Where a message stands that was imported a moment ago: whoever lost the answer sends the batch again.
  private func importedSeq(of given: ImportGroupMessages.ImportedMessage, in context: DecisionContext) -> Int64? {
    sent.result(of: given.clientMsgID, from: given.sender, at: context.steady)?.seq
  }

  private mutating func append(
    _ given: ImportGroupMessages.ImportedMessage, in context: DecisionContext, into decision: inout Decision
  ) -> Int64 {
    let seq = lastSeq + 1
    let sender = members[given.sender]
    let message = Message(
      msgID: nextMessageID(seq: seq), groupID: record.id, seq: seq, sender: given.sender, nameCard: sender?.nameCard ?? "",
      timestamp: given.timestamp, content: given.content, priority: .normal, clientMsgID: given.clientMsgID,
      platform: .restAPI, isFromManager: sender?.role.isManager ?? false)
    sent.note(message, .stored, at: context.steady)
    lastMessage = message
    decision.changes.append(.append(message))
    return seq
  }

  /// "History from before joining: no": members do not see what is older than their joining.
  private mutating func hideBeforeJoining(firstSeq: Int64, in decision: inout Decision) {
    guard !record.type.showsHistoryFromBeforeJoining else { return }
    let times = decision.changes.compactMap { if case .append(let message) = $0 { message.timestamp } else { nil } }
    for var member in members.values where !isFromTheBeginning(member) {
      let older = times.prefix { $0 < member.joinTime }.count
      let visible = firstSeq + Int64(older)
      guard older > 0, member.firstVisibleSeq < visible else { continue }
      member.firstVisibleSeq = visible
      members[member.userID] = member
      decision.changes.append(.putMember(member, in: record.id))
    }
  }
}
