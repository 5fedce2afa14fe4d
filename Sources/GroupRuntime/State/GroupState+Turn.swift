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
  func outcomes(of action: GroupAction, on users: [UserID], _ turn: borrowing Turn) -> [MemberResult] {
    let caller = turn.caller
    return users.map { MemberResult(userID: $0, result: outcome(of: action, on: $0, .none, by: caller)) }
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
  func postPublished(isDurable: Bool, pushes: Bool, _ turn: inout Turn) {
    postPublished(isDurable: isDurable, pushes: pushes, in: turn.context, into: &turn.decision)
  }
  func notification(_ kind: SystemNotification.Kind, by opUser: EventOperator, at now: WallInstant) -> SystemNotification {
    notification(
      kind, by: opUser, in: DecisionContext(now: now, monotonic: .distantPast, wall: .unset, usersSignedIn: 0))
  }
}
