import Dispatch
import GroupModel

/// A clock that never goes back, for rates, deadlines and durations; its start means nothing.
enum MonotonicClock {
  /// In milliseconds.
  static func now() -> Instant { Instant(nanoseconds() / 1_000_000) }

  /// An instant for two uses: reading the clock is dear beside a request.
  struct Reading: Sendable {
    let nanoseconds = MonotonicClock.nanoseconds()
    var milliseconds: Instant { Instant(nanoseconds / 1_000_000) }
  }

  /// In nanoseconds.
  static func nanoseconds() -> UInt64 { DispatchTime.now().uptimeNanoseconds }
}
