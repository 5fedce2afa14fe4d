import GroupModel
import WireProtocol

/// The 40-messages rule of a live group (Protocol.md, "Message rate of live types"): messages, and
/// join and leave notices, pass a rate limiter. Other events do not.
extension GroupState {
  /// Delivers, queues or drops a new message.
  /// - Returns: false = it is dropped.
  mutating func offer(_ message: consuming Message, isForOnlineUsers: Bool, _ turn: inout Turn) -> Bool {
    turn.decision.showsMembers = false
    deliverWaiting(&turn)
    turn.decision.rateLimited.offeredID = message.msgID
    guard rateLimiter?.passes(at: turn.monotonic) ?? true else {
      return queue(message, isForOnlineUsers: isForOnlineUsers, &turn)
    }
    // Apart from those that wait: the message is not copied.
    giveSeq(to: &message, isForOnlineUsers: isForOnlineUsers)
    turn.decision.fanOut = fanOut(of: message, turn)
    acknowledge(message, .delivered, &turn)
    deliver(
      message, by: turn.caller.profile, from: turn.session, pushes: !isForOnlineUsers, [.accepted, .delivered],
      trace: turn.caller.trace, &turn)
    return true
  }

  /// Queues or drops a new message that is not delivered at once.
  /// - Returns: false = it is dropped.
  private mutating func queue(_ message: Message, isForOnlineUsers: Bool, _ turn: inout Turn) -> Bool {
    let waiting = WaitingMessage(
      message: message, senderProfile: turn.caller.profile, session: turn.session, type: record.type,
      isForOnlineUsers: isForOnlineUsers, trace: turn.caller.trace)
    let offered = rateLimiter?.offer(waiting, message.priority, at: turn.monotonic)
    if let displaced = offered?.displaced { drop(displaced, &turn) }
    guard offered?.outcome == .queued else {
      count(message, [.accepted, .dropped], &turn)
      acknowledge(message, .dropped, &turn)
      turn.post(.messageDropped, .messageDropped(waiting.info, .rateLimit), isDurable: false)
      return false
    }
    turn.decision.fanOut = fanOut(of: message, turn)
    count(message, .accepted, &turn)
    acknowledge(message, .queued, &turn)
    return true
  }

  private mutating func deliver(
    _ message: consuming Message, by profile: UserProfile?, from session: SessionKey?, pushes: Bool,
    _ steps: MessageCount.Steps, trace: TraceContext?, _ turn: inout Turn
  ) {
    turn.decision.rateLimited.deliveries += 1
    count(message, steps, &turn)
    turn.perform(publication(of: message, by: profile, from: session, turn))
    if !rules.webhooks.isEmpty { postPublished(isDurable: false, pushes: pushes, trace: trace, &turn) }
  }

  /// Delivers queued messages, and then the notices, as far as the rate allows.
  mutating func deliverWaiting(_ turn: inout Turn) {
    for dequeued in rateLimiter?.advance(to: turn.monotonic) ?? [] {
      switch dequeued {
      case .delivered(let waiting):
        // Without a place, because it has none where this decision is discarded.
        turn.decision.rateLimited.dequeued.append(waiting)
        var message = waiting.message
        giveSeq(to: &message, isForOnlineUsers: waiting.isForOnlineUsers)
        deliver(
          message, by: waiting.senderProfile, from: waiting.session, pushes: !waiting.isForOnlineUsers, .delivered,
          trace: waiting.trace, &turn)
      case .dropped(let waiting): drop(waiting, &turn)
      }
    }
    publishNotices(&turn)
  }

  /// The oldest deliveries that waited for the store take place now.
  mutating func deliverPostponed(_ count: Int, at now: MonotonicInstant) {
    rateLimiter?.deliverPostponed(count, at: now)
  }

  /// Empties the queue, because the state is discarded.
  mutating func removeWaiting() -> [WaitingMessage] { rateLimiter?.removeAll() ?? [] }

  /// Drops all queued messages, because the group ends.
  mutating func dropWaiting(_ turn: inout Turn) {
    for waiting in removeWaiting() { drop(waiting, &turn) }
  }

  /// Drops a queued message, which is not in the queue any more.
  mutating func drop(_ waiting: WaitingMessage, because reason: DropReason = .rateLimit, _ turn: inout Turn) {
    messages.forgetReceipt(of: waiting.message)
    turn.decision.rateLimited.dequeued.append(waiting)
    turn.decision.drop(waiting, because: reason, at: turn.now, making: rules.webhooks)
  }

  /// Another choice of slow mode is for those who wait now, and for later messages; 0 forgets them.
  mutating func changeSlowMode(to seconds: Int64, at now: MonotonicInstant) {
    guard seconds != record.policy.slowMode else { return }
    if seconds == 0 { slow = nil } else { slow?.removeExpired(seconds: record.policy.slowMode, at: now) }
  }

  func count(_ message: Message, _ steps: MessageCount.Steps, _ turn: inout Turn) {
    turn.decision.counts.append(MessageCount(type: record.type, priority: message.priority, steps: steps))
  }

