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

  private struct State {
    var absences: Deque<Absence> = []
    /// When the absence of each user began that goes on: who has been here since and gone again has another one.
    var current: [UserID: Instant] = [:]
  }

  private let state = Mutex(State())
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
    state.withLock { state in
      state.current[user] = since
      state.absences.append(Absence(user: user, since: since, end: now + grace + 1))
    }
  }

  /// The user has been here, so earlier absences have ended.
  func forget(_ user: UserID) {
    state.withLock { $0.current[user] = nil }
  }

  /// Tells rooms of users whose grace has ended; called with each tick.
  func tellDue(at now: Instant) {
    for absence in takeDue(at: now) where directory.sessions(of: absence.user).isEmpty {
      Task { await tell(absence) }
    }
  }

  private func takeDue(at now: Instant) -> [Absence] {
    state.withLock { state in
      var due: [Absence] = []
      while due.count < SuspendedRoomGraces.usersPerTick, let first = state.absences.first, first.end <= now {
        state.absences.removeFirst()
        guard state.current[first.user] == first.since else { continue }
        due.append(first)
      }
      return due
    }
  }

  private func tell(_ absence: Absence) async {
    do throws(StoreError) {
      let rooms = try await groups.memberships(of: absence.user).filter { $0.type == .avChatRoom }
      guard takeCurrent(absence) else { return }
      await registry.presenceChanged(Group.Presence(of: absence.user, awaySince: absence.since), in: rooms)
    } catch {
      observer.storeFailed(error)
      state.withLock { state in
        guard state.current[absence.user] == absence.since else { return }
        // Graces end in the order in which they began; the retry is for now and stands first.
        let end = absence.end + SuspendedRoomGraces.retryTime
        state.absences.prepend(Absence(user: absence.user, since: absence.since, end: end))
      }
    }
  }

  private func takeCurrent(_ absence: Absence) -> Bool {
    state.withLock { state in
      guard state.current[absence.user] == absence.since else { return false }
      state.current[absence.user] = nil
      return true
    }
  }
}
