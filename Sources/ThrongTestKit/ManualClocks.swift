import GroupModel
import Synchronization

/// Clocks that tests move.
public final class ManualClocks: Clocks, Sendable {
  private let wallMilliseconds: Atomic<Int64>
  private let nanoseconds = Atomic<Int64>(0)
  /// Runs the monotonic clock besides what tests move it by.
  private let running: SystemClocks?
  private let slowness: Int64

  /// - Parameters:
  ///   - wall: the instant that the wall clock shows.
  ///   - isMonotonicRunning: whether the monotonic clock advances by itself, for timers of a real
  ///     transport.
  ///   - slowness: how many times slower than the system's clock it runs, so that no deadline passes
  ///     because the machine is busy.
  public init(at wall: WallInstant = 1_700_000_000_000, isMonotonicRunning: Bool = false, slowness: Int64 = 1) {
    wallMilliseconds = Atomic(wall.milliseconds)
    running = isMonotonicRunning ? SystemClocks() : nil
    self.slowness = slowness
  }

  public var wall: WallInstant { WallInstant(milliseconds: wallMilliseconds.load(ordering: .acquiring)) }

  public var monotonic: MonotonicInstant {
    let moved = nanoseconds.load(ordering: .acquiring)
    return MonotonicInstant(nanoseconds: (running?.monotonic.nanoseconds ?? 0) / slowness + moved)
  }

  /// Lets milliseconds pass, on both clocks.
  public func advance(by milliseconds: Int64) {
    precondition(milliseconds >= 0, "time passes forward; the wall clock may be moved")
    nanoseconds.wrappingAdd(
      milliseconds.multipliedReportingOverflow(by: 1_000_000).partialValue, ordering: .acquiringAndReleasing)
    moveWall(by: milliseconds)
  }

  /// Lets a length of time pass, on both clocks.
  public func advance(for duration: Duration) { advance(by: duration.wholeMilliseconds) }

  /// Moves the wall clock alone by milliseconds; back where they are negative.
  public func moveWall(by milliseconds: Int64) {
    wallMilliseconds.wrappingAdd(milliseconds, ordering: .acquiringAndReleasing)
  }
}

/// Numbers in tests are milliseconds.
extension WallInstant: ExpressibleByIntegerLiteral {
  public init(integerLiteral milliseconds: Int64) { self.init(milliseconds: milliseconds) }

  /// The instant so many milliseconds after the start of 1970 (UTC).
  public init(_ milliseconds: some BinaryInteger) { self.init(milliseconds: Int64(milliseconds)) }

  /// The instant so many milliseconds later.
  public static func + (instant: WallInstant, milliseconds: Int64) -> WallInstant {
    instant.advanced(byMilliseconds: milliseconds)
  }

  /// The instant so many milliseconds earlier.
  public static func - (instant: WallInstant, milliseconds: Int64) -> WallInstant {
    instant.advanced(byMilliseconds: -milliseconds)
  }

  /// Moves the instant on by milliseconds.
  public static func += (instant: inout WallInstant, milliseconds: Int64) { instant = instant + milliseconds }

  /// Moves the instant back by milliseconds.
  public static func -= (instant: inout WallInstant, milliseconds: Int64) { instant = instant - milliseconds }
}

/// Numbers in tests are milliseconds.
extension MonotonicInstant: ExpressibleByIntegerLiteral {
  public init(integerLiteral milliseconds: Int64) { self.init(milliseconds: milliseconds) }

  /// The whole milliseconds since the start of the clock.
  public var milliseconds: Int64 { nanoseconds / 1_000_000 }

  /// The instant so many milliseconds after the start of the clock.
  public init(milliseconds: some BinaryInteger) { self.init(nanoseconds: Int64(milliseconds) * 1_000_000) }

  /// The instant so many milliseconds later.
  public static func + (instant: MonotonicInstant, milliseconds: Int64) -> MonotonicInstant {
    instant.advanced(byMilliseconds: milliseconds)
  }

  /// The instant so many milliseconds earlier.
  public static func - (instant: MonotonicInstant, milliseconds: Int64) -> MonotonicInstant {
    instant.advanced(byMilliseconds: -milliseconds)
  }

  /// Moves the instant on by milliseconds.
  public static func += (instant: inout MonotonicInstant, milliseconds: Int64) { instant = instant + milliseconds }
}

extension ClockReading: ExpressibleByIntegerLiteral {
  public init(integerLiteral milliseconds: Int64) { self.init(both: milliseconds) }

  /// Both clocks show so many milliseconds.
  public init(both milliseconds: Int64) {
    self.init(wall: WallInstant(milliseconds: milliseconds), monotonic: MonotonicInstant(milliseconds: milliseconds))
  }

  /// Both clocks so many milliseconds later.
  public static func + (reading: ClockReading, milliseconds: Int64) -> ClockReading {
    ClockReading(wall: reading.wall + milliseconds, monotonic: reading.monotonic + milliseconds)
  }
}
