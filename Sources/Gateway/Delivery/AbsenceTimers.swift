import DequeModule
import GroupModel
import GroupRuntime
import Synchronization

/// Timers for offline users who are members of live rooms that are not in memory. Such a room
/// notices nothing: it is loaded when the user's grace ends, and then removes the user
/// (Protocol.md, "AVChatRoom").
package final class AbsenceTimers: Sendable {
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
  private let observer: StoreObserver
  private let grace: Duration
  private let directory: SessionDirectory
  private let registry: GroupRegistry
  /// Nil = this node is alone.
  private let clusterUsers: ClusterUserDirectory?

  /// - Parameters:
  ///   - grace: `avChatRoom.offlineGrace`.
  ///   - clusterUsers: the sessions and rooms of all nodes; nil = this one is alone.
  package init(
    groups: any GroupStore, observer: StoreObserver, grace: Duration, directory: SessionDirectory, registry: GroupRegistry,
    clusterUsers: ClusterUserDirectory?
  ) {
    self.groups = groups
    self.observer = observer
    self.grace = grace
    self.directory = directory
    self.registry = registry
    self.clusterUsers = clusterUsers
  }

  /// Starts the grace of a user whose last session has ended.
  func start(for user: UserID, since: WallInstant, at now: MonotonicInstant) {
    state.withLock { $0.add(Absence(user: user, since: since, end: now + grace + .milliseconds(1)), to: \.ends) }
  }

  /// The user is online again.
  func cancel(for user: UserID) {
    state.withLock { state in if !state.absences.isEmpty { state.absences[user] = nil } }
  }

  /// How many users have a timer.
  var count: Int { state.withLock { $0.absences.count } }

  /// Notifies the rooms of users whose grace has ended; called with each tick.
  func fireDue(at now: MonotonicInstant) {
    for absence in popDue(at: now) where !isPresent(absence.user) {
      Task { await notifyRooms(of: absence, at: now) }
    }
  }

  private func popDue(at now: MonotonicInstant) -> [Absence] {
    state.withLock { state in
      let retries = state.popDue(AbsenceTimers.usersPerTick, from: \.retries, at: now)
      return retries + state.popDue(AbsenceTimers.usersPerTick - retries.count, from: \.ends, at: now)
    }
  }

  private func isPresent(_ user: UserID) -> Bool { clusterUsers?.isPresent(user) ?? directory.isPresent(user) }

  private func notifyRooms(of absence: Absence, at now: MonotonicInstant) async {
    do throws(StoreError) {
      let rooms = try await groups.memberships(of: absence.user).filter { $0.type == .avChatRoom }
      if await !notify(rooms, of: Group.Presence(of: absence.user, awaySince: absence.since)) { retry(absence, at: now) }
    } catch {
      retry(absence, at: now)
      observer.storeFailed(error)
    }
  }

  /// Tells rooms of a user whose grace has ended.
  /// - Returns: false where not all were told, and it is to be tried again.
  private func notify(_ rooms: [Membership], of absence: Group.Presence) async -> Bool {
    if let clusterUsers { return await clusterUsers.endGrace(absence, in: rooms) }
    await registry.presenceChanged(absence, in: rooms)
    return true
  }

  private func retry(_ absence: Absence, at now: MonotonicInstant) {
    state.withLock { state in
      if state.absences[absence.user] != nil { return }
      state.add(Absence(user: absence.user, since: absence.since, end: now + AbsenceTimers.retryTime), to: \.retries)
    }
  }
}
