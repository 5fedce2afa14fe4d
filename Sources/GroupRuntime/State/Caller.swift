import GroupModel
import GroupPermissions
import WireProtocol

/// The origin of a request. A class, because each step of a request passes it on.
public final class Caller: Sendable {
  /// A user, or the application itself.
  public enum Identity: Sendable, Equatable {
    case user(UserID)
    case administrator
  }

  public let identity: Identity
  public let platform: Platform
  /// The session of the request; nil on the application's own interface.
  public let session: SessionKey?
  /// Reports when the session has ended; nil on the application's own interface.
  public let requester: Requester?
  /// The user's profile, for messages; nil = empty.
  public let profile: UserProfile?
  /// What the user's requests may send to others; nil = no limit.
  public let fanOut: FanOutBudget?
  /// How many users the user may add without asking them; nil = no limit.
  public let strangers: StrangerQuota?
  /// The trace to which the request belongs; nil = to none.
  public let trace: TraceContext?
  /// Whether another node may have performed the request already, of which nothing is known.
  public let isRepeated: Bool

  private init(
    identity: Identity, platform: Platform, session: SessionKey?, requester: Requester?, profile: UserProfile?,
    fanOut: FanOutBudget?, strangers: StrangerQuota?, trace: TraceContext? = nil, isRepeated: Bool = false
  ) {
    self.identity = identity
    self.platform = platform
    self.session = session
    self.requester = requester
    self.profile = profile
    self.fanOut = fanOut
    self.strangers = strangers
    self.trace = trace
    self.isRepeated = isRepeated
  }

  /// An application administrator.
  public static let administrator = Caller(
    identity: .administrator, platform: .restAPI, session: nil, requester: nil, profile: nil, fanOut: nil,
    strangers: nil)

  /// A user on a session, or by `asUser`.
  public static func user(
    _ user: UserID, platform: Platform, session: SessionKey?, requester: Requester? = nil, profile: UserProfile? = nil,
    fanOut: FanOutBudget? = nil, strangers: StrangerQuota? = nil
  ) -> Caller {
    Caller(
      identity: .user(user), platform: platform, session: session, requester: requester, profile: profile, fanOut: fanOut,
      strangers: strangers)
  }

  /// The same caller with another profile.
  public func with(profile: UserProfile?) -> Caller {
    Caller(
      identity: identity, platform: platform, session: session, requester: requester, profile: profile, fanOut: fanOut,
      strangers: strangers, trace: trace, isRepeated: isRepeated)
  }

  /// The same caller in a trace.
  public func with(trace: TraceContext?) -> Caller {
    if trace == nil, self.trace == nil { return self }
    return Caller(
      identity: identity, platform: platform, session: session, requester: requester, profile: profile, fanOut: fanOut,
      strangers: strangers, trace: trace, isRepeated: isRepeated)
  }

  /// The same caller with other budgets.
  public func with(fanOut: FanOutBudget?, strangers: StrangerQuota? = nil) -> Caller {
    Caller(
      identity: identity, platform: platform, session: session, requester: requester, profile: profile, fanOut: fanOut,
      strangers: strangers, trace: trace, isRepeated: isRepeated)
  }

  /// The same caller, whose request another node may have performed already.
  public func repeating() -> Caller {
    Caller(
      identity: identity, platform: platform, session: session, requester: requester, profile: profile, fanOut: fanOut,
      strangers: strangers, trace: trace, isRepeated: true)
  }

  /// The user; nil for an application administrator.
  public var userID: UserID? {
    if case .user(let user) = identity { user } else { nil }
  }

  /// The name that messages of this caller carry.
  var senderID: UserID { userID ?? .administrator }
}
