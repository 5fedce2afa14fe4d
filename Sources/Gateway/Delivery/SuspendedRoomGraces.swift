import DequeModule
import GroupModel
import GroupRuntime
import Synchronization

/// Users who have gone and are members of live rooms that are not in memory. Such a room notices nothing: when the user's grace ends
/// (contract section 3, AVChatRoom) it is loaded, and finds that the user has left.
final class SuspendedRoomGraces: Sendable {
  private struct Absence: Equatable {
    let user: UserID
    let since: Instant
    /// On the monotonic clock.
    let end: Instant
  }

  private struct State {
    /// The newest of each user.
    var absences: [UserID: Absence] = [:]
    /// By their ends. One that is no user's newest any more does not count.
    var ends: Deque<Absence> = []
    /// The same for those that are tried again, which is sooner than a grace that began meanwhile ends.
    var retries: Deque<Absence> = []

    mutating func note(_ absence: Absence, in queue: WritableKeyPath<State, Deque<Absence>>) {
      absences[absence.user] = absence
      self[keyPath: queue].append(absence)
      guard self[keyPath: queue].count > 2 * absences.count + 64 else { return }
      let absences = absences
      self[keyPath: queue].removeAll { absences[$0.user] != $0 }
    }

    /// Takes out those that are due, at most so many.
    mutating func take(_ most: Int, from queue: WritableKeyPath<State, Deque<Absence>>, at now: Instant) -> [Absence] {
      var due: [Absence] = []
      while due.count < most, let first = self[keyPath: queue].first, first.end <= now {
        self[keyPath: queue].removeFirst()
        guard absences[first.user] == first else { continue }
        absences[first.user] = nil
        due.append(first)
      }
      return due
    }
  }

  /// How many users' rooms are looked at in one tick.
  private static let usersPerTick = 20
  /// How long after a failure of the store it is tried again, in milliseconds.
  private static let retryTime: Instant = 10_000

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
    state.withLock { $0.note(Absence(user: user, since: since, end: now + grace + 1), in: \.ends) }
  }

  /// The user is back.
  func forget(_ user: UserID) { state.withLock { $0.absences[user] = nil } }

  /// How many users are waited for.
  var count: Int { state.withLock { $0.absences.count } }

  /// Tells rooms of users whose grace has ended; called with each tick.
  func tellDue(at now: Instant) {
    for absence in takeDue(at: now) where directory.sessions(of: absence.user).isEmpty {
      Task { await tell(absence, at: now) }
    }
  }

  private func takeDue(at now: Instant) -> [Absence] {
    state.withLock { state in
      let retries = state.take(SuspendedRoomGraces.usersPerTick, from: \.retries, at: now)
      return retries + state.take(SuspendedRoomGraces.usersPerTick - retries.count, from: \.ends, at: now)
    }
  }

  private func tell(_ absence: Absence, at now: Instant) async {
    do throws(StoreError) {
      let rooms = try await groups.memberships(of: absence.user).filter { $0.type == .avChatRoom }
      await registry.presenceChanged(Group.Presence(of: absence.user, awaySince: absence.since), in: rooms)
    } catch {
      state.withLock { state in
        if state.absences[absence.user] != nil { return }
        state.note(Absence(user: absence.user, since: absence.since, end: now + SuspendedRoomGraces.retryTime), in: \.retries)
      }
      observer.storeFailed(error)
    }
  }
}
