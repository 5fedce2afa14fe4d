import DequeModule
import GroupModel
import GroupRuntime
import Synchronization

/// Timers for offline users who are members of live rooms that are not in memory. Such a room
/// notices nothing: it is loaded when the user's grace ends, and then removes the user
/// (Protocol.md, "AVChatRoom").
final class AbsenceTimers: Sendable {
  private struct Absence: Equatable {
    let user: UserID
    let since: WallInstant
    let end: MonotonicInstant
  }

  private struct State {
    /// The newest absence of each user.
    var absences: [UserID: Absence] = [:]
    /// Ordered by `end`. An absence that is not its user's newest is void.
    var ends: Deque<Absence> = []
    /// A queue of its own, ordered by `end`: a retry comes sooner than the end of a grace.
    var retries: Deque<Absence> = []

    mutating func add(_ absence: Absence, to queue: WritableKeyPath<State, Deque<Absence>>) {
      absences[absence.user] = absence
      self[keyPath: queue].append(absence)
      guard self[keyPath: queue].count > 2 * absences.count + 64 else { return }
      let absences = absences
      self[keyPath: queue].removeAll { absences[$0.user] != $0 }
    }

    /// Removes and returns the absences that are due, at most `limit`.
    mutating func popDue(_ limit: Int, from queue: WritableKeyPath<State, Deque<Absence>>, at now: MonotonicInstant) -> [Absence]
    {
      var due: [Absence] = []
      while due.count < limit, let first = self[keyPath: queue].first, first.end <= now {
        self[keyPath: queue].removeFirst()
        guard absences[first.user] == first else { continue }
        absences[first.user] = nil
        due.append(first)
      }
      return due
    }
  }

  /// How many users' rooms are loaded in one tick.
  private static let usersPerTick = 20
  /// The wait before a retry after a failure of the store.
  private static let retryTime = Duration.seconds(10)

  private let state = Mutex(State())
  private let groups: any GroupStore
  private let registry: GroupRegistry
  private let directory: SessionDirectory
  private let observer: StoreObserver
  private let grace: Duration

  /// - Parameter grace: `avChatRoom.offlineGrace`.
  init(
    groups: any GroupStore, registry: GroupRegistry, directory: SessionDirectory, observer: StoreObserver, grace: Duration
  ) {
    self.groups = groups
    self.registry = registry
    self.directory = directory
    self.observer = observer
    self.grace = grace
  }

  /// Starts the grace of a user whose last session has ended.
  func start(for user: UserID, since: WallInstant, at now: MonotonicInstant) {
    state.withLock { $0.add(Absence(user: user, since: since, end: now + grace + .milliseconds(1)), to: \.ends) }
  }

  /// The user is online again.
  func cancel(for user: UserID) { state.withLock { $0.absences[user] = nil } }

  /// How many users have a timer.
  var count: Int { state.withLock { $0.absences.count } }

  /// Notifies the rooms of users whose grace has ended; called with each tick.
  func fireDue(at now: MonotonicInstant) {
    for absence in popDue(at: now) where directory.sessions(of: absence.user).isEmpty {
      Task { await notifyRooms(of: absence, at: now) }
    }
  }

  private func popDue(at now: MonotonicInstant) -> [Absence] {
    state.withLock { state in
      let retries = state.popDue(AbsenceTimers.usersPerTick, from: \.retries, at: now)
      return retries + state.popDue(AbsenceTimers.usersPerTick - retries.count, from: \.ends, at: now)
    }
  }

  private func notifyRooms(of absence: Absence, at now: MonotonicInstant) async {
    do throws(StoreError) {
      let rooms = try await groups.memberships(of: absence.user).filter { $0.type == .avChatRoom }
      await registry.presenceChanged(Group.Presence(of: absence.user, awaySince: absence.since), in: rooms)
    } catch {
      state.withLock { state in
        if state.absences[absence.user] != nil { return }
        state.add(Absence(user: absence.user, since: absence.since, end: now + AbsenceTimers.retryTime), to: \.retries)
      }
      observer.storeFailed(error)
    }
  }
}
