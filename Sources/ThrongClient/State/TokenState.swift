/// The tokens of a client: the newest, and that of the session.
struct TokenState {
  /// A renewal of the session.
  enum Renewal: Equatable {
    case none
    /// Waits for the token function.
    case reading(attempt: Int)
    /// Waits for the server.
    case requested
  }

  private let isFixed: Bool
  private(set) var token: String?
  /// A newer token may have come that is not used yet.
  private(set) var usedToken: String?
  private(set) var isReading = false
  private var isStale = false
  var renewal = Renewal.none
  /// When the last renewal began.
  var renewalBegan: Instant?
  /// The last token was refused as revoked: one more is asked for.
  var wasRevoked = false
  /// A timer will begin the next.
  var isRenewalPlanned = false

  init(_ source: TokenSource) {
    switch source {
    case .fixed(let text):
      isFixed = true
      token = text
    case .renewable:
      isFixed = false
    }
  }

  var mayRenew: Bool { !isFixed }
  var isUsed: Bool { token == usedToken }

  /// Whether the token function has to be asked before the next session.
  func needsReading(endsSoon: Bool) -> Bool { mayRenew && (token == nil || isStale || (isUsed && endsSoon)) }

  /// Answers whether the function is to be asked: a renewal and the next connection may want the
  /// same token.
  mutating func startReading() -> Bool {
    defer { isReading = true }
    return !isReading
  }

  mutating func didRead(_ token: String?) {
    isReading = false
    guard let token else { return }
    self.token = token
    isStale = false
  }

  mutating func use() -> String {
    usedToken = token
    return token ?? ""
  }

  /// The session's token has ended, unless a newer one has come.
  mutating func expire() { isStale = isUsed }

  /// - Parameter stale: the newest token is of no use.
  mutating func mark(stale: Bool) { isStale = stale }
}
