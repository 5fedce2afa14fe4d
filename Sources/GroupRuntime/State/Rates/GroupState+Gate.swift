import GroupModel
import WireProtocol

/// The 40-messages rule in a group without history (contract section 6): its messages, and its join and leave notices, pass a gate. Everything
/// else is outside of it.
extension GroupState {
  /// A message that waits for its turn.
  struct Waiting: Sendable {
    let message: Message
    /// Who is told when it is dropped; nil = nobody is there.
    let session: SessionKey?
  }

  /// What becomes of a message.
  mutating func admit(
    _ message: Message, from session: SessionKey?, at moment: Moment, into decision: inout Decision
  ) -> SendStatus {
    advanceGate(at: moment, into: &decision)
    let offered = gate?.offer(Waiting(message: message, session: session), message.priority, at: moment.clock)
    if let displaced = offered?.displaced { drop(displaced, at: moment, into: &decision) }
    switch offered?.admission {
    case .queued:
      count(message, .accepted, into: &decision)
      return .queued
    case .dropped:
      count(message, [.accepted, .dropped], into: &decision)
      return .dropped
    case .delivered, nil:
      deliver(message, from: session, [.accepted, .delivered], at: moment, into: &decision)
      return .delivered
    }
  }

  /// What has waited leaves, as far as there is room in the second, and then the notices.
  mutating func advanceGate(at moment: Moment, into decision: inout Decision) {
    for exit in gate?.advance(to: moment.clock) ?? [] {
      switch exit {
      case .delivered(let waiting):
        deliver(waiting.message, from: waiting.session, .delivered, at: moment, into: &decision)
      case .dropped(let waiting): drop(waiting, at: moment, into: &decision)
      }
    }
    publishNotices(at: moment, into: &decision)
  }

  /// Everything that waits is dropped, because the state ends.
  public mutating func dropWaiting(at now: Instant) -> Decision { dropWaiting(at: moment(at: now, usersSignedIn: 0)) }

  /// Everything that waits is dropped, because the group ends.
  mutating func dropWaiting(at moment: Moment) -> Decision {
    var decision = Decision(answer: .reply(.empty))
    for waiting in gate?.empty() ?? [] { drop(waiting, at: moment, into: &decision) }
    return decision
  }

  /// "A queued message that is dropped later sends onMessageDropped with reason RateLimit to its sender."
  private mutating func drop(_ waiting: Waiting, at moment: Moment, into decision: inout Decision) {
    let message = waiting.message
    sent.forget(message)
    count(message, .dropped, into: &decision)
    guard let session = waiting.session else { return }
    let frame = event(.onMessageDropped, at: moment) { writer in
      writer.member("msgID", message.msgID)
      writer.member("clientMsgID", ifPresent: message.clientMsgID)
      writer.member("priority", message.priority.rawValue)
      writer.member("reason", "RateLimit")
    }
    decision.effects.append(.tell(frame, session))
  }

  private func count(_ message: Message, _ steps: MessageCount.Steps, into decision: inout Decision) {
    decision.counts.append(MessageCount(type: record.type, priority: message.priority, steps: steps))
  }

  // MARK: Notices

  /// Somebody came to a room with a gate: the room hears of it in its time, the user at once, "outside the limit".
  mutating func noticeEntry(of info: MemberInfo, _ frame: [UInt8], at moment: Moment, into decision: inout Decision) {
    let before = decision.effects.count
    if record.policy.memberChangeNotification {
      joins.add([info], at: moment.clock)
      advanceGate(at: moment, into: &decision)
    }
    if joins.due != nil || decision.effects.count == before { decision.effects.append(.send(frame, to: [info.userID])) }
  }

  /// Some have left a room with a gate.
  mutating func noticeLeave(of list: [MemberInfo], at moment: Moment, into decision: inout Decision) {
    guard record.policy.memberChangeNotification else { return }
    leaves.add(list, at: moment.clock)
    advanceGate(at: moment, into: &decision)
  }

  /// "Join and leave notices come after Lowest", "each kind for itself".
  private mutating func publishNotices(at moment: Moment, into decision: inout Decision) {
    joins.advance(to: moment.clock)
    leaves.advance(to: moment.clock)
    if gate?.count == 0 {
      if let due = joins.due, due <= moment.clock, gate?.takePlace(at: moment.clock) == true {
        publishNotice(.onMemberEnter, of: joins.take(at: moment.clock), at: moment, into: &decision)
      }
      if let due = leaves.due, due <= moment.clock, gate?.takePlace(at: moment.clock) == true {
        publishNotice(.onMemberLeave, of: leaves.take(at: moment.clock), at: moment, into: &decision)
      }
    }
  }

  private func publishNotice(_ name: EventName, of list: [MemberInfo], at moment: Moment, into decision: inout Decision) {
    let count = members.count
    let frame = event(name, at: moment) { writer in
      writer.member("memberList", list)
      writer.member("memberCount", count)
    }
    decision.effects.append(.publish(frame, .notice, except: nil))
  }

  /// When something at the gate wants to leave.
  var nextGateWake: Instant? {
    guard let gate else { return nil }
    return [gate.nextExit, wake(of: joins, at: gate), wake(of: leaves, at: gate)].compactMap { $0 }.min()
  }

  /// A notice waits for its second to end, for those before it, for a place in the window, or for being given up.
  private func wake(of notice: MergedNotice, at gate: MessageGate<Waiting>) -> Instant? {
    guard let due = notice.due, let end = notice.end else { return nil }
    return gate.count > 0 ? end + 1 : min(max(due, gate.nextPlace), end + 1)
  }
}
