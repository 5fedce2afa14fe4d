import GroupModel
import GroupPermissions
import WireProtocol

/// The rules of one group as a pure value: `decide` maps a request to a decision, and nothing is
/// awaited, read or sent here. The extensions in `Rules` hold the rules by subject.
public struct GroupState: Sendable {
  public internal(set) var record: GroupRecord
  var roster: Roster
  var messages: MessageHistory
  var applications: OpenApplications
  var attributes: AttributeState
  var counters: CounterState
  /// The `seq` of the pinned messages, the last pinned first.
  var pinned: [Int64]
  var announcements = ChangeAnnouncements()
  /// The rate of a group with history; nil = unlimited, or a group without history.
  var messageRate: SlidingWindowLimiter?
  /// The rate of a group without history; nil = unlimited, or a group with history. Notices of joins
  /// and quits merge in either case.
  var rateLimiter: PriorityRateLimiter<WaitingMessage>?
  var joins = CoalescedNotice()
  var leaves = CoalescedNotice()
  /// The roster's version of the newest stored list of receipt members; nil = none since loading.
  var receiptRosterVersion: Int?
  var corrections = ClockCorrections()
  let rules: GroupRules

  /// The state of a group that is being loaded.
  public init(_ stored: StoredGroup, at now: ClockReading, rules: GroupRules) {
    record = stored.record
    roster = Roster(stored, at: now)
    messages = MessageHistory(stored, at: now)
    applications = OpenApplications(stored.openApplications)
    attributes = AttributeState(stored.attributes)
    counters = CounterState(stored.counters)
    pinned = stored.pinned
    let limit = rules.limits.messagesPerSecond[stored.record.type, default: 0]
    if limit > 0, stored.record.type.storesMessages { messageRate = SlidingWindowLimiter(limit: limit, windowMilliseconds: 1000) }
    if limit > 0, !stored.record.type.storesMessages { rateLimiter = PriorityRateLimiter(limit: limit) }
    self.rules = rules
    record.nextOrdinal = roster.nextOrdinal
    _ = corrections.nextShift(at: now)
    correctEnds(by: ClockCorrection(now: now.wall, shift: nil))
  }

  /// Decides an operation. A refused one leaves the state as it was.
  /// - Parameters:
  ///   - now: the instant of the decision.
  ///   - usersSignedIn: the number of users with a session, for a group of everybody.
  public mutating func decide(
    _ operation: GroupOperation, by caller: Caller, at now: ClockReading, usersSignedIn: Int = 0
  ) -> Decision {
    let context = self.makeContext(at: now, usersSignedIn: usersSignedIn)
    do throws(WireError) {
      switch operation {
      case .request(let request, let facts): return try answer(request, facts, by: caller, in: context)
      case .create(_, let owner, _), .importGroup(_, let owner, _), .checkCreation(_, let owner, _):
        throw idInUseError(for: owner)
      case .check(let request, let facts): return try check(request, facts, by: caller, in: context)
      case .dropMessage(let request): return try drop(request, by: caller, in: context)
      case .decide(let application, let agrees, let reason, let facts):
        return try decide(application, agrees: agrees, reason: reason, facts, by: caller, in: context)
      case .found(let lookUp, let found): return try decide(lookUp, over: found, by: caller, in: context)
      case .confirmFound(let seqs, let epoch): return try confirm(found: seqs, epoch: epoch, by: caller)
      case .readersFound(let found, let request, let epoch):
        return try readMembers(request, found: found, epoch: epoch, for: caller, in: context)
      case .info: return try info(for: caller, in: context)
      case .foundInfo(let joinedOnly): return foundInfo(joinedOnly: joinedOnly, for: caller, in: context)
      case .joinedInfo(let since): return joinedInfo(for: caller, since: since, in: context)
      case .unreadCount: return try unreadCount(for: caller)
      case .sync(let epoch, let seq, let changeSeq, let bytes):
        return try sync(epoch: epoch, seq: seq, changeSeq: changeSeq, bytes: bytes, for: caller)
      }
    } catch {
      return .answer(.reply(.failure(error)))
    }
  }

