import GroupModel
import WireProtocol

/// Members of an AVChatRoom stay for a time after their last session (Protocol.md, "AVChatRoom").
extension GroupState {
  /// How many leave in one decision; the rest follow at once.
  private static let leavingAtOnce = 1000

  /// Notes whether a member has a session.
  /// - Parameter since: when the last session ended, where there is none.
  public mutating func setOnline(_ user: UserID, _ isOnline: Bool, since: Instant) {
    guard let member = members[user] else { return }
    if isOnline {
      online.insert(user)
      absent.forget(user)
    } else {
      online.remove(user)
      // "Except the owner, who never leaves that way."
      if record.type == .avChatRoom, member.role != .owner { absent.note(user, since: steady.advance(to: since)) }
    }
  }

  /// Of a live room that has just been loaded: members of whom nobody knows when they were last here are absent from now on.
  mutating func noteAbsent(except present: Set<UserID>, at now: Instant) {
    guard record.type == .avChatRoom else { return }
    let time = steady.advance(to: now)
    for member in members.values where member.role != .owner && !present.contains(member.userID) {
      absent.note(member.userID, since: time)
    }
  }

  /// Whether a member was away for longer than the grace, and is to leave, signed in again or not.
  func hasStayedAway(_ user: UserID, at now: Instant) -> Bool {
    guard let since = absent[user] else { return false }
    return since + rules.limits.offlineGrace < steady.time(at: now) && user != record.owner
  }

  /// Whether something is to come by itself, or is remembered that no store keeps.
  func isBusy(at now: Instant) -> Bool { nextWake != nil || sent.remembersVolatile(at: steady.time(at: now)) }

  /// Those whose grace has ended leave.
  mutating func endGraces(in context: DecisionContext, into decision: inout Decision) {
    let limit = context.steady - rules.limits.offlineGrace
    let gone = absent.take(absentSince: limit, atMost: GroupState.leavingAtOnce).compactMap { members[$0] }
    leave(gone.filter { $0.role != .owner }, in: context, into: &decision)
  }

  /// Whoever was away too long has left, though signed in again by now; not who was brought in while away and has still time.
  public mutating func endGrace(of user: UserID, at now: Instant) -> Decision {
    var decision = Decision(.empty)
    guard record.type == .avChatRoom, let member = members[user], member.role != .owner,
      now - member.joinTime > rules.limits.offlineGrace
    else { return decision }
    leave([member], in: makeContext(at: now, usersSignedIn: 0), into: &decision)
    return decision
  }

  private mutating func leave(_ gone: [Member], in context: DecisionContext, into decision: inout Decision) {
    guard !gone.isEmpty else { return }
    for member in gone {
      depart(member, stay: nil, in: context, into: &decision)
      decision.effects.append(.expel(member.userID))
    }
    announceLeave(of: gone.suffix(CoalescedNotice.maxNamed).map { MemberInfo($0) }, nil, in: context, into: &decision)
  }
}
