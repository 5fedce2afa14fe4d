import GroupModel
import WireProtocol

/// onGroupMemberInfoChanged, and how changes of a moment share it in live rooms (Protocol.md, "Member
/// info").
extension GroupState {
  /// onGroupMemberInfoChanged: "all members, the one concerned included; off: the one concerned and
  /// the operator". One event names all who changed.
  mutating func announce(_ changes: [MemberChange], _ turn: inout Turn) {
    guard !changes.isEmpty else { return }
    let tip = appendTips(.memberInfoChange(changes), &turn)
    let content = GroupEvent.Content.onGroupMemberInfoChanged(changes, by: eventOperator(turn), tip)
    if record.type.mergesMemberInfo {
      announceOfRights(changes.map(\.ofRights).filter { !$0.isEmpty }, &turn)
      announceOfDetails(changes.map(\.ofDetails).filter { !$0.isEmpty }, &turn)
    } else {
      announce(content, whenOff: concerned(by: changes, turn), &turn)
    }
    let event = turn.event(content)
    turn.post(.memberInfoChanged, .event(event))
  }

  /// The users of whom an event tells, as far as they are members, and its operator.
  private func concerned(by changes: [MemberChange], _ turn: borrowing Turn) -> [UserID] {
    (changes.map(\.userID).filter { roster.isMember($0) } + turn.callers).uniqued()
  }

  /// In a live room mutes and roles are told to all members, those of a moment by one event; with
  /// memberChangeNotification off nothing is merged.
  private mutating func announceOfRights(_ changes: [MemberChange], _ turn: inout Turn) {
    guard !changes.isEmpty else { return }
    let content = GroupEvent.Content.onGroupMemberInfoChanged(changes, by: eventOperator(turn), nil)
    guard record.policy.memberChangeNotification else {
      return turn.send(content, to: concerned(by: changes, turn))
    }
    if memberNotices.isEmpty { charge(turn.event(content), &turn) }
    // The mutes of one request end together.
    let muteUntil = changes.first { $0.muteTime != nil }.flatMap { roster[$0.userID]?.muteUntil } ?? .unset
    memberNotices.add(changes, muteUntil: muteUntil, by: eventOperator(turn))
    publishMemberNotices(&turn)
  }

  /// Throws where too many users wait to be told of.
  func requireRoomForMemberNotice() throws(WireError) {
    guard memberNotices.isFull else { return }
    throw WireError(.groupMessageRate, retryAfterMs: MemberInfoNotices.intervalMilliseconds)
  }

  /// In a live room name cards and customInfo are told to the one concerned and the operator.
  private func announceOfDetails(_ changes: [MemberChange], _ turn: inout Turn) {
    guard !changes.isEmpty else { return }
    turn.send(.onGroupMemberInfoChanged(changes, by: eventOperator(turn), nil), to: concerned(by: changes, turn))
  }

  /// Publishes changes of mutes and roles in a live room, if they are due.
  mutating func publishMemberNotices(_ turn: inout Turn) {
    guard let notice = memberNotices.popDue(at: turn.monotonic, wall: turn.wall) else { return }
    turn.publish(.onGroupMemberInfoChanged(notice.changes, by: notice.by, nil))
    turn.decision.rateLimited.tellsMemberInfo = true
    turn.decision.showsMembers = true
  }

  /// Takes up what a state that was discarded has not told: the last state of each member always
  /// arrives.
  mutating func resume(_ interrupted: MemberInfoNotices) {
    guard record.policy.memberChangeNotification else { return }
    let roster = roster
    memberNotices = interrupted
    memberNotices.update { user in roster[user].map { ($0.muteUntil, $0.role) } }
  }
}
