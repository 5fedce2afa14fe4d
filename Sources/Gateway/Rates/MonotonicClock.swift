import Dispatch
import GroupModel

/// A clock that never goes back, for rates, deadlines and durations; its start has no meaning.
enum MonotonicClock {
  /// In milliseconds.
  static func now() -> Instant { Instant(nanoseconds() / 1_000_000) }

  /// An instant for several uses: reading the clock is costly compared with a request.
  struct Reading: Sendable {
    let nanoseconds = MonotonicClock.nanoseconds()
    var milliseconds: Instant { Instant(nanoseconds / 1_000_000) }
  }

  /// In nanoseconds.
  static func nanoseconds() -> UInt64 { DispatchTime.now().uptimeNanoseconds }
}
