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
  /// The rate of a group with history; nil = unlimited, or a group without history.
  var messageRate: SlidingWindowLimiter?
  /// The rate of a group without history; nil = unlimited, or a group with history.
  var rateLimiter: PriorityRateLimiter<WaitingMessage>?
  var joins = CoalescedNotice()
  var leaves = CoalescedNotice()
  var steady: AdvancingTime
  var corrections = ClockCorrections()
  let rules: GroupRules

  /// The state of a group that is being loaded.
  public init(_ stored: StoredGroup, at now: Instant, rules: GroupRules) {
    record = stored.record
    roster = Roster(stored, at: now)
    messages = MessageHistory(stored, at: now)
    applications = OpenApplications(stored.openApplications)
    attributes = AttributeState(stored.attributes)
    steady = AdvancingTime(at: now)
    let limit = rules.limits.messagesPerSecond[stored.record.type, default: 0]
    if limit > 0, stored.record.type.storesMessages { messageRate = SlidingWindowLimiter(limit: limit, length: 1000) }
    if limit > 0, !stored.record.type.storesMessages { rateLimiter = PriorityRateLimiter(limit: limit) }
    self.rules = rules
    record.nextOrdinal = roster.nextOrdinal
    correctEnds(by: ClockCorrection(now: now, shift: nil))
  }

  /// What the group makes of a request. Refused requests leave the state as it was.
  /// - Parameters:
  ///   - now: the instant of the decision.
  ///   - usersSignedIn: how many users have a session, for a group that everyone is a member of.
  public mutating func decide(_ request: GroupRequest, by caller: Caller, at now: Instant, usersSignedIn: Int = 0) -> Decision {
    let context = self.makeContext(at: now, usersSignedIn: usersSignedIn)
    do throws(WireError) {
      return try answer(request, by: caller, in: context)
    } catch {
      return .answer(.reply(.failure(error)))
    }
  }

  private mutating func answer(_ request: GroupRequest, by caller: Caller, in context: DecisionContext) throws(WireError)
    -> Decision
  {
    switch request {
    case .create(_, let owner, _), .importGroup(_, let owner, _): throw idInUseError(for: owner)
    case .join(let request, let facts): return try join(request, facts, by: caller, in: context)
    case .quit: return try quit(by: caller, in: context)
    case .dismiss: return try dismiss(by: caller, in: context)
    case .recycle: return disband(.recycled, by: caller, in: context)
    case .info: return try info(for: caller, in: context)
    case .foundInfo: return foundInfo(for: caller, in: context)
    case .joinedInfo(let since): return joinedInfo(for: caller, since: since, in: context)
    case .setInfo(let request): return try setInfo(request, by: caller, in: context)
    case .muteGroup(let request): return try muteGroup(request, by: caller, in: context)
    case .transfer(let request): return try transfer(request, by: caller, in: context)
    case .memberList(let request): return try memberList(request, for: caller, in: context)
    case .membersInfo(let users): return try membersInfo(users, for: caller, in: context)
    case .mutedMembers(let request): return try mutedMembers(request, for: caller, in: context)
    case .inviters(let users): return try inviters(of: users, for: caller)
    case .roles(let users): return try roles(of: users, for: caller)
    case .onlineMemberCount: return try onlineMemberCount(for: caller, in: context)
    case .invite(let request, let facts): return try invite(request, facts, by: caller, in: context)
    case .decide(let application, let agrees, let reason, let facts):
      return try decide(application, agrees: agrees, reason: reason, facts, by: caller, in: context)
    case .kick(let request): return try kick(request, by: caller, in: context)
    case .setRole(let request, let facts): return try setRole(request, facts, by: caller, in: context)
    case .setMemberInfo(let request, let facts): return try setMemberInfo(request, facts, by: caller, in: context)
    case .muteMember(let request): return try muteMember(request, by: caller, in: context)
    case .setReceiveOption(let option): return try setReceiveOption(option, by: caller, in: context)
    case .initAttributes(let entries): return try initAttributes(entries, by: caller, in: context)
    case .setAttributes(let entries): return try setAttributes(entries, by: caller, in: context)
    case .deleteAttributes(let keys): return try deleteAttributes(keys, by: caller, in: context)
    case .attributes(let keys): return try readAttributes(keys, by: caller, in: context)
    case .send(let content, let options): return try send(content, options, by: caller, in: context)
    case .history(let request): return try history(request, for: caller)
    case .sync(let epoch, let seq, let bytes): return try sync(epoch: epoch, seq: seq, bytes: bytes, for: caller)
    case .revoke(let seq): return try revoke(seq: seq, by: caller)
    case .revokeFound(let seq, let message): return try revoke(message, seq: seq, by: caller, in: context)
    case .markRead(let seq): return try markRead(seq: seq, by: caller, in: context)
    case .unreadCount: return try unreadCount(for: caller)
    case .customData(let request): return customData(request, by: caller, in: context)
    case .importMembers(let request, let firstSeqs, let facts):
      return try importMembers(request, firstSeqs: firstSeqs, facts, in: context)
    case .importMessages(let request): return try importMessages(request, in: context)
    case .setUnreadCount(let request): return try setUnreadCount(request, in: context)
    }
  }

  /// Performs what is due by itself: see `nextWake`.
  public mutating func wake(at now: Instant, usersSignedIn: Int = 0) -> Decision {
    let context = self.makeContext(at: now, usersSignedIn: usersSignedIn)
    var decision = Decision(.empty)
    publishAttributesIfDue(in: context, into: &decision)
    deliverWaiting(in: context, into: &decision)
    removeAbsentMembers(in: context, into: &decision)
    return decision
  }

  /// When `wake` is due next, by the clock; nil = nothing is due by itself.
  public var nextWake: Instant? {
    var wake = attributes.eventDue ?? .max
    if let instant = nextDelivery { wake = min(wake, instant) }
    if let instant = roster.firstGraceEnd(after: rules.limits.offlineGrace) { wake = min(wake, instant) }
    return wake == .max ? nil : steady.clock(at: wake)
  }

  /// Whether something is due by itself, or remembered that no store keeps.
  func isBusy(at now: Instant) -> Bool { nextWake != nil || messages.hasVolatileReceipt(at: steady.time(at: now)) }

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
  mutating func makeContext(at now: Instant, usersSignedIn: Int) -> DecisionContext {
    let time = steady.advance(to: now)
    if let shift = corrections.nextShift(forLead: steady.lead) { correctEnds(by: ClockCorrection(now: now, shift: shift)) }
    return DecisionContext(
      now: max(now, messages.lastMessage?.timestamp ?? 0), steady: time, wall: now, usersSignedIn: usersSignedIn)
  }

  /// Moves back the ends of mutes and bans that were decided at an instant still to come.
  private mutating func correctEnds(by correction: ClockCorrection) {
    let (members, former) = roster.correctEnds(by: correction)
    for member in members { corrections.append(.putMember(member, in: record.id)) }
    for former in former { corrections.append(.putFormer(former, in: record.id)) }
    let lead = correction.lead(of: record.mutedAt)
    guard lead > 0 else { return }
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
