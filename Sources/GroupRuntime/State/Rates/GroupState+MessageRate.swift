import GroupModel
import WireProtocol

/// The 40-messages rule in a group without history (Protocol.md, "Message rate of live types"): its
/// messages and its join and leave notices pass a rate limiter. Everything else is outside of it.
extension GroupState {
  /// What becomes of a message.
  mutating func admit(
    _ message: Message, from session: SessionKey?, in context: DecisionContext, into decision: inout Decision
  ) -> MessageReceipt.Status {
    deliverWaiting(in: context, into: &decision)
    let waiting = WaitingMessage(message: message, session: session, type: record.type)
    let offered = rateLimiter?.offer(waiting, message.priority, at: context.steady)
    if let displaced = offered?.displaced { drop(displaced, in: context, into: &decision) }
    decision.offeredMessageID = message.msgID
    switch offered?.admission {
    case .queued:
      count(message, .accepted, into: &decision)
      return .queued
    case .dropped:
      count(message, [.accepted, .dropped], into: &decision)
      return .dropped
    case .delivered, nil:
      deliver(message, from: session, [.accepted, .delivered], in: context, into: &decision)
      return .delivered
    }
  }

  /// What has waited leaves, as far as there is room in the second, and then the notices.
  mutating func deliverWaiting(in context: DecisionContext, into decision: inout Decision) {
    for exit in rateLimiter?.advance(to: context.steady) ?? [] {
      switch exit {
      case .delivered(let waiting):
        decision.released.append(waiting)
        deliver(waiting.message, from: waiting.session, .delivered, in: context, into: &decision)
      case .dropped(let waiting): drop(waiting, in: context, into: &decision)
      }
    }
    publishNotices(in: context, into: &decision)
  }

  /// So many of those that wait for the store, the oldest, are handed over now.
  mutating func release(_ deliveries: Int, at now: Instant) { rateLimiter?.release(deliveries, at: steady.advance(to: now)) }

  /// Everything that waits leaves, because the state ends.
  mutating func removeWaiting() -> [WaitingMessage] { rateLimiter?.empty() ?? [] }

  /// Everything that waits is dropped, because the group ends.
  mutating func dropWaiting(in context: DecisionContext) -> Decision {
    var decision = Decision(.empty)
    for waiting in removeWaiting() { drop(waiting, in: context, into: &decision) }
    return decision
  }

  private mutating func drop(_ waiting: WaitingMessage, in context: DecisionContext, into decision: inout Decision) {
    messages.forgetReceipt(of: waiting.message)
    decision.released.append(waiting)
    waiting.drop(at: context.now, into: &decision)
  }

  private func count(_ message: Message, _ steps: MessageCount.Steps, into decision: inout Decision) {
    decision.counts.append(MessageCount(type: record.type, priority: message.priority, steps: steps))
  }

  // MARK: Notices

  /// Somebody came to a room with a rate limiter: the room hears of it in its time, the user at once, "outside the limit".
  mutating func noticeEntry(of info: MemberInfo, _ event: GroupEvent, in context: DecisionContext, into decision: inout Decision)
  {
    // A notice that has waited too long is given up before it could name somebody new.
    deliverWaiting(in: context, into: &decision)
    if record.policy.memberChangeNotification {
      // Who leaves and comes back is there: the last that is told of somebody is so.
      leaves.forget(info.userID)
      joins.forget(info.userID)
      joins.add([info], at: context.steady)
      publishNotices(in: context, into: &decision)
      if joins.due == nil { return }
    }
    decision.effects.append(.send(event, to: [info.userID]))
  }

  /// Some have left a room with a rate limiter.
  mutating func noticeLeave(of list: [MemberInfo], in context: DecisionContext, into decision: inout Decision) {
    guard record.policy.memberChangeNotification else { return }
    deliverWaiting(in: context, into: &decision)
    // Nobody is told of as having left before being told of as having come.
    let earliest = joins.names(anyOf: list) ? joins.due : nil
    leaves.add(list, at: context.steady, notBefore: earliest ?? .min)
    publishNotices(in: context, into: &decision)
  }

  /// "Join and leave notices come after Lowest", "each kind for itself".
  private mutating func publishNotices(in context: DecisionContext, into decision: inout Decision) {
    joins.advance(to: context.steady)
    leaves.advance(to: context.steady)
    if !record.policy.memberChangeNotification {
      joins.giveUp()
      leaves.giveUp()
    }
    if rateLimiter?.count == 0 {
      if let due = joins.due, due <= context.steady, rateLimiter?.acquire(at: context.steady) == true {
        let event = event(.onMemberEnter(joins.take(at: context.steady), memberCount: roster.count, nil), in: context)
        decision.effects.append(.publish(event, .notice, except: nil))
      }
      if let due = leaves.due, due <= context.steady, rateLimiter?.acquire(at: context.steady) == true {
        let event = event(.onMemberLeave(leaves.take(at: context.steady), memberCount: roster.count, nil), in: context)
        decision.effects.append(.publish(event, .notice, except: nil))
      }
    }
  }

  /// When something at the rate limiter wants to leave.
  var nextDelivery: Instant? {
    guard let rateLimiter else { return nil }
    return [rateLimiter.nextExit, wake(of: joins, at: rateLimiter), wake(of: leaves, at: rateLimiter)].compactMap { $0 }.min()
  }

  /// A notice waits for its second to end, for those before it, for a place in the window, or for being given up.
  private func wake(of notice: CoalescedNotice, at rateLimiter: PriorityRateLimiter<WaitingMessage>) -> Instant? {
    guard let due = notice.due, let end = notice.end else { return nil }
    return rateLimiter.count > 0 ? end + 1 : min(max(due, rateLimiter.nextPlace), end + 1)
  }
}

/// A message that waits for its turn at the rate limiter.
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
    decision.effects.append(.sendToSession(GroupEvent(groupID: message.groupID, opTime: now, content), session))
  }
}
