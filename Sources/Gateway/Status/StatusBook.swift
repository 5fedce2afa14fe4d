import DequeModule
import GroupModel
import GroupRuntime
import WireProtocol

/// A row as it is told: encoded once, and shared by all who watch the user.
final class StatusRow: Sendable {
  let info: UserStatusInfo
  let text: Encoded<UserStatusInfo>
  /// False = nobody knows the user any more: whoever was told of the user is told that the user is
  /// offline, and others get no row.
  let isKnown: Bool
  /// Tells it from all rows of the node that say something else; never 0.
  let version: UInt32

  init(_ info: UserStatusInfo, isKnown: Bool = true, version: UInt32) {
    self.info = info
    text = Encoded(info)
    self.isKnown = isKnown
    self.version = version
  }

  /// A row that says the same.
  init(_ row: StatusRow, isKnown: Bool) {
    info = row.info
    text = row.text
    self.isKnown = isKnown
    version = row.version
  }

  /// Whether it is news to a session.
  /// - Parameter told: the version of the row that the session was told of; 0 = of none.
  func isNews(to told: UInt32) -> Bool { version != told && (isKnown || told != 0) }
}

/// What was read of a user: what the store has, and what the sessions say.
struct StatusReading: Sendable {
  let user: UserID
  /// Nil = the store does not know the user.
  let customStatus: String?
  let presence: UserPresence

  /// - Parameters:
  ///   - stored: nil = the store does not know the user.
  ///   - presence: without `lastOnline` where only the store knows it.
  init(_ user: UserID, _ stored: StoredStatus?, _ presence: UserPresence) {
    self.user = user
    customStatus = stored?.customStatus
    var presence = presence
    if !presence.isOnline, let end = stored?.offlineSince { presence.lastOnline = max(presence.lastOnline, end) }
    self.presence = presence
  }

  /// Whether the user is known: stored, or signed in before the store has heard of it.
  var isKnown: Bool { customStatus != nil || presence.isOnline || presence.lastOnline.isSet }

  /// The row; nil = the user is unknown.
  var info: UserStatusInfo? {
    isKnown ? UserStatusInfo(of: user, presence, customStatus: customStatus ?? "") : nil
  }
}

extension UserStatusInfo {
  fileprivate init(of user: UserID, _ presence: UserPresence, customStatus: String) {
    self.init(
      userID: user, platformList: presence.platforms.platforms, customStatus: customStatus,
      lastOnlineTime: presence.isOnline ? .unset : presence.lastOnline)
  }
}

/// The statuses that a node knows: of all users who have just gone, and of those whom somebody watches
/// (Protocol.md, "Presence"). A value: `Statuses` acts.
struct StatusBook: Sendable {
  /// The row of a user is another one.
  struct Change: Sendable {
    let user: UserID
    /// The loops with sessions that watch the user.
    let loops: [Int]
    let row: StatusRow
  }

  /// For how long the end of a session is known here at least. The store of another node hears of it
  /// about a second later, from the owner of the user's shard.
  private static let memory = Duration.seconds(3)

  /// How many ends are looked at in a tick, ten times a second: thousands of sessions may have ended at once,
  /// and loops wait for each other here.
  static let endsAtOnce = 2000

  /// A user without a session.
  private struct Absence: Sendable {
    /// The platforms of the last session.
    let platforms: PlatformSet
    let since: WallInstant
    let graceEnd: MonotonicInstant
    let end: MonotonicInstant

    /// - Parameter now: the grace may be over.
    func presence(at now: MonotonicInstant) -> UserPresence {
      now < graceEnd ? UserPresence(platforms: platforms) : UserPresence(lastOnline: since)
    }
  }

  /// A user whom a session watches.
  private struct Entry: Sendable {
    /// The loops of these sessions.
    var loops: [Int] = []
    var presence = UserPresence()
    var customStatus = ""
    var isKnown = false
    /// The store was read: before that there is no row.
    var isRead = false
    /// The numbers of the latest news: what was read before counts less.
    var presenceNews: UInt64 = 0
    var statusNews: UInt64 = 0
    /// Nil = unknown from the beginning, or not read yet.
    var row: StatusRow?
    /// The row before. Whoever was told of it last, and finds it again, hears nothing.
    var earlierRow: StatusRow?
  }

