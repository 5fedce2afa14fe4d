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
  private let observer: StoreObserver
  private let grace: Duration
  private let isPresent: @Sendable (UserID) -> Bool
  private let notify: @Sendable (Group.Presence, [Membership]) async -> Bool

  /// - Parameters:
  ///   - grace: `avChatRoom.offlineGrace`.
  ///   - isPresent: whether a user has a session.
  ///   - notify: tells rooms of a user whose grace has ended; false = not all, and it is tried again.
  init(
    groups: any GroupStore, observer: StoreObserver, grace: Duration, isPresent: @escaping @Sendable (UserID) -> Bool,
    notify: @escaping @Sendable (Group.Presence, [Membership]) async -> Bool
  ) {
    self.groups = groups
    self.observer = observer
    self.grace = grace
    self.isPresent = isPresent
    self.notify = notify
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

  private func notifyRooms(of absence: Absence, at now: MonotonicInstant) async {
    do throws(StoreError) {
      let rooms = try await groups.memberships(of: absence.user).filter { $0.type == .avChatRoom }
      if await !notify(Group.Presence(of: absence.user, awaySince: absence.since), rooms) { retry(absence, at: now) }
    } catch {
      retry(absence, at: now)
      observer.storeFailed(error)
    }
  }

  private func retry(_ absence: Absence, at now: MonotonicInstant) {
    state.withLock { state in
      if state.absences[absence.user] != nil { return }
      state.add(Absence(user: absence.user, since: absence.since, end: now + AbsenceTimers.retryTime), to: \.retries)
    }
  }
}
