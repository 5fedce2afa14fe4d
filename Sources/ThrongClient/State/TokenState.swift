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
  /// The question to the token function that is under way; nil = none.
  private(set) var reading: Reading?
  private var lastReading = 0
  /// The server takes the newest token no more.
  private var isRefused = false
  var renewal = Renewal.none
  /// When the last renewal began.
  var renewalBegan: Instant?
  /// The last token was refused as revoked: one more is asked for.
  var wasRevoked = false
  /// A timer will begin the next.
  var isRenewalPlanned = false

  /// A question to the token function.
  struct Reading {
    let number: Int
    /// It is given up then.
    let deadline: Instant
  }

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

  /// Whether the token function has to be asked before the next session: a token that is good begins it also while
  /// the function is asked for another.
  /// - Parameter endsSoon: the token of the last session does.
  func needsReading(endsSoon: Bool) -> Bool { mayRenew && (token == nil || isRefused || (isUsed && endsSoon)) }

  /// Answers the number of the question where the function is to be asked: a renewal and the next connection
  /// may want the same token.
  mutating func startReading(until deadline: Instant) -> Int? {
    guard reading == nil else { return nil }
    lastReading += 1
    reading = Reading(number: lastReading, deadline: deadline)
    return lastReading
  }

  /// The function's answer will come too late.
  mutating func abandonReading() { reading = nil }

  /// - Parameter token: nil = the function has failed.
  mutating func didRead(_ token: String?) {
    reading = nil
    guard let token else { return }
    self.token = token
    isRefused = false
  }

  mutating func use() -> String {
    usedToken = token
    return token ?? ""
  }

  /// The session's token has ended, unless a newer one has come.
  mutating func expire() { isRefused = isUsed }

  /// The newest token is of no use.
  mutating func refuse() { isRefused = true }
}
