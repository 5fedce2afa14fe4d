import GroupModel
import GroupPermissions
import WireProtocol

extension Turn {
  var context: DecisionContext { DecisionContext(now: now, monotonic: monotonic, wall: wall, usersSignedIn: usersSignedIn) }
}

/// Forms of rules for a turn, until the rules take one themselves.
extension GroupState {
  func requireMembership(_ turn: borrowing Turn) throws(WireError) { try requireMembership(turn.caller) }
  func requireMember(_ turn: borrowing Turn) throws(WireError) -> Member { try requireMember(turn.caller) }
  func require(_ action: GroupAction, _ turn: borrowing Turn) throws(WireError) { try require(action, by: turn.caller) }
  func require(_ action: GroupAction, on target: Member, _ turn: borrowing Turn) throws(WireError) {
    try require(action, by: turn.caller, on: target)
  }
  func outcome(of action: GroupAction, on user: UserID, _ turn: borrowing Turn) -> MemberResult.Outcome {
    outcome(of: action, on: user, .none, by: turn.caller)
  }
  func isAllowed(_ action: GroupAction, on role: Role, _ turn: borrowing Turn) -> Bool {
    isAllowed(action, by: turn.caller, on: role)
  }
  func eventOperator(_ turn: borrowing Turn) -> EventOperator { eventOperator(turn.caller) }
  @discardableResult
  func announce(_ content: GroupEvent.Content, whenOff concerned: [UserID]? = nil, _ turn: inout Turn) -> GroupEvent {
    let event = turn.event(content)
    if let concerned {
      announce(event, whenOff: concerned, in: turn.context, into: &turn.decision)
    } else {
      charge(event, &turn)
      turn.perform(.publish(event, .control, except: nil))
    }
    return event
  }
  func charge(_ event: GroupEvent, _ turn: inout Turn) { charge(event, in: turn.context, into: &turn.decision) }
  mutating func appendTips(
    _ content: GroupTips.Content, by opUser: MemberInfo? = nil, always: Bool = false, _ turn: inout Turn
  ) -> EventTip? {
    appendTips(content, by: turn.caller, opUser: opUser, in: turn.context, always: always, into: &turn.decision)
  }
  func notify(
    _ kind: SystemNotification.Kind, _ users: [UserID], by opUser: EventOperator? = nil,
    about application: GroupApplication? = nil, reason: String? = nil, data: String? = nil, _ turn: inout Turn
  ) {
    notify(
      kind, users, by: opUser ?? eventOperator(turn.caller), about: application, reason: reason, data: data, in: turn.context,
      into: &turn.decision)
  }
  func notify(
    _ kind: SystemNotification.Kind, _ recipients: NotificationRecipients, by opUser: EventOperator? = nil,
    about application: GroupApplication? = nil, reason: String? = nil, data: String? = nil, _ turn: inout Turn
  ) {
    notify(
      kind, recipients, by: opUser ?? eventOperator(turn.caller), about: application, reason: reason, data: data,
      in: turn.context,
      into: &turn.decision)
  }
  func visibleHistory(for caller: Caller) throws(WireError) -> VisibleHistory {
    let never = ClockReading(wall: .unset, monotonic: .distantPast)
    return try visibleHistory(Turn(of: record.id, by: caller, now: .unset, at: never, making: .none))
  }
  mutating func storeReceiptMembers(at message: Message, into decision: inout Decision) {
    var turn = Turn(
      of: record.id, by: .administrator, now: .unset, at: ClockReading(wall: .unset, monotonic: .distantPast), making: .none)
    storeReceiptMembers(at: message, &turn)
    decision.changes += turn.decision.changes
  }
  mutating func changeInfo(
    to edited: GroupRecord, _ changes: [InfoChange], by caller: Caller, in context: DecisionContext,
    into decision: inout Decision
  ) {
    var turn = Turn(
      of: record.id, by: caller, now: context.now, at: ClockReading(wall: context.wall, monotonic: context.monotonic),
      usersSignedIn: context.usersSignedIn, making: rules.webhooks)
    turn.decision = exchange(&decision, with: Decision())
    changeInfo(to: edited, changes, &turn)
    decision = turn.finish()
  }
  mutating func announce(
    _ changes: [MemberChange], by caller: Caller, in context: DecisionContext, into decision: inout Decision
  ) {
    guard !changes.isEmpty else { return }
    let tip = appendTips(.memberInfoChange(changes), by: caller, in: context, into: &decision)
    let event = event(.onGroupMemberInfoChanged(changes, by: eventOperator(caller), tip), in: context)
    let concerned = (changes.map(\.userID) + (caller.userID.map { [$0] } ?? [])).uniqued()
    if record.type.announcesMemberInfo {
      announce(event, whenOff: concerned, in: context, into: &decision)
    } else {
      decision.effects.append(.send(event, to: concerned))
    }
    post(.memberInfoChanged, .event(event), at: context.now, into: &decision)
  }

