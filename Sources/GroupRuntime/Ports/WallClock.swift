import GroupModel

/// Tells the time. Tests bring a clock of their own.
public protocol WallClock: Sendable {
  /// The instant it is now.
  func now() -> Instant
}
