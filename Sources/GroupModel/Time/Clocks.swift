import Foundation

/// The two clocks of a process. Tests bring ones that they move.
public protocol Clocks: Sendable {
  /// The time of day, which operators and the network may set back and ahead: for everything that
  /// clients see or the store keeps.
  var wall: WallInstant { get }
  /// The time that passes, however the wall clock is set: for rates, deadlines and durations.
  var monotonic: MonotonicInstant { get }
}

extension Clocks {
  /// Both clocks, one after the other.
  @inlinable public var now: ClockReading { ClockReading(wall: wall, monotonic: monotonic) }
}

/// A point in time by both clocks.
public struct ClockReading: Sendable {
  public let wall: WallInstant
  public let monotonic: MonotonicInstant

  /// A reading with both given.
  @inlinable public init(wall: WallInstant, monotonic: MonotonicInstant) {
    self.wall = wall
    self.monotonic = monotonic
  }

  /// The monotonic instant of something that happened at an instant of the wall clock, as far as
  /// this clock was not set since; this reading where it lies ahead.
  public func monotonic(of past: WallInstant) -> MonotonicInstant {
    monotonic.advanced(byMilliseconds: -max(0, wall.milliseconds(since: past)))
  }
}

/// The system's clocks. The monotonic one includes the time that the machine sleeps.
public struct SystemClocks: Clocks {
  /// The clocks of this machine.
  public init() {}

  public var wall: WallInstant {
    let time = SystemClocks.read(CLOCK_REALTIME)
    return WallInstant(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }

  public var monotonic: MonotonicInstant {
    #if os(Linux)
      let time = SystemClocks.read(CLOCK_BOOTTIME)
    #else
      let time = SystemClocks.read(CLOCK_MONOTONIC)
    #endif
    return MonotonicInstant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  /// It fails for unknown clocks only.
  private static func read(_ clock: clockid_t) -> timespec {
    var time = timespec()
    clock_gettime(clock, &time)
    return time
  }
}
