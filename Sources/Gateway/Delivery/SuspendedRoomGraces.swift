import DequeModule
import GroupModel
import GroupRuntime
import Synchronization

/// Users who have gone and are members of live rooms that are not in memory. Such a room notices nothing: when the user's grace ends
/// (contract section 3, AVChatRoom) it is loaded, and finds that the user has left.
final class SuspendedRoomGraces: Sendable {
  private struct Absence {
    let user: UserID
    let since: Instant
    /// On the monotonic clock.
    let end: Instant
  }

  /// How many users' rooms are looked at in one tick.
  private static let usersPerTick = 20
  /// How long after a failure of the store it is tried again, in milliseconds.
  private static let retryTime: Instant = 10_000

  private let absences = Mutex<Deque<Absence>>([])
  private let groups: any GroupStore
  private let registry: GroupRegistry
  private let directory: SessionDirectory
  private let observer: StoreObserver
  private let grace: Instant

  /// - Parameter grace: `avChatRoom.offlineGrace` in milliseconds.
  init(
    groups: any GroupStore, registry: GroupRegistry, directory: SessionDirectory, observer: StoreObserver, grace: Instant
  ) {
    self.groups = groups
    self.registry = registry
    self.directory = directory
    self.observer = observer
    self.grace = grace
  }

  /// The user's last session has ended.
  /// - Parameters:
  ///   - since: by the clock.
  ///   - now: on the monotonic clock.
  func note(_ user: UserID, since: Instant, at now: Instant) {
    absences.withLock { $0.append(Absence(user: user, since: since, end: now + grace + 1)) }
  }

  /// Tells rooms of users whose grace has ended; called with each tick.
  func tellDue(at now: Instant) {
    for absence in takeDue(at: now) where directory.sessions(of: absence.user).isEmpty {
      Task { await tell(absence) }
    }
  }

  private func takeDue(at now: Instant) -> [Absence] {
    absences.withLock { absences in
      var due: [Absence] = []
      while due.count < SuspendedRoomGraces.usersPerTick, let first = absences.first, first.end <= now {
        due.append(absences.removeFirst())
      }
      return due
    }
  }

  private func tell(_ absence: Absence) async {
    do throws(StoreError) {
      let rooms = try await groups.memberships(of: absence.user).filter { $0.type == .avChatRoom }
      await registry.presenceChanged(Group.Presence(of: absence.user, awaySince: absence.since), in: rooms)
    } catch {
      observer.storeFailed(error)
      absences.withLock { absences in
        // Graces end in the order in which they began; the retry is for now and stands first.
        absences.prepend(Absence(user: absence.user, since: absence.since, end: absence.end + SuspendedRoomGraces.retryTime))
      }
    }
  }
}