  private mutating func answer(
    _ request: GroupRequest, _ facts: UserFacts, by caller: Caller, in context: DecisionContext
  ) throws(WireError) -> Decision {
    switch request {
    case .joinGroup(let request): return try join(request, facts, by: caller, in: context)
    case .quitGroup: return try quit(by: caller, in: context)
    case .dismissGroup: return try dismiss(by: caller, in: context)
    case .setGroupInfo(let request): return try setInfo(request, by: caller, in: context)
    case .transferGroupOwner(let request): return try transfer(request, by: caller, in: context)
    case .muteGroup(let request): return try muteGroup(request, by: caller, in: context)
    case .setGroupReceiveMessageOpt(let request): return try setReceiveOption(request.option, by: caller, in: context)
    case .initGroupAttributes(let request): return try initAttributes(request.attributes, by: caller, in: context)
    case .setGroupAttributes(let request): return try setAttributes(request.attributes, by: caller, in: context)
    case .deleteGroupAttributes(let request): return try deleteAttributes(request.keys, by: caller, in: context)
    case .getGroupAttributes(let request): return try readAttributes(request.keys, by: caller, in: context)
    case .setGroupCounters(let request): return try setCounters(request.counters, by: caller, in: context)
    case .increaseGroupCounter(let request): return try change(request.key, by: request.value, caller, in: context)
    case .decreaseGroupCounter(let request): return try change(request.key, by: -request.value, caller, in: context)
    case .getGroupCounters(let request): return try readCounters(request.keys, by: caller)
    case .getGroupMemberList(let request): return try memberList(request, for: caller, in: context)
    case .getGroupMembersInfo(let request): return try membersInfo(request.userIDList, for: caller, in: context)
    case .getGroupOnlineMemberCount: return try onlineMemberCount(for: caller, in: context)
    case .setGroupMemberInfo(let request): return try setMemberInfo(request, facts, by: caller, in: context)
    case .muteGroupMember(let request): return try muteMembers(request, by: caller, in: context)
    case .getGroupMutedMembers(let request): return try mutedMembers(request, for: caller, in: context)
    case .getGroupBannedMembers(let request): return try bannedMembers(request, for: caller, in: context)
    case .inviteUserToGroup(let request): return try invite(request, facts, by: caller, in: context)
    case .kickGroupMember(let request): return try kick(request, by: caller, in: context)
    case .unbanGroupMember(let request): return try unban(request, by: caller, in: context)
    case .setGroupMemberRole(let request): return try setRoles(request, facts, by: caller, in: context)
    case .getGroupMemberInviters(let request): return try inviters(of: request.userIDList, for: caller)
    case .getGroupMemberRoles(let request): return try roles(of: request.userIDList, for: caller)
    case .sendGroupTextMessage(let request): return try send(.text(request.text), request.options, by: caller, in: context)
    case .sendGroupCustomMessage(let request): return try send(.custom(request.data), request.options, by: caller, in: context)
    case .getGroupHistoryMessageList(let request): return try history(request, for: caller)
    case .revokeGroupMessage(let request): return try revoke(seq: request.seq, by: caller)
    case .modifyGroupMessage(let request): return try modify(request, .perform, by: caller)
    case .addMessageReaction(let request): return try react(request.reaction, to: request.seq, isAdded: true, by: caller)
    case .removeMessageReaction(let request): return try react(request.reaction, to: request.seq, isAdded: false, by: caller)
    case .getMessageReactions(let request): return try reactions(request, for: caller)
    case .pinGroupMessage(let request): return try pin(request, by: caller)
    case .getPinnedGroupMessageList: return try pinnedMessages(for: caller)
    case .markGroupMessageAsRead(let request): return try markRead(seq: request.seq, by: caller, in: context)
    case .sendMessageReadReceipts(let request): return try confirm(request, by: caller)
    case .getMessageReadReceipts(let request): return try readReceipts(request, for: caller)
    case .getGroupMessageReadMemberList(let request): return try readMembers(request, for: caller)
    case .sendGroupSystemNotification(let request): return customData(request, by: caller, in: context)
    case .recycleGroup: return disband(.recycled, by: caller, in: context)
    case .importGroupMembers(let request): return try importMembers(request, firstSeqs: facts.firstSeqs, facts, in: context)
    case .importGroupMessages(let request): return try importMessages(request, in: context)
    case .setUnreadCount(let request): return try setUnreadCount(request, in: context)
    }
  }

  /// The checks before the application is asked (Protocol.md, "Webhooks").
  private func check(
    _ request: GroupRequest, _ facts: UserFacts, by caller: Caller, in context: DecisionContext
  ) throws(WireError) -> Decision {
    switch request {
    case .joinGroup: try checkJoin(facts, by: caller, in: context)
    case .inviteUserToGroup: try checkInvite(by: caller)
    case .sendGroupTextMessage(let request): return try checkSend(request.options, by: caller, in: context)
    case .sendGroupCustomMessage(let request): return try checkSend(request.options, by: caller, in: context)
    case .modifyGroupMessage(let request): return try modify(request, .check, by: caller)
    default: break
    }
    return Decision(.empty)
  }

