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
  /// The numbers of a live room that remembers its messages; nil = any other group. Its actor sets it:
  /// the memory outlives this state.
  var live: LiveHistory?
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
  /// The rates of signals, and those that wait; nil = nobody has sent one yet.
  var signals: SignalState?
  /// When members have written last; nil = nobody has since the group has slow mode.
  var slow: SlowMode?
  /// How often each user has had a message looked for; nil = nobody has.
  var lookUpRate: KeyedRateLimiter<UserID>?
  /// Changes of mutes and roles in a live room that the members are not told of yet.
  var memberNotices = MemberInfoNotices()
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
    var turn = beginTurn(by: caller, at: now, usersSignedIn: usersSignedIn)
    do throws(WireError) {
      try decide(operation, &turn)
      return finish(turn)
    } catch {
      var decision = Decision(answer: .reply(.failure(error)))
      if case .request(.sendGroupSignal, _) = operation { decision.signals.refused = 1 }
      return decision
    }
  }

  private mutating func decide(_ operation: GroupOperation, _ turn: inout Turn) throws(WireError) {
    switch operation {
    case .request(let request, let facts):
      turn.facts = facts
      try answer(request, &turn)
    case .create(_, let owner, _), .importGroup(_, let owner, _), .checkCreation(_, let owner, _):
      throw idInUseError(for: owner)
    case .check(let request, let facts):
      turn.facts = facts
      try check(request, &turn)
    case .dropMessage(let message): try drop(message, &turn)
    case .erase(let erasure, of: let user): try erase(erasure, of: user, &turn)
    case .decide(let application, let agrees, let reason, let facts):
      turn.facts = facts
      try decide(application, agrees: agrees, reason: reason, &turn)
    case .found(let lookUp, let found): try decide(lookUp, over: found, &turn)
    case .foundRecent(let lookUp, let found): try decide(lookUp, over: found, &turn)
    case .confirmFound(let seqs, let epoch): try confirm(found: seqs, epoch: epoch, &turn)
    case .sentFound(let lookUp, let found): try decide(lookUp, over: found, &turn)
    case .readersFound(let found, let request, let epoch):
      turn.answer(reading: .shown(try readMembers(request, found: found, epoch: epoch, turn)))
    case .info: turn.answer(try info(turn))
    case .foundInfo(let joinedOnly): turn.answer(foundInfo(joinedOnly: joinedOnly, turn))
    case .joinedInfo(let since): turn.answer(joinedInfo(since: since, turn))
    case .unreadCount: turn.answer(reading: try unread(turn).map { .unread($0) }, else: .unreadCount(0))
    case .report(let request, let mayPass): try report(request, mayPass: mayPass, &turn)
    case .sync(let epoch, let seq, let changeSeq, let bytes):
      if live != nil {
        turn.answer(recent: try recentSync(epoch: epoch, seq: seq, changeSeq: changeSeq, bytes: bytes, turn))
      } else {
        turn.answer(reading: .sync(try sync(epoch: epoch, seq: seq, changeSeq: changeSeq, bytes: bytes, turn)))
      }
    }
  }

  /// Answers with what the rule of the method says; the rest are answered `{}`.
  private mutating func answer(_ request: GroupRequest, _ turn: inout Turn) throws(WireError) {
    switch request {
    case .joinGroup(let request): turn.answer(.joinedGroup(try join(request, &turn)))
    case .quitGroup: try quit(&turn)
    case .dismissGroup: try dismiss(&turn)
    case .setGroupInfo(let request): try setInfo(request, &turn)
    case .transferGroupOwner(let request): try transfer(request, &turn)
    case .muteGroup(let request): turn.answer(.groupMute(.init(muteUntil: try muteGroup(request, &turn))))
    case .setGroupReceiveMessageOpt(let request): try setReceiveOption(request.option, &turn)
    case .initGroupAttributes(let request): try initAttributes(request.attributes, &turn)
    case .setGroupAttributes(let request): try setAttributes(request, &turn)
    case .deleteGroupAttributes(let request): try deleteAttributes(request.keys, &turn)
    case .getGroupAttributes(let request): turn.answer(.attributes(try readAttributes(request, turn)))
    case .setGroupCounters(let request):
      try setCounters(request.counters, &turn)
      turn.answer(whenCountersAreDurable: .empty, isWrite: true)
    case .increaseGroupCounter(let request):
      let value = try change(request.key, by: request.value, &turn)
      turn.answer(whenCountersAreDurable: .counterValue(CounterValue(value: value)), isWrite: true)
    case .decreaseGroupCounter(let request):
      let value = try change(request.key, by: -request.value, &turn)
      turn.answer(whenCountersAreDurable: .counterValue(CounterValue(value: value)), isWrite: true)
    case .getGroupCounters(let request):
      let counters = CounterMap(try readCounters(request.keys, turn))
      turn.answer(whenCountersAreDurable: .counters(.init(counters: counters)), isWrite: false)
    case .getGroupMemberList(let request): turn.answer(reading: .shown(try memberList(request, turn)))
    case .getGroupMembersInfo(let request): turn.answer(reading: .shown(try members(request.userIDList, turn)))
    case .getGroupOnlineMemberCount: turn.answer(.onlineMemberCount(.init(count: try onlineMemberCount(turn))))
    case .setGroupMemberInfo(let request): try setMemberInfo(request, &turn)
    case .muteGroupMember(let request): turn.answer(.memberMute(try muteMembers(request, &turn)))
    case .getGroupMutedMembers(let request): turn.answer(reading: .shown(try mutedMembers(request, turn)))
    case .getGroupBannedMembers(let request): turn.answer(.bannedMembers(try bannedMembers(request, turn)))
    case .inviteUserToGroup(let request): turn.answer(try invite(request, &turn))
    case .kickGroupMember(let request): turn.answer(try kick(request, &turn))
    case .unbanGroupMember(let request): turn.answer(try unban(request, &turn))
    case .setGroupMemberRole(let request): turn.answer(try setRoles(request, &turn))
    case .getGroupMemberInviters(let request):
      turn.answer(.inviters(.init(inviterList: try inviters(of: request.userIDList, turn))))
    case .getGroupMemberRoles(let request): turn.answer(.roles(.init(roleList: try roles(of: request.userIDList, turn))))
    case .sendGroupTextMessage(let request): try send(.text(request.text), request.options, &turn)
    case .sendGroupCustomMessage(let request): try send(.custom(request.data), request.options, &turn)
    case .sendGroupSignal(let request): try signal(request, &turn)
    case .getGroupHistoryMessageList(let request):
      if live != nil {
        turn.answer(recent: try recentHistory(request, turn))
      } else {
        turn.answer(reading: try history(request, turn))
      }
    case .getGroupMessages(let request):
      if live != nil {
        turn.answer(recent: try recentMessages(request, turn))
      } else {
        turn.answer(reading: try chosenMessages(request, turn))
      }
    case .getGroupMessageReplies(let request): turn.answer(reading: try replies(request, turn))
    case .revokeGroupMessage(let request): try revoke(request.target, &turn)
    case .modifyGroupMessage(let request):
      turn.answer(over: try modify(request, .perform(isFiltered: turn.facts.isFiltered), turn))
    case .addMessageReaction(let request): turn.answer(over: try react(request.reaction, to: request.seq, isAdded: true, turn))
    case .removeMessageReaction(let request):
      turn.answer(over: try react(request.reaction, to: request.seq, isAdded: false, turn))
    case .getMessageReactions(let request): turn.answer(reading: try reactions(request, turn))
    case .pinGroupMessage(let request): turn.answer(over: try pin(request, turn))
    case .getPinnedGroupMessageList: turn.answer(reading: try pinnedMessages(turn))
    case .markGroupMessageAsRead(let request): try markRead(seq: request.seq, &turn)
    case .setConversation(let request): try setConversation(request.change, &turn)
    case .clearGroupHistory: turn.answer(.clearedHistory(.init(clearedSeq: try clearHistory(&turn))))
    case .sendMessageReadReceipts(let request): if let lookUp = try confirm(request, turn) { turn.answer(over: lookUp) }
    case .getMessageReadReceipts(let request):
      turn.answer(reading: try readReceipts(request, turn), else: .readReceipts(.init(receiptList: [])))
    case .getGroupMessageReadMemberList(let request): turn.answer(over: try readMembers(request, turn))
    case .sendGroupSystemNotification(let request): customData(request, &turn)
    case .recycleGroup: disband(.recycled, &turn)
    case .importGroupMembers(let request): turn.answer(try importMembers(request, &turn))
    case .importGroupMessages(let request):
      turn.answer(.importedMessages(.init(resultList: try importMessages(request, &turn))))
    case .setUnreadCount(let request): try setUnreadCount(request, &turn)
    }
  }

  /// The checks before the application is asked (Protocol.md, "Webhooks").
  private mutating func check(_ request: AskedGroupRequest, _ turn: inout Turn) throws(WireError) {
    switch request {
    case .join: try checkJoin(turn)
    case .invitation: try require(.invite, turn)
    case .groupInfo(let request): _ = try checkedInfo(request, turn)
    case .memberInfo(let request): _ = try checkedMemberInfo(request, turn)
    case .message(.text(let request)): try check(.text(request.text), request.options, &turn)
    case .message(.custom(let request)): try check(.custom(request.data), request.options, &turn)
    case .message(.edit(let request)): turn.answer(over: try modify(request, .check, turn))
    }
  }

  /// The checks of a message before the application is asked.
  mutating func check(
    _ content: Message.Content, _ options: MessageOptions, _ turn: inout Turn
  ) throws(WireError) {
    if let extras = options.extras {
      if let first = extras.firstSentAt { return try resend(content, options, since: first, .check, &turn) }
      if let seq = extras.replyTo { return try reply(to: seq, content, options, .check, &turn) }
    }
    if let first = try checkSend(options, answering: nil, turn) { return turn.answer(.receipt(first)) }
    _ = try filtered(content, turn)
  }

  private mutating func drop(_ message: AskedMessage, _ turn: inout Turn) throws(WireError) {
    switch message {
    case .text(let request): try drop(.text(request.text), request.options, &turn)
    case .custom(let request): try drop(.custom(request.data), request.options, &turn)
    case .edit(let request): turn.answer(over: try modify(request, .drop, turn))
    }
  }

  /// Performs what is due by itself: see `nextWake`.
  public mutating func wake(at now: ClockReading, usersSignedIn: Int = 0) -> Decision {
    var turn = beginTurn(by: .administrator, at: now, usersSignedIn: usersSignedIn)
    publishAttributesIfDue(&turn)
    publishChanges(&turn)
    deliverWaiting(&turn)
    publishMemberNotices(&turn)
    removeAbsentMembers(&turn)
    // The last, because they pass by what waits for the store where they are alone.
    publishSignals(&turn)
    return finish(turn)
  }

  /// When `wake` is due next; nil = nothing is due by itself.
  public var nextWake: MonotonicInstant? {
    var state = self
    return state.currentNextWake()
  }

  /// `nextWake`, for each message. It changes nothing: a getter, and a method that does not mutate, would be
  /// given a copy of the state.
  mutating func currentNextWake() -> MonotonicInstant? {
    var wake = min(attributes.eventDue ?? .distantFuture, counters.nextWake)
    if let instant = announcements.due { wake = min(wake, instant) }
    if let instant = memberNotices.due { wake = min(wake, instant) }
    if let instant = signals?.due { wake = min(wake, instant) }
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

  /// The receive option by which a member's sessions get messages.
  public func receiveOption(of user: UserID) -> ReceiveOption { roster.receiveOption(of: user).delivered }

  /// The change that stores the group's record.
  mutating func recordChange(isNew: Bool = false) -> StoreChange {
    record.nextOrdinal = roster.nextOrdinal
    record.departuresSince = roster.former.recordedSince
    return .putGroup(record, isNew: isNew)
  }

  // MARK: Time

  /// Begins a turn. Time in the group's history never runs backwards.
  @inline(__always)
  mutating func beginTurn(by caller: Caller, at now: ClockReading, usersSignedIn: Int = 0) -> Turn {
    if let shift = corrections.nextShift(at: now) { correctEnds(by: ClockCorrection(now: now.wall, shift: shift)) }
    return Turn(
      of: record.id, by: caller, now: max(now.wall, messages.newestTime), at: now, usersSignedIn: usersSignedIn,
      making: rules.webhooks)
  }

  /// Moves back the ends of mutes and bans that were decided at an instant still to come.
  private mutating func correctEnds(by correction: ClockCorrection) {
    let (members, former) = roster.correctEnds(by: correction)
    for member in members { corrections.append(.putMember(member, in: record.id, isKnown: true)) }
    for former in former { corrections.append(.putFormer(former, in: record.id)) }
    let lead = correction.lead(of: record.mutedAt)
    if lead > .zero {
      if let end = record.mute.muteUntil { record.mute.muteUntil = end - lead }
      record.mutedAt -= lead
    }
    // The record also says since when all departures are known.
    if lead > .zero || !former.isEmpty { corrections.append(recordChange()) }
  }

  /// Adds the corrections to a decision that is stored anyway. The end of the group makes them
  /// useless.
  mutating func storeCorrections(with decision: inout Decision) {
    guard !corrections.isEmpty, !decision.changes.isEmpty, !decision.disbands else { return }
    decision.changes.insert(contentsOf: corrections.popAll(), at: 0)
  }
}