  /// An absence in the order of time; void where the user's is another one by now.
  private struct Mark: Sendable {
    let user: UserID
    let instant: MonotonicInstant
  }

  private let grace: Duration
  private var entries: [UserID: Entry] = [:]
  private var absences: [UserID: Absence] = [:]
  /// By the ends of graces.
  private var graceEnds: Deque<Mark> = []
  /// By the ends of absences.
  private var ends: Deque<Mark> = []
  /// How much news there was: a reading that began then knows nothing of later news.
  private(set) var newsCount: UInt64 = 0
  private var lastVersion: UInt32 = 0

  /// - Parameter grace: `presence.grace`.
  init(grace: Duration) { self.grace = grace }

  /// How many users somebody watches.
  var watchedCount: Int { entries.count }
  var watchedUsers: [UserID] { Array(entries.keys) }
  /// How many users have gone a moment ago.
  var lingeringCount: Int { absences.count }

  /// How many ends are waited for, void ones among them.
  var markCount: Int { graceEnds.count + ends.count }

  // MARK: News

  /// The signed-in sessions of a user have changed. Where the last has ended, the grace begins.
  /// - Parameter last: the platforms before.
  mutating func sessionsChanged(
    of user: UserID, from last: PlatformSet, to platforms: PlatformSet, at now: ClockReading
  ) -> Change? {
    if platforms.isEmpty {
      let graceEnd = now.monotonic + grace
      let absence = Absence(
        platforms: last, since: now.wall, graceEnd: graceEnd, end: now.monotonic + max(grace, StatusBook.memory))
      absences[user] = absence
      graceEnds.append(Mark(user: user, instant: absence.graceEnd))
      ends.append(Mark(user: user, instant: absence.end))
      removeVoidMarks()
    } else {
      absences[user] = nil
    }
    return update(user) { entry, news in
      // Within the grace the last session's platforms stand.
      entry.presence = UserPresence(platforms: platforms.isEmpty ? last : platforms)
      entry.isKnown = true
      entry.presenceNews = news
    }
  }

  /// The user has another custom status.
  mutating func statusChanged(of user: UserID, to customStatus: String) -> Change? {
    update(user) { entry, news in
      entry.customStatus = customStatus
      entry.isKnown = true
      entry.statusNews = news
    }
  }

  /// Graces have ended. Of very many some are left for the next tick.
  mutating func popEnds(at now: MonotonicInstant) -> [Change] {
    var changes: [Change] = []
    var count = 0
    while count < StatusBook.endsAtOnce, let first = graceEnds.first, first.instant <= now {
      graceEnds.removeFirst()
      count += 1
      guard let absence = absences[first.user], absence.graceEnd == first.instant else { continue }
      if let change = setOffline(first.user, since: absence.since) { changes.append(change) }
    }
    // An absence is forgotten when its grace was seen to have ended.
    while count < StatusBook.endsAtOnce, let first = ends.first, first.instant <= now {
      ends.removeFirst()
      count += 1
      if let absence = absences[first.user], absence.end == first.instant { absences[first.user] = nil }
    }
    if absences.isEmpty {
      // A dictionary that has shrunk keeps its memory.
      absences = [:]
      (graceEnds, ends) = ([], [])
    }
    return changes
  }

  /// Nobody knows the user any more (deleteUser), whose grace ends.
  mutating func forget(_ user: UserID) -> Change? {
    absences[user] = nil
    return update(user) { entry, news in
      entry.presence = UserPresence()
      entry.customStatus = ""
      entry.isKnown = false
      (entry.presenceNews, entry.statusNews) = (news, news)
    }
  }

  private mutating func setOffline(_ user: UserID, since: WallInstant) -> Change? {
    update(user) { entry, news in
      entry.presence = UserPresence(lastOnline: since)
      // Also where the store is being read: what it knows is older.
      entry.isKnown = true
      entry.presenceNews = news
    }
  }

  /// The presence of a user without a session whose last one has ended a moment ago.
  func lingering(_ user: UserID, at now: MonotonicInstant) -> UserPresence? { absences[user]?.presence(at: now) }