  private mutating func drop(
    _ request: GroupRequest, by caller: Caller, in context: DecisionContext
  ) throws(WireError) -> Decision {
    switch request {
    case .sendGroupTextMessage(let request): try drop(.text(request.text), request.options, by: caller, in: context)
    case .sendGroupCustomMessage(let request): try drop(.custom(request.data), request.options, by: caller, in: context)
    case .modifyGroupMessage(let request): try modify(request, .drop, by: caller)
    default: throw WireError(.internalError)
    }
  }

  /// Performs what is due by itself: see `nextWake`.
  public mutating func wake(at now: ClockReading, usersSignedIn: Int = 0) -> Decision {
    let context = self.makeContext(at: now, usersSignedIn: usersSignedIn)
    var decision = Decision(.empty)
    publishAttributesIfDue(in: context, into: &decision)
    publishChanges(in: context, into: &decision)
    deliverWaiting(in: context, into: &decision)
    removeAbsentMembers(in: context, into: &decision)
    return decision
  }

  /// When `wake` is due next; nil = nothing is due by itself.
  public var nextWake: MonotonicInstant? {
    var wake = min(attributes.eventDue ?? .distantFuture, counters.nextWake)
    if let instant = announcements.due { wake = min(wake, instant) }
    if let rateLimiter {
      if let instant = GroupState.nextDelivery(by: rateLimiter, joins, leaves) { wake = min(wake, instant) }
    } else {
      if let instant = joins.due { wake = min(wake, instant) }
      if let instant = leaves.due { wake = min(wake, instant) }
    }
    if let instant = roster.firstGraceEnd(afterMilliseconds: rules.offlineGraceMilliseconds) { wake = min(wake, instant) }
    return wake == .distantFuture ? nil : wake
  }

  /// Whether something is due by itself, or remembered that no store keeps.
  func isBusy(at now: MonotonicInstant) -> Bool { nextWake != nil || messages.hasVolatileReceipt(at: now) }

  /// Retention has removed messages. Those of an earlier group of this groupID do not count.
  mutating func remove(_ removal: HistoryRemoval) {
    guard removal.epoch == record.epoch else { return }
    messages.remove(before: removal.firstSeq)
    pinned.removeAll { $0 < removal.firstSeq }
  }

  /// Whether the user gets the group's events.
  public func isMember(_ user: UserID) -> Bool { roster.isMember(user) }

  /// The receive option of a member.
  public func receiveOption(of user: UserID) -> ReceiveOption { roster.receiveOption(of: user) }

  /// The change that stores the group's record.
  mutating func recordChange(isNew: Bool = false) -> StoreChange {
    record.nextOrdinal = roster.nextOrdinal
    return .putGroup(record, isNew: isNew)
  }

  // MARK: Time

  /// The instants of a decision. Time in the group's history never runs backwards.
  mutating func makeContext(at now: ClockReading, usersSignedIn: Int) -> DecisionContext {
    if let shift = corrections.nextShift(at: now) { correctEnds(by: ClockCorrection(now: now.wall, shift: shift)) }
    return DecisionContext(
      now: max(now.wall, messages.lastTime), monotonic: now.monotonic, wall: now.wall,
      usersSignedIn: usersSignedIn)
  }

  /// Moves back the ends of mutes and bans that were decided at an instant still to come.
  private mutating func correctEnds(by correction: ClockCorrection) {
    let (members, former) = roster.correctEnds(by: correction)
    for member in members { corrections.append(.putMember(member, in: record.id)) }
    for former in former { corrections.append(.putFormer(former, in: record.id)) }
    let lead = correction.lead(of: record.mutedAt)
    guard lead > .zero else { return }
    if let end = record.mute.muteUntil { record.mute.muteUntil = end - lead }
    record.mutedAt -= lead
    corrections.append(recordChange())
  }

  /// Adds the corrections to a decision that is stored anyway. The end of the group makes them
  /// useless.
  mutating func storeCorrections(with decision: inout Decision) {
    guard !corrections.isEmpty, !decision.changes.isEmpty, !decision.disbands else { return }
    decision.changes.insert(contentsOf: corrections.popAll(), at: 0)
  }
}
