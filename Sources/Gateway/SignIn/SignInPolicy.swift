import GroupModel
import WireProtocol

/// Decides who may sign in: by the token, by what this node hears of others, by the platform, and
/// by the rates (Protocol.md, "Sign-in").
package final class SignInPolicy: Sendable {
  /// The answer to a valid token.
  enum Verdict {
    /// - Parameter budget: the user's.
    case admitted(_ budget: UserBudget)
    /// The user's rate is reached, or the server's.
    case tooOften(retryAfterMs: Int64)
    case platformRefused
    /// This node has no lease, or misses links to others: their groups would not find the session.
    case unready
  }

  /// How long a connection may stay anonymous.
  let signInTime: Duration
  /// The ping interval that a sign-in answers.
  let heartbeat: Seconds
  private let tokens: any TokenChecking
  private let sessions: any UserDirectory
  private let budgets: UserBudgets
  private let limiter: SignInLimiter
  private let connectionLimiter: ConnectionLimiter
  /// Nil = this node is alone.
  private let links: ClusterLinks?
  private let sessionsPerPlatform: [Platform: Int]
  private let failureDelay: Duration

  /// - Parameter links: tell the other nodes of bad tokens; nil = this node is alone.
  package init(
    _ configuration: GatewayConfiguration, tokens: any TokenChecking, sessions: any UserDirectory, budgets: UserBudgets,
    limiter: SignInLimiter, connectionLimiter: ConnectionLimiter, links: ClusterLinks?
  ) {
    signInTime = configuration.signInTime
    heartbeat = configuration.heartbeat
    sessionsPerPlatform = configuration.sessionsPerPlatform
    failureDelay = configuration.failureDelay
    self.tokens = tokens
    self.sessions = sessions
    self.budgets = budgets
    self.limiter = limiter
    self.connectionLimiter = connectionLimiter
    self.links = links
  }

  /// Checks a token of the public listener, where administrators' tokens are refused (70003).
  func check(_ token: String, at now: WallInstant) -> Result<AcceptedToken, TokenRefusal> {
    tokens.check(token, at: now).flatMap { accepted in
      guard accepted.isAdministrator else { return .success(accepted) }
      let error = WireError(.tokenMalformed, "An administrator's token is for the internal listener")
      return .failure(TokenRefusal(error, userID: accepted.userID))
    }
  }

  /// Checks a token once more that awaits keys, where they are read for it.
  func checkWithNewKeys(_ token: String, _ clocks: any Clocks) async -> Result<AcceptedToken, TokenRefusal> {
    var result = check(token, at: clocks.wall)
    // A reading that was under way may have begun before the key was there; then one of its own follows.
    for _ in 0..<2 {
      guard case .failure(let refusal) = result, refusal.awaitsKeys, await tokens.readKeys() else { break }
      result = check(token, at: clocks.wall)
    }
    return result
  }

  /// Counts a sign-in of a user whose token has been verified.
  func verdict(on user: UserID, _ platform: Platform, at now: MonotonicInstant) -> Verdict {
    guard sessions.acceptsSignIns else { return .unready }
    let budget = budgets.budget(of: user, at: now)
    guard maxSessions(on: platform) > 0 else {
      return budget.acquireRequest(at: now).map { .tooOften(retryAfterMs: $0) } ?? .platformRefused
    }
    return limiter.acquire(budget, at: now).map { .tooOften(retryAfterMs: $0) } ?? .admitted(budget)
  }

  /// How many sessions a user may have on a platform; 0 = none.
  func maxSessions(on platform: Platform) -> Int { sessionsPerPlatform[platform, default: 0] }

  /// Notes a bad token, on all nodes.
  /// - Returns: how long the answer has to wait; nil = not at all.
  func noteBadToken(from address: String, at now: MonotonicInstant) -> Duration? {
    let mustWait = connectionLimiter.noteBadToken(from: address, at: now)
    guard failureDelay > .zero else { return nil }
    links?.sendToAll(.badToken(address: address))
    return mustWait ? failureDelay : nil
  }
}
