import GroupModel
import GroupRuntime
import Synchronization

/// A clock that tests move.
public final class ManualClock: WallClock, Sendable {
  private let instant: Atomic<Instant>

  /// A clock that shows an instant in Unix milliseconds.
  public init(at instant: Instant = 1_700_000_000_000) { self.instant = Atomic(instant) }

  /// The instant it shows.
  public func now() -> Instant { instant.load(ordering: .acquiring) }

  /// Moves on by milliseconds; back where they are negative, like a corrected clock.
  public func advance(by milliseconds: Int64) { instant.wrappingAdd(milliseconds, ordering: .acquiringAndReleasing) }
}
