import GroupModel
import WireProtocol

/// The 40-messages rule of a live group (Protocol.md, "Message rate of live types"): messages, and
/// join and leave notices, pass a rate limiter. Other events do not.
extension GroupState {
  /// Delivers, queues or drops a new message.
  mutating func offer(
    _ message: Message, isForOnlineUsers: Bool, by caller: Caller, in context: DecisionContext
  ) -> Decision {
    var decision = Decision(.empty)
    decision.showsMembers = false
    deliverWaiting(in: context, into: &decision)
    let waiting = WaitingMessage(
      message: message, senderProfile: caller.profile, session: caller.session, type: record.type,
      isForOnlineUsers: isForOnlineUsers)
    let offered = rateLimiter?.offer(waiting, message.priority, at: context.monotonic)
    if let displaced = offered?.displaced { drop(displaced, in: context, into: &decision) }
    decision.rateLimited.offeredID = message.msgID
    if offered?.outcome != .dropped { decision.fanOut = fanOut(of: message.content, in: context) }
    switch offered?.outcome {
    case .queued:
      count(message, .accepted, into: &decision)
      decision.answer = acknowledge(message, .queued, in: context)
    case .dropped:
      count(message, [.accepted, .dropped], into: &decision)
      decision.answer = acknowledge(message, .dropped, in: context)
      postDropped(waiting.info, .rateLimit, at: context.now, into: &decision)
    case .delivered, nil:
      deliver(waiting, [.accepted, .delivered], in: context, into: &decision)
      decision.answer = acknowledge(message, .delivered, in: context)
    }
    return decision
  }

  private func deliver(
    _ waiting: WaitingMessage, _ steps: MessageCount.Steps, in context: DecisionContext, into decision: inout Decision
  ) {
    decision.rateLimited.deliveries += 1
    decision.effects.append(
      publication(of: waiting.message, by: waiting.senderProfile, from: waiting.session, in: context))
    count(waiting.message, steps, into: &decision)
    if !rules.webhooks.isEmpty {
      postPublished(isDurable: false, pushes: !waiting.isForOnlineUsers, in: context, into: &decision)
    }
  }

  /// Delivers queued messages, and then the notices, as far as the rate allows.
  mutating func deliverWaiting(in context: DecisionContext, into decision: inout Decision) {
    for dequeued in rateLimiter?.advance(to: context.monotonic) ?? [] {
      switch dequeued {
      case .delivered(let waiting):
        decision.rateLimited.dequeued.append(waiting)
        deliver(waiting, .delivered, in: context, into: &decision)
      case .dropped(let waiting): drop(waiting, in: context, into: &decision)
      }
    }
    publishNotices(in: context, into: &decision)
  }

  /// The oldest deliveries that waited for the store take place now.
  mutating func deliverPostponed(_ count: Int, at now: MonotonicInstant) {
    rateLimiter?.deliverPostponed(count, at: now)
  }

  /// Empties the queue, because the state is discarded.
  mutating func removeWaiting() -> [WaitingMessage] { rateLimiter?.removeAll() ?? [] }

  /// Drops all queued messages, because the group ends.
  mutating func dropWaiting(in context: DecisionContext, into decision: inout Decision) {
    for waiting in removeWaiting() { drop(waiting, in: context, into: &decision) }
  }

  private mutating func drop(_ waiting: WaitingMessage, in context: DecisionContext, into decision: inout Decision) {
    messages.forgetReceipt(of: waiting.message)
    decision.rateLimited.dequeued.append(waiting)
    waiting.drop(at: context.now, into: &decision)
    postDropped(waiting.info, .rateLimit, at: context.now, into: &decision)
  }

  private func count(_ message: Message, _ steps: MessageCount.Steps, into decision: inout Decision) {
    decision.counts.append(MessageCount(type: record.type, priority: message.priority, steps: steps))
  }

  // MARK: Notices

  /// Announces a new member: to the user at once, "outside the limit", to the others by a notice.
  mutating func announceJoin(
    of info: MemberInfo, by caller: Caller, _ event: GroupEvent, in context: DecisionContext, into decision: inout Decision
  ) {
    // An expired notice must not name a new member.
    deliverWaiting(in: context, into: &decision)
    if record.policy.memberChangeNotification {
      // The last notice about a user must be true.
      leaves.remove(info.userID)
      joins.remove(info.userID)
      if joins.due == nil { charge(event, in: context, into: &decision) }
      joins.add([info], on: caller.platform, at: context.monotonic)
      publishNotices(in: context, into: &decision)
      if joins.due == nil { return }
    }
    decision.effects.append(.send(event, to: [info.userID]))
  }