  // MARK: Notices

  /// Announces a new member: to the user at once, "outside the limit", to the others by a notice.
  mutating func announceJoin(of info: MemberInfo, _ content: GroupEvent.Content, _ turn: inout Turn) {
    // An expired notice must not name a new member.
    deliverWaiting(&turn)
    if record.policy.memberChangeNotification {
      // The last notice about a user must be true.
      leaves.remove(info.userID)
      joins.remove(info.userID)
      if joins.due == nil { charge(turn.event(content), &turn) }
      joins.add([info], on: turn.caller.platform, at: turn.monotonic)
      publishNotices(&turn)
      if joins.due == nil { return }
    }
    turn.send(content, to: [info.userID])
  }

  /// Announces former members by a notice.
  /// - Parameter platform: of the member who quits; nil = nobody has done it.
  mutating func announceLeave(of list: [MemberInfo], on platform: Platform?, _ turn: inout Turn) {
    guard record.policy.memberChangeNotification else { return }
    deliverWaiting(&turn)
    // The notice of a user's leaving must not precede that of joining.
    let earliest = joins.names(anyOf: list) ? joins.due : nil
    if leaves.due == nil {
      charge(turn.event(.onMemberLeave(list, memberCount: roster.count, on: platform, nil)), &turn)
    }
    leaves.add(list, on: platform, at: turn.monotonic, notBefore: earliest ?? .distantPast)
    publishNotices(&turn)
  }

  /// "Join and leave notices come after Lowest", "each kind for itself". Without a limit of messages
  /// they have a place whenever they are due.
  private mutating func publishNotices(_ turn: inout Turn) {
    if rateLimiter != nil {
      joins.removeExpired(at: turn.monotonic)
      leaves.removeExpired(at: turn.monotonic)
    }
    if rateLimiter?.count ?? 0 == 0 {
      if let due = joins.due, due <= turn.monotonic, rateLimiter?.acquire(at: turn.monotonic) ?? true {
        let (users, platform) = joins.popUsers(at: turn.monotonic)
        publishNotice(.onMemberEnter(users, memberCount: roster.count, on: platform, nil), &turn)
      }
      if let due = leaves.due, due <= turn.monotonic, rateLimiter?.acquire(at: turn.monotonic) ?? true {
        let (users, platform) = leaves.popUsers(at: turn.monotonic)
        publishNotice(.onMemberLeave(users, memberCount: roster.count, on: platform, nil), &turn)
      }
    }
  }

  /// Notification was switched off: what waits is dropped.
  mutating func removeNotices() {
    joins.removeAll()
    leaves.removeAll()
    memberNotices.removeAll()
  }

  /// A member was removed, which is told at once: what waits does not name the user any more.
  mutating func removeNotices(of user: UserID) {
    joins.remove(user)
    memberNotices.remove(user)
  }

  private func publishNotice(_ content: GroupEvent.Content, _ turn: inout Turn) {
    turn.publish(content, .notice)
    turn.decision.rateLimited.deliveries += 1
    turn.decision.showsMembers = true
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
  /// Whether members are told of mutes and roles in a live room, at a rate of their own.
  var tellsMemberInfo = false
}

/// A message in the queue of the rate limiter.
struct WaitingMessage: Sendable {
  /// Without `seq` until it leaves the queue of a live room that remembers messages.
  var message: Message
  /// The sender's profile when the message was accepted; nil = empty.
  let senderProfile: UserProfile?
  /// The sender's session, which gets onMessageDropped; nil = there is none.
  let session: SessionKey?
  /// The group's type.
  let type: GroupType
  /// Absent members are not told of it.
  var isForOnlineUsers = false
  /// Of the request that has sent it.
  var trace: TraceContext?

  /// The message as members get it.
  var info: MessageInfo { MessageInfo(message, senderProfile: senderProfile) }
}

extension Decision {
  /// "A queued message that is dropped later sends onMessageDropped to its sender", with the reason.
  /// - Parameter webhooks: the after-events that are made.
  mutating func drop(
    _ waiting: WaitingMessage, because reason: DropReason = .rateLimit, at now: WallInstant, making webhooks: WebhookTypes
  ) {
    let message = waiting.message
    counts.append(MessageCount(type: waiting.type, priority: message.priority, steps: .dropped))
    if let session = waiting.session {
      let content = GroupEvent.Content.onMessageDropped(
        msgID: message.msgID, clientMsgID: message.clientMsgID, message.priority, reason)
      effects.append(.sendToSession(GroupEvent(groupID: message.groupID, opTime: now, content), session))
    }
    guard webhooks.contains(.messageDropped) else { return }
    let content = WebhookContent.messageDropped(waiting.info, WebhookContent.DropReason(reason))
    effects.append(
      .post(WebhookEntry(.messageDropped, content, in: .group(message.groupID), at: now, trace: waiting.trace)))
  }
}
