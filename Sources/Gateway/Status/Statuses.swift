import CoreMetrics
import GroupModel
import Synchronization
import WireProtocol

/// The statuses of users on this node: hears of sessions and custom statuses, and tells the loops of the
/// rows that their sessions watch (Architecture.md, "Presence").
package final class Statuses: SessionObserver {
  /// Rows that a loop has not taken yet, each user's latest.
  private struct Inbox: Sendable {
    /// In the order of the first change.
    var users: [UserID] = []
    var rows: [UserID: StatusRow] = [:]

    mutating func add(_ user: UserID, _ row: StatusRow) {
      if rows.updateValue(row, forKey: user) == nil { users.append(user) }
    }
  }

  private struct State: Sendable {
    var book: StatusBook
    var inboxes: [Int: Inbox] = [:]

    mutating func post(_ changes: [StatusBook.Change]) {
      for change in changes {
        for loop in change.loops { inboxes[loop, default: Inbox()].add(change.user, change.row) }
      }
    }
  }

  /// `presence.visibility` is everyone.
  private let isVisible: Bool
  /// `limits.statusSubscriptions`.
  let subscriptions: Int
  private let clocks: any Clocks
  private let state: Mutex<State>
  private let events = Counter(label: "throng_status_events_total")
  private let rows = Counter(label: "throng_status_rows_total")

  /// Nobody is watched.
  package init(_ configuration: GatewayConfiguration, clocks: any Clocks) {
    isVisible = configuration.showsPresence
    subscriptions = configuration.statusSubscriptions
    self.clocks = clocks
    state = Mutex(State(book: StatusBook(grace: configuration.presenceGrace)))
  }

  /// Users whom a session of this node watches, each once.
  package var watchedCount: Int { state.withLock { $0.book.watchedCount } }
  /// Users whose last session has just ended.
  package var lingeringCount: Int { state.withLock { $0.book.lingeringCount } }
  /// The instants at which the graces of users end.
  var markCount: Int { state.withLock { $0.book.markCount } }
  var watchedUsers: [UserID] { state.withLock { $0.book.watchedUsers } }

  /// - Throws: 10007 where nobody may see statuses, whoever asks.
  func requireVisible() throws(WireError) {
    if !isVisible { throw WireError(.noRight, "Presence is not shown on this server") }
  }

  // MARK: News

  package func sessionsChanged(of user: UserID, from last: PlatformSet, to platforms: PlatformSet) {
    guard isVisible else { return }
    let now = clocks.now
    note { $0.sessionsChanged(of: user, from: last, to: platforms, at: now) }
  }

  package func lingering(among users: [UserID]) -> [UserID: UserPresence] {
    let now = clocks.monotonic
    return state.withLock { state in
      var found: [UserID: UserPresence] = [:]
      for user in users { found[user] = state.book.lingering(user, at: now) }
      return found
    }
  }

  /// A user has another custom status.
  func statusChanged(of user: UserID, to customStatus: String) {
    note { $0.statusChanged(of: user, to: customStatus) }
  }

  /// Nobody knows the user any more (deleteUser).
  func forget(_ user: UserID) { note { $0.forget(user) } }

  /// Ends graces that are over; called with each tick of one loop.
  func endGraces(at now: MonotonicInstant) { post { $0.popEnds(at: now) } }

  private func note(_ news: (inout StatusBook) -> StatusBook.Change?) {
    post { book in news(&book).map { [$0] } ?? [] }
  }

  /// Tells the loops of changes.
  private func post(_ change: (inout StatusBook) -> [StatusBook.Change]) {
    state.withLock { state in
      let changes = change(&state.book)
      state.post(changes)
    }
  }

  // MARK: Watching

  /// Sessions of a loop begin to watch users: their rows are read next.
  func watch(_ users: [UserID], on loop: Int) {
    guard !users.isEmpty else { return }
    post { $0.watch(users, on: loop) }
  }

  /// No session of a loop watches these users any more.
  func unwatch(_ users: [UserID], on loop: Int) {
    guard !users.isEmpty else { return }
    state.withLock { state in
      state.book.unwatch(users, on: loop)
      for user in users { state.inboxes[loop]?.rows[user] = nil }
      if state.inboxes[loop]?.rows.isEmpty == true { state.inboxes[loop] = nil }
    }
  }

  /// How much news there was: for a reading that begins now.
  var mark: UInt64 { state.withLock { $0.book.newsCount } }

  /// Takes what was read of users.
  /// - Parameter mark: from before the reading.
  func fill(_ readings: [StatusReading], since mark: UInt64) {
    post { $0.fill(readings, since: mark) }
  }

  /// Brings a loop's table up to date.
  func update(_ table: inout StatusTable, of loop: Int) {
    guard let inbox = state.withLock({ $0.inboxes.removeValue(forKey: loop) }) else { return }
    for user in inbox.users {
      if let row = inbox.rows[user] { table.change(user, to: row) }
    }
  }

  /// Counts an event with so many rows.
  func didTell(rows count: Int) {
    events.increment()
    rows.increment(by: count)
  }
}