  /// Announces former members by a notice.
  /// - Parameter platform: of the member who quits; nil = nobody has done it.
  mutating func announceLeave(
    of list: [MemberInfo], on platform: Platform?, in context: DecisionContext, into decision: inout Decision
  ) {
    guard record.policy.memberChangeNotification else { return }
    deliverWaiting(in: context, into: &decision)
    // The notice of a user's leaving must not precede that of joining.
    let earliest = joins.names(anyOf: list) ? joins.due : nil
    if leaves.due == nil {
      charge(
        event(.onMemberLeave(list, memberCount: roster.count, on: platform, nil), in: context), in: context, into: &decision)
    }
    leaves.add(list, on: platform, at: context.monotonic, notBefore: earliest ?? .distantPast)
    publishNotices(in: context, into: &decision)
  }

  /// "Join and leave notices come after Lowest", "each kind for itself". Without a limit of messages
  /// they have a place whenever they are due.
  private mutating func publishNotices(in context: DecisionContext, into decision: inout Decision) {
    if rateLimiter != nil {
      joins.removeExpired(at: context.monotonic)
      leaves.removeExpired(at: context.monotonic)
    }
    if rateLimiter?.count ?? 0 == 0 {
      if let due = joins.due, due <= context.monotonic, rateLimiter?.acquire(at: context.monotonic) ?? true {
        let (users, platform) = joins.takeUsers(at: context.monotonic)
        publishNotice(.onMemberEnter(users, memberCount: roster.count, on: platform, nil), in: context, into: &decision)
      }
      if let due = leaves.due, due <= context.monotonic, rateLimiter?.acquire(at: context.monotonic) ?? true {
        let (users, platform) = leaves.takeUsers(at: context.monotonic)
        publishNotice(.onMemberLeave(users, memberCount: roster.count, on: platform, nil), in: context, into: &decision)
      }
    }
  }

  /// Notification was switched off: what waits is dropped.
  mutating func removeNotices() {
    joins.removeAll()
    leaves.removeAll()
  }

  private func publishNotice(_ content: GroupEvent.Content, in context: DecisionContext, into decision: inout Decision) {
    decision.effects.append(.publish(event(content, in: context), .notice, except: nil))
    decision.rateLimited.deliveries += 1
    decision.showsMembers = true
  }

  /// The instant of the next delivery or drop; nil = nothing is queued. Given what it needs, because
  /// a property would get a copy of the state.
  static func nextDelivery(
    by rateLimiter: PriorityRateLimiter<WaitingMessage>, _ joins: CoalescedNotice, _ leaves: CoalescedNotice
  ) -> MonotonicInstant? {
    let changes = [rateLimiter.nextChange, nextChange(of: joins, at: rateLimiter), nextChange(of: leaves, at: rateLimiter)]
    return changes.compactMap { $0 }.min()
  }

  /// A notice waits for its second to end, for queued messages, and for a slot of the window, until
  /// it expires.
  private static func nextChange(of notice: CoalescedNotice, at rateLimiter: PriorityRateLimiter<WaitingMessage>)
    -> MonotonicInstant?
  {
    guard let due = notice.due, let expiry = notice.expiry else { return nil }
    let expired = expiry.advanced(byMilliseconds: 1)
    return rateLimiter.count > 0 ? expired : min(max(due, rateLimiter.nextSlot), expired)
  }
}

/// A decision's messages that passed the rate limiter; the pipeline needs them when the decision is
/// delivered late, or its commit fails.
struct RateLimitedMessages: Sendable {
  /// The msgID of the new message; nil = there is none.
  var offeredID: String?
  /// Queued messages that are delivered or dropped.
  var dequeued: [WaitingMessage] = []
  /// How many messages and notices are delivered.
  var deliveries = 0
}

/// A message in the queue of the rate limiter.
struct WaitingMessage: Sendable {
  let message: Message
  /// The sender's profile when the message was accepted; nil = empty.
  let senderProfile: UserProfile?
  /// The sender's session, which gets onMessageDropped; nil = there is none.
  let session: SessionKey?
  /// The group's type.
  let type: GroupType
  /// Absent members are not told of it.
  var isForOnlineUsers = false

  /// The message as members get it.
  var info: MessageInfo { MessageInfo(message, senderProfile: senderProfile) }

  /// "A queued message that is dropped later sends onMessageDropped with reason RateLimit to its
  /// sender."
  func drop(at now: WallInstant, into decision: inout Decision) {
    decision.counts.append(MessageCount(type: type, priority: message.priority, steps: .dropped))
    guard let session else { return }
    let content = GroupEvent.Content.onMessageDropped(
      msgID: message.msgID, clientMsgID: message.clientMsgID, message.priority)
    decision.effects.append(.sendToSession(GroupEvent(groupID: message.groupID, opTime: now, content), session))
  }
}
