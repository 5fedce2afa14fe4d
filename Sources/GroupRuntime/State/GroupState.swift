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

  /// Decides an operation. A refused one leaves the state as it was.
  /// - Parameters:
  ///   - now: the instant of the decision.
  ///   - usersSignedIn: the number of users with a session, for a group of everybody.
  public mutating func decide(
    _ operation: GroupOperation, by caller: Caller, at now: Instant, usersSignedIn: Int = 0
  ) -> Decision {
    let context = self.makeContext(at: now, usersSignedIn: usersSignedIn)
    do throws(WireError) {
      switch operation {
      case .request(let request, let facts): return try answer(request, facts, by: caller, in: context)
      case .create(_, let owner, _), .importGroup(_, let owner, _): throw taken(byOwner: owner)
      case .decide(let application, let agrees, let reason, let facts):
        return try decide(application, agrees: agrees, reason: reason, facts, by: caller, in: context)
      case .revokeFound(let seq, let message): return try revoke(message, seq: seq, by: caller, in: context)
      case .info: return try info(for: caller, in: context)
      case .foundInfo: return foundInfo(for: caller, in: context)
      case .joinedInfo(let since): return joinedInfo(for: caller, since: since, in: context)
      case .unreadCount: return try unreadCount(for: caller)
      case .sync(let epoch, let seq, let bytes): return try sync(epoch: epoch, seq: seq, bytes: bytes, for: caller)
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
    case .getGroupMemberList(let request): return try memberList(request, for: caller, in: context)
    case .getGroupMembersInfo(let request): return try membersInfo(request.userIDList, for: caller, in: context)
    case .getGroupOnlineMemberCount: return try onlineMemberCount(for: caller, in: context)
    case .setGroupMemberInfo(let request): return try setMemberInfo(request, facts, by: caller, in: context)
    case .muteGroupMember(let request): return try muteMember(request, by: caller, in: context)
    case .getGroupMutedMembers(let request): return try mutedMembers(request, for: caller, in: context)
    case .inviteUserToGroup(let request): return try invite(request, facts, by: caller, in: context)
    case .kickGroupMember(let request): return try kick(request, by: caller, in: context)
    case .setGroupMemberRole(let request): return try setRole(request, facts, by: caller, in: context)
    case .getGroupMemberInviters(let request): return try inviters(of: request.userIDList, for: caller)
    case .getGroupMemberRoles(let request): return try roles(of: request.userIDList, for: caller)
    case .sendGroupTextMessage(let request): return try send(.text(request.text), request.options, by: caller, in: context)
    case .sendGroupCustomMessage(let request): return try send(.custom(request.data), request.options, by: caller, in: context)
    case .getGroupHistoryMessageList(let request): return try history(request, for: caller)
    case .revokeGroupMessage(let request): return try revoke(seq: request.seq, by: caller)
    case .markGroupMessageAsRead(let request): return try markRead(seq: request.seq, by: caller, in: context)
    case .sendGroupSystemNotification(let request): return customData(request, by: caller, in: context)
    case .recycleGroup: return disband(.recycled, by: caller, in: context)
    case .importGroupMembers(let request): return try importMembers(request, firstSeqs: facts.firstSeqs, facts, in: context)
    case .importGroupMessages(let request): return try importMessages(request, in: context)
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
