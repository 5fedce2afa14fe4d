import GroupModel
import GroupRuntime
import Synchronization

/// Clocks that tests move.
public final class ManualClocks: Clocks, Sendable {
  private let wallTime: Atomic<Instant>
  private let nanoseconds = Atomic<Int64>(0)
  /// Runs the monotonic clock besides what tests move it by.
  private let running: SystemClocks?

  /// - Parameters:
  ///   - wall: the instant that the wall clock shows, in Unix milliseconds.
  ///   - isMonotonicRunning: whether the monotonic clock advances by itself, for timers of a real
  ///     transport.
  public init(at wall: Instant = 1_700_000_000_000, isMonotonicRunning: Bool = false) {
    wallTime = Atomic(wall)
    running = isMonotonicRunning ? SystemClocks() : nil
  }

  public var wall: Instant { wallTime.load(ordering: .acquiring) }

  public var monotonic: MonotonicInstant {
    let moved = nanoseconds.load(ordering: .acquiring)
    return MonotonicInstant(nanoseconds: (running?.monotonic.nanoseconds ?? 0) + moved)
  }

  /// Lets milliseconds pass, on both clocks.
  public func advance(by milliseconds: Int64) {
    precondition(milliseconds >= 0, "time passes forward; the wall clock may be moved")
    nanoseconds.wrappingAdd(
      milliseconds.multipliedReportingOverflow(by: 1_000_000).partialValue, ordering: .acquiringAndReleasing)
    moveWall(by: milliseconds)
  }

  /// Lets a length of time pass, on both clocks.
  public func advance(for duration: Duration) {
    let (seconds, attoseconds) = duration.components
    advance(by: seconds * 1000 + attoseconds / 1_000_000_000_000_000)
  }

  /// Moves the wall clock alone by milliseconds; back where they are negative.
  public func moveWall(by milliseconds: Int64) { wallTime.wrappingAdd(milliseconds, ordering: .acquiringAndReleasing) }
}

/// Numbers in tests are milliseconds.
extension MonotonicInstant: ExpressibleByIntegerLiteral {
  public init(integerLiteral milliseconds: Int64) { self.init(milliseconds: milliseconds) }

  /// The instant so many milliseconds after the start of the clock.
  public init(milliseconds: some BinaryInteger) { self.init(nanoseconds: Int64(milliseconds) * 1_000_000) }

  /// The instant so many milliseconds later.
  public static func + (instant: MonotonicInstant, milliseconds: Int64) -> MonotonicInstant {
    instant.advanced(byMilliseconds: milliseconds)
  }
}
