import GroupModel
import GroupPermissions
import WireProtocol

/// The rules of one group as a pure value: a request goes in, a decision comes out, and nothing is awaited, read or sent here.
/// The extensions beside this file hold the rules by their subject.
public struct GroupState: Sendable {
  public internal(set) var record: GroupRecord
  public internal(set) var members: [UserID: Member]
  /// Those who have left and of whom something is remembered.
  var former: [UserID: FormerMember]
  public internal(set) var lastMessage: Message?
  /// The members with a session.
  var online: Set<UserID> = []
  var sent: RecentlySent
  var order = MemberOrder()
  let rules: GroupRules
  /// Numbers the messages that are not stored; with `volatileTag` they are unique beyond a restart.
  private var volatileCount: Int64 = 0
  private let volatileTag: String

  /// A group as the store keeps it.
  public init(_ stored: StoredGroup, rules: GroupRules) {
    record = stored.record
    members = Dictionary(uniqueKeysWithValues: stored.members.map { ($0.userID, $0) })
    former = Dictionary(uniqueKeysWithValues: stored.former.map { ($0.userID, $0) })
    lastMessage = stored.lastMessage
    sent = RecentlySent(stored.recentlySent)
    self.rules = rules
    volatileTag = String(UInt32.random(in: .min ... .max), radix: 36)
    record.nextOrdinal = max(record.nextOrdinal, (stored.members.map(\.ordinal).max() ?? 0) + 1)
  }

  /// What the group makes of a request. Refused requests leave the state as it was.
  /// - Parameters:
  ///   - now: the instant of the decision.
  ///   - usersSignedIn: how many users have a session, for a group that everyone is a member of.
  public mutating func decide(_ request: GroupRequest, by caller: Caller, at now: Instant, usersSignedIn: Int = 0) -> Decision {
    let moment = Moment(now: max(now, lastMessage?.timestamp ?? 0), usersSignedIn: usersSignedIn)
    do throws(WireError) {
      switch request {
      case .create(let request, _, _): throw taken(request, by: caller)
      case .join: return try join(by: caller, at: moment)
      case .quit: return try quit(by: caller, at: moment)
      case .dismiss: return try dismiss(by: caller, at: moment)
      case .info: return try info(for: caller, at: moment)
      case .joinedInfo(let since): return joinedInfo(for: caller, since: since, at: moment)
      case .setInfo(let request): return try setInfo(request, by: caller, at: moment)
      case .memberList(let request): return try memberList(request, for: caller)
      case .membersInfo(let users): return try membersInfo(users, for: caller)
      case .onlineMemberCount: return try onlineMemberCount(for: caller, at: moment)
      case .send(let content, let options): return try send(content, options, by: caller, at: moment)
      case .history(let request): return try history(request, for: caller)
      case .sync(let epoch, let seq, let bytes): return try sync(epoch: epoch, seq: seq, bytes: bytes, for: caller)
      }
    } catch {
      return .answer(.reply(.failure(error)))
    }
  }

  /// Notes whether a member has a session.
  public mutating func setOnline(_ user: UserID, _ isOnline: Bool) {
    if isOnline { online.insert(user) } else { online.remove(user) }
  }

  /// Whether the user gets the group's events.
  public func isMember(_ user: UserID) -> Bool { record.type.everyoneIsMember || members[user] != nil }

  /// The newest message's number; 0 where there is none.
  var lastSeq: Int64 { lastMessage?.seq ?? 0 }

  func memberCount(at moment: Moment) -> Int { record.type.everyoneIsMember ? moment.usersSignedIn : members.count }

  func onlineCount(at moment: Moment) -> Int { record.type.everyoneIsMember ? moment.usersSignedIn : online.count }

  /// A msgID for the next message: its place in the history, or a number that is used for nothing else.
  mutating func nextMessageID(seq: Int64?) -> String {
    if let seq { return "\(record.epoch)-\(seq)" }
    volatileCount += 1
    return "\(record.epoch)-\(volatileTag)-\(volatileCount)"
  }
}

/// What a decision may know besides the group and the request.
struct Moment: Sendable {
  let now: Instant
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
