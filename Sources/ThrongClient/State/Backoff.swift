/// Random delays between tries, up to a bound that doubles: "full jitter" above a least delay, so
/// that no server makes a client try without a pause.
struct Backoff {
  static let leastDelay = Duration.milliseconds(100)
  static let firstBound = Duration.milliseconds(500)
  static let longestBound = Duration.seconds(20)

  private(set) var tries = 0

  /// The delay before the next try.
  /// - Parameters:
  ///   - random: 0 to 1.
  ///   - least: what the server asked for.
  mutating func next(random: Double, least: Duration = .zero) -> Duration {
    // 0.5 s · 2⁶ is beyond the longest.
    let bound = min(Backoff.longestBound, Backoff.firstBound * (1 << min(tries, 6)))
    tries += 1
    return max(bound * random, least, Backoff.leastDelay)
  }

  mutating func reset() { tries = 0 }
}