  /// Users who come and go all the time leave many void marks.
  private mutating func removeVoidMarks() {
    guard ends.count > 2 * absences.count + 64 else { return }
    let absences = absences
    graceEnds.removeAll { absences[$0.user]?.graceEnd != $0.instant }
    ends.removeAll { absences[$0.user]?.end != $0.instant }
  }

  // MARK: Watching

  /// Sessions of a loop watch these users from now on; none of that loop has before.
  /// - Returns: the rows that are known.
  mutating func watch(_ users: [UserID], on loop: Int) -> [Change] {
    var changes: [Change] = []
    for user in users {
      // News of before has passed by: what was read before the entry is there counts for nothing.
      entries[user, default: Entry(presenceNews: newsCount, statusNews: newsCount)].loops.append(loop)
      if let row = entries[user]?.row { changes.append(Change(user: user, loops: [loop], row: row)) }
    }
    return changes
  }

  /// No session of a loop watches these users any more.
  mutating func unwatch(_ users: [UserID], on loop: Int) {
    for user in users {
      entries[user]?.loops.removeAll { $0 == loop }
      if entries[user]?.loops.isEmpty == true { entries[user] = nil }
    }
    if entries.isEmpty { entries = [:] }
  }

  /// Takes what was read of watched users; later news wins.
  /// - Parameter mark: `newsCount` before the reading began.
  mutating func fill(_ readings: [StatusReading], since mark: UInt64) -> [Change] {
    readings.compactMap { reading -> Change? in
      guard let index = entries.index(forKey: reading.user) else { return nil }
      let entry = entries.values[index]
      let isPresenceOld = entry.presenceNews <= mark
      let isStatusOld = entry.statusNews <= mark
      if isPresenceOld, !StatusBook.isOneEnd(entry.presence, reading.presence) {
        entries.values[index].presence = reading.presence
      }
      if isStatusOld { entries.values[index].customStatus = reading.customStatus ?? "" }
      // News of either kind says whether the user is known.
      if isPresenceOld, isStatusOld { entries.values[index].isKnown = reading.isKnown }
      entries.values[index].isRead = true
      return refresh(index)
    }
  }

  /// Whether two presences tell of the same end of a session. Each node has its own time of it, and what
  /// was told stays: another millisecond is no change.
  private static func isOneEnd(_ told: UserPresence, _ read: UserPresence) -> Bool {
    guard !told.isOnline, !read.isOnline, told.lastOnline.isSet, read.lastOnline.isSet else { return false }
    let (first, last) = (min(told.lastOnline, read.lastOnline), max(told.lastOnline, read.lastOnline))
    return last - first < memory
  }

  /// Changes an entry by news.
  private mutating func update(_ user: UserID, _ body: (inout Entry, _ news: UInt64) -> Void) -> Change? {
    newsCount += 1
    guard let index = entries.index(forKey: user) else { return nil }
    body(&entries.values[index], newsCount)
    return refresh(index)
  }

  /// Makes the row anew.
  /// - Returns: nil where it is the same.
  private mutating func refresh(_ index: Dictionary<UserID, Entry>.Index) -> Change? {
    let (user, entry) = entries[index]
    guard entry.isRead else { return nil }
    // Nobody was told of a user who has been unknown from the beginning.
    guard entry.isKnown || entry.row != nil else { return nil }
    let info = UserStatusInfo(of: user, entry.presence, customStatus: entry.customStatus)
    guard info != entry.row?.info || entry.isKnown != entry.row?.isKnown else { return nil }
    let row = makeRow(info, of: entry)
    entries.values[index].row = row
    entries.values[index].earlierRow = entry.row
    return Change(user: user, loops: entry.loops, row: row)
  }

  private mutating func makeRow(_ info: UserStatusInfo, of entry: Entry) -> StatusRow {
    for case let row? in [entry.row, entry.earlierRow] where row.info == info {
      return row.isKnown == entry.isKnown ? row : StatusRow(row, isKnown: entry.isKnown)
    }
    lastVersion = lastVersion == .max ? 1 : lastVersion + 1
    return StatusRow(info, isKnown: entry.isKnown, version: lastVersion)
  }
}