  @discardableResult
  mutating func addMember(
    _ user: UserID, role: Role, joinTime: WallInstant, into decision: inout Decision, _ complete: (inout Member) -> Void
  ) -> Member {
    let (member, wasFormer) = roster.add(user, role: role, joinTime: joinTime, complete)
    if wasFormer { decision.changes.append(.forgetFormer(user, in: record.id)) }
    decision.effects.append(.attach(user, receiving: member.receiveOption))
    return member
  }

  /// Changes and stores a member.
  mutating func updateMember(
    _ user: UserID, in context: DecisionContext, into decision: inout Decision, _ change: (inout Member) -> Void
  ) {
    let changed = roster.update(user) { member in
      change(&member)
      member.changeTime = context.now
    }
    if let changed { decision.changes.append(.putMember(changed, in: record.id)) }
  }

  /// Removes a member, and stores the record of the former member where one is of use.
  /// - Parameters:
  ///   - visibleRange: the messages that this membership has shown; nil = none to remember.
  ///   - hasQuit: the user ends the membership, nobody else does.
  mutating func removeMember(
    _ user: UserID, visibleRange: ClosedRange<Int64>?, bannedUntil: WallInstant = .unset, banReason: String = "",
    hasQuit: Bool = false, in context: DecisionContext,
    into decision: inout Decision
  ) {
    let removal = roster.remove(
      user, visibleRange: visibleRange, bannedUntil: bannedUntil, banReason: banReason, hasQuit: hasQuit, at: context.wall)
    if let former = removal.former { decision.changes.append(.putFormer(former, in: record.id)) }
    decision.changes += removal.forgotten.map { .forgetFormer($0, in: record.id) }
    decision.changes.append(.removeMember(user, from: record.id, at: context.now))
  }
  func outcomes(of action: GroupAction, on users: [UserID], _ turn: borrowing Turn) -> [MemberResult] {
    let caller = turn.caller
    return users.map { MemberResult(userID: $0, result: outcome(of: action, on: $0, .none, by: caller)) }
  }
  func checkJoin(_ turn: borrowing Turn) throws(WireError) -> UserID {
    try checkJoin(turn.facts, by: turn.caller, in: turn.context)
  }
  mutating func addNewMembers(_ users: [UserID], invitedBy inviter: UserID?, _ turn: inout Turn) {
    addNewMembers(users, invitedBy: inviter, in: turn.context, into: &turn.decision)
  }
  mutating func markReadThroughNewest(_ users: [UserID], _ turn: inout Turn) {
    markReadThroughNewest(users, into: &turn.decision)
  }
  mutating func leave(_ member: Member, _ turn: inout Turn) -> MemberInfo {
    leave(member, by: turn.caller, in: turn.context, into: &turn.decision)
  }
  mutating func announceLeave(of list: [MemberInfo], on platform: Platform?, _ tip: EventTip?, _ turn: inout Turn) {
    announceLeave(of: list, on: platform, tip, in: turn.context, into: &turn.decision)
  }
  func postJoined(_ list: [MemberInfo], _ how: WebhookContent.Joining, by opUser: EventOperator? = nil, _ turn: inout Turn) {
    postJoined(list, how, by: opUser, in: turn.context, into: &turn.decision)
  }
  func postLeft(
    _ list: [MemberInfo], _ how: WebhookContent.Leaving, reason: String? = nil, by opUser: EventOperator? = nil,
    _ turn: inout Turn
  ) {
    postLeft(list, how, reason: reason, by: opUser, in: turn.context, into: &turn.decision)
  }
  func postIfFull(_ turn: inout Turn) { postIfFull(at: turn.now, into: &turn.decision) }
  mutating func submitInvitation(of user: UserID, message: String, attach: String?, _ turn: inout Turn) -> Bool {
    submitInvitation(of: user, message: message, attach: attach, by: turn.caller, in: turn.context, into: &turn.decision)
  }
}
