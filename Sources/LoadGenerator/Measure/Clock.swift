import Glibc

/// The instants of the generator: nanoseconds of the monotonic clock.
enum Clock {
  static let second: UInt64 = 1_000_000_000
  static let millisecond: UInt64 = 1_000_000

  @inline(__always)
  static func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) &* second &+ UInt64(time.tv_nsec)
  }

  /// An instant to begin at, which a stamp of flow 0 holds exactly.
  static func start() -> UInt64 { Stamp.value(at: now(), flow: 0) }

  /// A length of time in nanoseconds.
  static func nanoseconds(_ seconds: Double) -> UInt64 { UInt64(max(0, seconds) * 1e9) }

  /// Seconds between two instants.
  static func seconds(from start: UInt64, to end: UInt64) -> Double { Double(end) / 1e9 - Double(start) / 1e9 }
}
