import GroupModel
import WireProtocol

/// The 40-messages rule in a group without history (Protocol.md, "Message rate of live types"): its
/// messages and its join and leave notices pass a gate. Everything else is outside of it.
extension GroupState {
  /// What becomes of a message.
  mutating func admit(
    _ message: Message, from session: SessionKey?, at moment: Moment, into decision: inout Decision
  ) -> MessageReceipt.Status {
    advanceGate(at: moment, into: &decision)
    let waiting = WaitingMessage(message: message, session: session, type: record.type)
    let offered = gate?.offer(waiting, message.priority, at: moment.steady)
    if let displaced = offered?.displaced { drop(displaced, at: moment, into: &decision) }
    decision.admitted = message.msgID
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
    for exit in gate?.advance(to: moment.steady) ?? [] {
      switch exit {
      case .delivered(let waiting):
        decision.released.append(waiting)
        deliver(waiting.message, from: waiting.session, .delivered, at: moment, into: &decision)
      case .dropped(let waiting): drop(waiting, at: moment, into: &decision)
      }
    }
    publishNotices(at: moment, into: &decision)
  }

  /// So many of those that wait for the store, the oldest, are handed over now.
  mutating func release(_ handOvers: Int, at now: Instant) { gate?.release(handOvers, at: steady.advance(to: now)) }

  /// Everything that waits leaves, because the state ends.
  mutating func emptyGate() -> [WaitingMessage] { gate?.empty() ?? [] }

  /// Everything that waits is dropped, because the group ends.
  mutating func dropWaiting(at moment: Moment) -> Decision {
    var decision = Decision(.empty)
    for waiting in emptyGate() { drop(waiting, at: moment, into: &decision) }
    return decision
  }

  private mutating func drop(_ waiting: WaitingMessage, at moment: Moment, into decision: inout Decision) {
    sent.forget(waiting.message)
    decision.released.append(waiting)
    waiting.drop(at: moment.now, into: &decision)
  }

  private func count(_ message: Message, _ steps: MessageCount.Steps, into decision: inout Decision) {
    decision.counts.append(MessageCount(type: record.type, priority: message.priority, steps: steps))
  }

  // MARK: Notices

  /// Somebody came to a room with a gate: the room hears of it in its time, the user at once, "outside the limit".
  mutating func noticeEntry(of info: MemberInfo, _ event: GroupEvent, at moment: Moment, into decision: inout Decision) {
    // A notice that has waited too long is given up before it could name somebody new.
    advanceGate(at: moment, into: &decision)
    if record.policy.memberChangeNotification {
      // Who leaves and comes back is there: the last that is told of somebody is so.
      leaves.forget(info.userID)
      joins.forget(info.userID)
      joins.add([info], at: moment.steady)
      publishNotices(at: moment, into: &decision)
      if joins.due == nil { return }
    }
    decision.effects.append(.send(event, to: [info.userID]))
  }

  /// Some have left a room with a gate.
  mutating func noticeLeave(of list: [MemberInfo], at moment: Moment, into decision: inout Decision) {
    guard record.policy.memberChangeNotification else { return }
    advanceGate(at: moment, into: &decision)
    // Nobody is told of as having left before being told of as having come.
    let earliest = joins.names(anyOf: list) ? joins.due : nil
    leaves.add(list, at: moment.steady, notBefore: earliest ?? .min)
    publishNotices(at: moment, into: &decision)
  }

  /// "Join and leave notices come after Lowest", "each kind for itself".
  private mutating func publishNotices(at moment: Moment, into decision: inout Decision) {
    joins.advance(to: moment.steady)
    leaves.advance(to: moment.steady)
    if !record.policy.memberChangeNotification {
      joins.giveUp()
      leaves.giveUp()
    }
    if gate?.count == 0 {
      if let due = joins.due, due <= moment.steady, gate?.takePlace(at: moment.steady) == true {
        let event = event(.onMemberEnter(joins.take(at: moment.steady), memberCount: members.count, nil), at: moment)
        decision.effects.append(.publish(event, .notice, except: nil))
      }
      if let due = leaves.due, due <= moment.steady, gate?.takePlace(at: moment.steady) == true {
        let event = event(.onMemberLeave(leaves.take(at: moment.steady), memberCount: members.count, nil), at: moment)
        decision.effects.append(.publish(event, .notice, except: nil))
      }
    }
  }

  /// When something at the gate wants to leave.
  var nextGateWake: Instant? {
    guard let gate else { return nil }
    return [gate.nextExit, wake(of: joins, at: gate), wake(of: leaves, at: gate)].compactMap { $0 }.min()
  }

  /// A notice waits for its second to end, for those before it, for a place in the window, or for being given up.
  private func wake(of notice: MergedNotice, at gate: MessageGate<WaitingMessage>) -> Instant? {
    guard let due = notice.due, let end = notice.end else { return nil }
    return gate.count > 0 ? end + 1 : min(max(due, gate.nextPlace), end + 1)
  }
}

/// A message that waits for its turn at the gate.
struct WaitingMessage: Sendable {
  let message: Message
  /// Who is told when it is dropped; nil = nobody is there.
  let session: SessionKey?
  /// The group's type.
  let type: GroupType

  /// "A queued message that is dropped later sends onMessageDropped with reason RateLimit to its sender."
  func drop(at now: Instant, into decision: inout Decision) {
    decision.counts.append(MessageCount(type: type, priority: message.priority, steps: .dropped))
    guard let session else { return }
    let content = GroupEvent.Content.onMessageDropped(
      msgID: message.msgID, clientMsgID: message.clientMsgID, message.priority)
    decision.effects.append(.tell(GroupEvent(groupID: message.groupID, opTime: now, content), session))
  }
}
