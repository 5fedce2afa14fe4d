import GroupModel
import GroupPermissions
import WireProtocol

/// The rules of one group as a pure value: a request goes in, a decision comes out, and nothing is awaited, read or sent here.
/// The extensions beside this file hold the rules by their subject.
public struct GroupState: Sendable {
  public internal(set) var record: GroupRecord
  public internal(set) var members: [UserID: Member]
  /// Those who have left and of whom something is remembered.
  var former: FormerMembers
  public internal(set) var lastMessage: Message?
  /// The members with a session.
  var online: Set<UserID> = []
  /// The members without one who leave when their grace ends.
  var absent: AbsentMembers
  /// Applications that nobody has decided yet.
  var applications: OpenApplications
  var attributes: AttributeState
  var sent: RecentlySent
  var unreadCounts = UnreadCounts()
  /// The messages of the last second; nil where any number is taken.
  var messageRate: SlidingWindowLimiter?
  /// What a group without history hands over in a second; nil = no limit, or a group that keeps history.
  var rateLimiter: PriorityRateLimiter<WaitingMessage>?
  var joins = CoalescedNotice()
  var leaves = CoalescedNotice()
  /// Messages recalled while stored messages are being read, whose recall the reading may not show.
  var recentlyRevoked: Set<Int64> = []
  var order: MemberOrder
  var steady: AdvancingTime
  /// By how much of what the clock was set back the ends of mutes and bans have been brought back.
  private var correctedLead: Instant = 0
  /// The corrected records that no commit holds yet. The next changes of the group take them along.
  var corrections: [StoreChange] = []
  let rules: GroupRules
  /// Numbers the messages that are not stored.
  private var volatileCount: Int64 = 0
  /// What their msgIDs begin with; the random part makes them unique beyond a restart.
  private let volatilePrefix: String

  /// A group as the store keeps it, coming into memory now. What is stored of a time to come is of now: the clock was set back since.
  public init(_ stored: StoredGroup, at now: Instant, rules: GroupRules) {
    record = stored.record
    members = Dictionary(uniqueKeysWithValues: stored.members.map { ($0.userID, $0) })
    order = MemberOrder(stored.members)
    former = FormerMembers(stored.former, at: now)
    lastMessage = stored.lastMessage
    // Who was brought in while away has been absent since then.
    let joinTimes = members.mapValues(\.joinTime)
    absent = AbsentMembers(
      since: Dictionary(uniqueKeysWithValues: stored.offlineSince.map { ($0, min(max($1, joinTimes[$0] ?? $1), now)) }))
    applications = OpenApplications(stored.openApplications)
    attributes = AttributeState(stored.attributes)
    sent = RecentlySent(stored.recentlySent, at: now)
    steady = AdvancingTime(at: now)
    let limit = rules.limits.messagesPerSecond[stored.record.type, default: 0]
    if limit > 0, stored.record.type.storesMessages { messageRate = SlidingWindowLimiter(limit: limit, length: 1000) }
    if limit > 0, !stored.record.type.storesMessages { rateLimiter = PriorityRateLimiter(limit: limit) }
    self.rules = rules
    volatilePrefix = "\(stored.record.epoch)-\(String(UInt32.random(in: .min ... .max), radix: 36))-"
    record.nextOrdinal = max(record.nextOrdinal, (stored.members.map(\.ordinal).max() ?? 0) + 1)
    correctEnds(setBackBy: nil, at: now)
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

  private mutating func answer(_ request: GroupRequest, by caller: Caller, in context: DecisionContext) throws(WireError) -> Decision {
    switch request {
    case .create(_, let owner, _), .importGroup(_, let owner, _): throw taken(byOwner: owner)
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

  /// What is due by itself: see `nextWake`.
  public mutating func wake(at now: Instant, usersSignedIn: Int = 0) -> Decision {
    let context = self.makeContext(at: now, usersSignedIn: usersSignedIn)
    var decision = Decision(.empty)
    publishAttributesIfDue(in: context, into: &decision)
    deliverWaiting(in: context, into: &decision)
    endGraces(in: context, into: &decision)
    return decision
  }

  /// When the group wants to be woken, by the clock; nil = nothing is to come by itself.
  public var nextWake: Instant? {
    var wake = attributes.eventDue ?? .max
    if let instant = nextDelivery { wake = min(wake, instant) }
    if let instant = absent.firstEnd(after: rules.limits.offlineGrace) { wake = min(wake, instant) }
    return wake == .max ? nil : steady.clock(at: wake)
  }

  /// Time does not run backwards in a group's history.
  mutating func makeContext(at now: Instant, usersSignedIn: Int) -> DecisionContext {
    let time = steady.advance(to: now)
    // Less is what a clock is put right by every day.
    if steady.lead - correctedLead >= 1000 {
      correctEnds(setBackBy: steady.lead - correctedLead, at: now)
      correctedLead = steady.lead
    }
    return DecisionContext(now: max(now, lastMessage?.timestamp ?? 0), steady: time, wall: now, usersSignedIn: usersSignedIn)
  }

  /// Whether the user gets the group's events.
  public func isMember(_ user: UserID) -> Bool { record.type.everyoneIsMember || members[user] != nil }

  /// Which chat the member wants.
  public func receiveOption(of user: UserID) -> ReceiveOption { members[user]?.receiveOption ?? record.type.defaultReceiveOption }

  /// The newest message's number; 0 where there is none.
  var lastSeq: Int64 { lastMessage?.seq ?? 0 }

  func memberCount(in context: DecisionContext) -> Int { record.type.everyoneIsMember ? context.usersSignedIn : members.count }

  func onlineCount(in context: DecisionContext) -> Int { record.type.everyoneIsMember ? context.usersSignedIn : online.count }

  /// A msgID for the next message: its place in the history, or a number that is used for nothing else.
  mutating func nextMessageID(seq: Int64?) -> String {
    if let seq { return messageID(seq: seq) }
    volatileCount += 1
    return volatilePrefix + String(volatileCount)
  }

  /// The msgID of a stored message: its place in the history.
  func messageID(seq: Int64) -> String { record.epoch + "-" + String(seq) }
}

/// What a decision may know besides the group and the request.
struct DecisionContext: Sendable {
  /// The instant in the history of the group: what is stored and shown. It stands still while a clock that was set back catches up.
  let now: Instant
  /// The instant for rates, waits and memories.
  let steady: Instant
  /// What the clock shows: for the ends of mutes and bans, which must not lie further ahead than asked for.
  let wall: Instant
  let usersSignedIn: Int
}

/// The rules that all groups share: the table of rights, and the limits.
public struct GroupRules: Sendable {
  public let permissions: GroupPermissions
  public let limits: GroupLimits

  /// Rules with everything given.
  public init(permissions: GroupPermissions = GroupPermissions(), limits: GroupLimits = .standard) {
    self.permissions = permissions
    self.limits = limits
  }
}
