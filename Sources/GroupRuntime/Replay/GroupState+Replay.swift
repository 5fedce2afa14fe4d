import GroupModel
import GroupPermissions
import WireProtocol

/// The attributes and the counters of a group at an instant, to tell them again.
struct ReplayedBoard: Sendable {
  let attributes: GroupAttributes
  let counters: GroupCounters
}

/// An event to be told again, whose profiles are still to be shown.
struct ReplayedContent: Sendable {
  var event: GroupEvent
  let kind: EventClass
  var users: [UserID]?
  var sent: (sender: UserID, clientMsgID: String)?
}

/// The events that tell again what a node has missed. Members, roles and options are those of the time
/// that was missed, because the revision is the same (`ReplayPlan`).
extension GroupState {
  /// What a plan goes by.
  mutating func replayHistory() -> ReplayPlan.History {
    ReplayPlan.History(
      type: record.type,
      stamp: GroupStamp(
        epoch: record.epoch, seq: messages.lastSeq, changeSeq: record.changeSeq, revision: record.revision,
        board: record.board),
      firstSeq: messages.firstSeq, importedThroughSeq: record.importedThroughSeq)
  }

  /// Messages, then changes, then the board.
  /// - Parameter board: nil = it is not told.
  func events(again found: ReplayFound, _ board: ReplayedBoard?, at now: WallInstant) -> [ReplayedContent] {
    let opTime = max(now, messages.newestTime)
    var events = found.messages.compactMap { event(again: $0) }
    events += found.changes.compactMap { event(again: $0, at: opTime) }
    if let board { events += self.events(again: board, at: opTime) }
    if board != nil, record.type.mergesMemberInfo { events += recentRights(at: now, opTime) }
    events += receiptEvents(found.receipts, at: now).compactMap(\.replayed)
    return events
  }

  private func event(again message: Message) -> ReplayedContent? {
    let users = message.isTargeted ? roster.receivers(of: message) : nil
    if let users, users.isEmpty { return nil }
    let event = GroupEvent(groupID: record.id, opTime: message.timestamp, .onRecvNewMessage(message))
    return ReplayedContent(
      event: event, kind: .storedChat(fromManager: message.isFromManager), users: users,
      sent: message.clientMsgID.map { (sender: message.sender, clientMsgID: $0) })
  }

  private func event(again change: ReplayFound.Change, at now: WallInstant) -> ReplayedContent? {
    let (message, origin) = (change.message, change.origin)
    let users = readers(of: message)
    if let users, users.isEmpty { return nil }
    let (seq, changeSeq) = (message.seq ?? 0, message.changeSeq)
    let opUser = EventOperator(memberInfo(of: origin.user), on: origin.platform)
    let content: GroupEvent.Content
    switch origin.kind {
    case .revoked: content = .onRecvMessageRevoked(msgID: message.msgID, seq: seq, changeSeq: changeSeq, by: opUser)
    case .modified: content = .onRecvMessageModified(MessageInfo(message))
    case .pinned:
      content = .onGroupMessagePinned(
        seq: seq, changeSeq: changeSeq, message.isPinned ? MessageInfo(message) : nil, by: opUser)
    case .reaction:
      let counts = change.reactions.map { ReactionCount(reaction: $0.reaction, count: $0.count) }
      content = .onRecvMessageReactionsChanged(
        ReactionsChange(
          seq: seq, changeSeq: changeSeq, reactions: counts, reaction: origin.reaction ?? "", isAdded: origin.isAdded),
        by: opUser)
    case .silent: return nil
    }
    return ReplayedContent(event: GroupEvent(groupID: record.id, opTime: now, content), kind: .control, users: users)
  }

  /// A group may have lost its last attribute: that there is none is told, too. An event of counters names
  /// those that there are.
  private func events(again board: ReplayedBoard, at now: WallInstant) -> [ReplayedContent] {
    var contents: [GroupEvent.Content] = []
    let hasAttributes = rules.permissions.requirement(for: .useAttributes, in: record.type) != .nobody
    if board.attributes.count > 0 || record.type.isStamped || hasAttributes {
      contents.append(.attributesChanged(to: board.attributes))
    }
    if board.counters.count > 0 { contents.append(.onGroupCounterChanged(CounterMap(board.counters.entries))) }
    return contents.map { ReplayedContent(event: GroupEvent(groupID: record.id, opTime: now, $0), kind: .control) }
  }

  /// How far back changes of mutes and roles in a live room may not have been told: its owner was lost
  /// since, and somebody has used it again.
  private static let untoldMilliseconds: Int64 = 60_000
  /// The most members of whom that is told.
  private static let maxUntold = 200

  /// The mutes and roles of members that were changed lately: nobody knows which of them the former owner of
  /// a live room has told. Managers are told by events of their own.
  private func recentRights(at now: WallInstant, _ opTime: WallInstant) -> [ReplayedContent] {
    let since = now.advanced(byMilliseconds: -GroupState.untoldMilliseconds)
    let changed = roster.changedMembers(since: since).filter { !$0.role.isManager }
    let latest = changed.sorted { ($0.infoTime, $0.ordinal) > ($1.infoTime, $1.ordinal) }.prefix(GroupState.maxUntold)
    let changes = latest.map { member in
      var change = MemberChange(userID: member.userID)
      change.muteTime = member.muteUntil > now ? (member.muteUntil.milliseconds(since: now) + 999) / 1000 : 0
      change.role = member.role
      return change
    }
    let opUser = EventOperator(.administrator, on: .restAPI)
    func event(_ changes: some Sequence<MemberChange>, to users: [UserID]?) -> ReplayedContent {
      let content = GroupEvent.Content.onGroupMemberInfoChanged(Array(changes), by: opUser, nil)
      return ReplayedContent(event: GroupEvent(groupID: record.id, opTime: opTime, content), kind: .control, users: users)
    }
    guard record.policy.memberChangeNotification else { return changes.map { event([$0], to: [$0.userID]) } }
    return stride(from: 0, to: changes.count, by: MemberInfoNotices.maxNamed).map { start in
      event(changes[start...].prefix(MemberInfoNotices.maxNamed), to: nil)
    }
  }
}

extension Effect {
  /// A sent event, to be told again.
  fileprivate var replayed: ReplayedContent? {
    guard case .send(let event, to: let users, except: _) = self else { return nil }
    return ReplayedContent(event: event, kind: .control, users: users)
  }
}
