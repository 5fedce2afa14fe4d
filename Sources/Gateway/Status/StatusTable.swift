import DequeModule
import GroupModel

/// Which sessions of a loop watch whom, and what each was told of last (Protocol.md, "Presence"). A
/// value, used on the loop's thread alone.
///
/// Sessions and users are numbers here: 10,000 sessions that watch 100 users each take about 24 MB.
struct StatusTable: Sendable {
  /// A session gets an event once in this time.
  static let interval = Duration.seconds(1)
  /// The most rows of an event.
  static let maxRows = 100
  /// The most sessions that are told in one turn of the loop: about 1 ms.
  static let maxEventsAtOnce = 64
  /// The rows after which a turn tells no further session: about 1 ms.
  static let maxRowsAtOnce = 2000
  /// The most watches that are looked at in one turn, for changes and for what is told: less than 1 ms.
  static let maxWatchesAtOnce = 4096

  /// A user whom sessions of the loop watch.
  private struct Slot: Sendable {
    let user: UserID
    /// Nil = unknown, or not read yet.
    var row: StatusRow?
    var watchers: [Watcher] = []
    /// To how many of the watchers, from the first, the row may be news: they are still to be looked at,
    /// the last of them first. Above 0 while the user stands in `changed`.
    var unseenCount = 0
    /// The row is another one since some of them were looked at.
    var isChangedAgain = false
  }

  /// A session among those that watch a user.
  private struct Watcher: Sendable {
    let session: Int32
    /// The place among the session's watches.
    var watch: Int32
  }

  /// A user among those whom a session watches.
  private struct Watch: Sendable {
    let slot: Int32
    /// The place among the user's watchers.
    var place: Int32
    /// The version of the row that the session was told of; 0 = of none.
    var told: UInt32 = 0
    /// Subscriptions whose rows are being read. A session has at most four reads in flight.
    var readsInFlight: UInt8 = 0
    /// A subscription was answered: events may come. They would overtake the answer before.
    var isAnswered = false
    /// It stands in `Subscriber.changed`.
    var isChanged = false
  }

  /// A session that watches somebody.
  private struct Subscriber: Sendable {
    enum Phase: Sendable {
      /// → ready
      case idle
      /// Stands in `ready` or in `waiting`. → pausing, idle
      case ready
      /// Stands in `pauses`: an event has left less than a second ago. → ready, idle
      case pausing
    }

    /// Nil = the session has ended, while it stood in one of the queues.
    var session: ObjectIdentifier?
    var watches: [Watch] = []
    /// The places of watches with another row, in the order of the changes.
    var changed: [Int32] = []
    var phase = Phase.idle
  }

  private struct Pause: Sendable {
    let subscriber: Int
    let end: MonotonicInstant
  }

  private var slots: [Slot?] = []
  private var freeSlots: [Int] = []
  private var slotNumbers: [UserID: Int] = [:]
  private var subscribers: [Subscriber] = []
  private var freeSubscribers: [Int] = []
  private var subscriberNumbers: [ObjectIdentifier: Int] = [:]
  /// The users with another row, in the order of the changes; numbers of users who are gone among them.
  private var changed: Deque<Int> = []
  /// Of how many of them, from the first, the watchers are looked at before sessions are told.
  private var dueChanges = 0
  /// Those that may get an event now.
  private var ready: Deque<Int> = []
  /// Those whose event has to wait: they are looked at again with the next tick.
  private var waiting: [Int] = []
  /// By their ends: all are equally long.
  private var pauses: Deque<Pause> = []
  /// How many users all sessions watch, added up.
  private(set) var watchCount = 0

  /// Whether no session watches anybody, and none has just been told.
  var isEmpty: Bool { subscriberNumbers.isEmpty && !hasDue && waiting.isEmpty && pauses.isEmpty }

  /// Whether turns before the next tick have something to do.
  var hasDue: Bool { dueChanges > 0 || !ready.isEmpty }

  /// How many users are watched.
  var userCount: Int { slotNumbers.count }

  /// The numbers of what is gone are used again, so these are as many as there were at once.
  var capacity: (users: Int, sessions: Int) { (slots.count, subscribers.count) }

  // MARK: Subscriptions

  /// A session watches users, each named once, whose rows are read next: `answer` or `fail` follows.
  /// - Parameter limit: of the users that a session may watch.
  /// - Returns: those whom no session of the loop has watched before; nil = they are too many, and none
  ///   is watched.
  mutating func watch(_ users: [UserID], by session: ObjectIdentifier, limit: Int) -> [UserID]? {
    let watched = watches(of: users, by: session)
    let added = users.filter { watched[$0] == nil }
    guard added.isEmpty || watchCount(of: session) + added.count <= limit else { return nil }
    guard !added.isEmpty || !watched.isEmpty else { return [] }
    let number = subscriberNumber(of: session)
    for index in watched.values { subscribers[number].watches[index].readsInFlight += 1 }
    var newUsers: [UserID] = []
    for user in added {
      if slotNumbers[user] == nil { newUsers.append(user) }
      let slot = slotNumber(of: user)
      let place = slots[slot]?.watchers.count ?? 0
      slots[slot]?.watchers.append(Watcher(session: Int32(number), watch: Int32(subscribers[number].watches.count)))
      subscribers[number].watches.append(Watch(slot: Int32(slot), place: Int32(place), readsInFlight: 1))
    }
    watchCount += added.count
    return newUsers
  }

  /// A session is being told the rows of users whom it has asked to watch.
  /// - Parameter mayRepeat: what it was told of a user before counts until an event tells more.
  /// - Returns: the rows of those whom it still watches; those who are unknown from the beginning have
  ///   none.
  mutating func answer(
    _ users: [UserID], to session: ObjectIdentifier, mayRepeat: Bool = false
  ) -> [UserID: StatusRow] {
    guard let number = subscriberNumbers[session] else { return [:] }
    var rows: [UserID: StatusRow] = [:]
    for (user, index) in watches(of: users, by: session) {
      let row = slots[Int(subscribers[number].watches[index].slot)]?.row
      endRead(of: index, by: number)
      let isTold = subscribers[number].watches[index].isAnswered && mayRepeat
      subscribers[number].watches[index].isAnswered = true
      // The answer has no row of an unknown user.
      if !isTold { subscribers[number].watches[index].told = row.map { $0.isKnown ? $0.version : 0 } ?? 0 }
      if let row { rows[user] = row }
    }
    return rows
  }

  /// The rows of users could not be read: the session does not watch those whom it has just begun to.
  /// - Returns: the users whom no session of the loop watches any more.
  mutating func fail(_ users: [UserID], by session: ObjectIdentifier) -> [UserID] {
    guard let number = subscriberNumbers[session] else { return [] }
    var begun: [UserID] = []
    for (user, index) in watches(of: users, by: session) {
      endRead(of: index, by: number)
      let watch = subscribers[number].watches[index]
      if watch.readsInFlight == 0, !watch.isAnswered { begun.append(user) }
    }
    return unwatch(begun, by: session)
  }

  /// A session watches users no longer; nil = all.
  /// - Returns: the users whom no session of the loop watches any more.
  mutating func unwatch(_ users: [UserID]?, by session: ObjectIdentifier) -> [UserID] {
    guard let number = subscriberNumbers[session] else { return [] }
    var gone: [UserID] = []
    if let users {
      // One after the other: a removal moves another watch to its place.
      for user in users {
        guard let slot = slotNumbers[user],
          let index = subscribers[number].watches.firstIndex(where: { $0.slot == Int32(slot) })
        else { continue }
        if let user = remove(index, of: number) { gone.append(user) }
      }
    } else {
      for index in subscribers[number].changed { subscribers[number].watches[Int(index)].isChanged = false }
      subscribers[number].changed = []
      while !subscribers[number].watches.isEmpty {
        if let user = remove(subscribers[number].watches.count - 1, of: number) { gone.append(user) }
      }
    }
    freeIfIdle(number)
    return gone
  }

  /// The session has ended.
  /// - Returns: the users whom no session of the loop watches any more.
  mutating func remove(_ session: ObjectIdentifier) -> [UserID] {
    let gone = unwatch(nil, by: session)
    // It still stands in a queue.
    if let number = subscriberNumbers.removeValue(forKey: session) { subscribers[number].session = nil }
    return gone
  }

  /// How many users a session watches.
  func watchCount(of session: ObjectIdentifier) -> Int {
    subscriberNumbers[session].map { subscribers[$0].watches.count } ?? 0
  }

  // MARK: Events

  /// The row of a user is another one. Who watches the user is looked at from the next tick on: they may
  /// be very many.
  mutating func change(_ user: UserID, to row: StatusRow) {
    guard let number = slotNumbers[user], let slot = slots[number] else { return }
    slots[number]?.row = row
    if slot.unseenCount == 0 {
      slots[number]?.unseenCount = slot.watchers.count
      changed.append(number)
    } else if slot.unseenCount < slot.watchers.count {
      slots[number]?.isChangedAgain = true
    }
  }

  /// A tick: the changes until now are due, sessions whose second is over, and those that had to wait.
  mutating func beginTick(at now: MonotonicInstant) {
    // Sessions that an earlier tick has made ready are told first: there may always be changes.
    if ready.isEmpty { dueChanges = changed.count }
    while let first = pauses.first, first.end <= now {
      pauses.removeFirst()
      endPause(of: first.subscriber)
    }
    ready.append(contentsOf: waiting)
    waiting.removeAll(keepingCapacity: true)
  }

  /// The events that are due, as many as a turn may tell: of each session one in a second, with the
  /// oldest of its changes. None before the changes that are due are with all who watch their users.
  /// - Parameter mayTell: false = the session's event has to wait.
  mutating func popDue(
    at now: MonotonicInstant, where mayTell: (ObjectIdentifier) -> Bool = { _ in true }
  ) -> [(session: ObjectIdentifier, rows: [StatusRow])] {
    spreadChanges()
    var due: [(session: ObjectIdentifier, rows: [StatusRow])] = []
    guard dueChanges == 0 else { return due }
    var (rowCount, lookCount) = (0, 0)
    while due.count < StatusTable.maxEventsAtOnce, rowCount < StatusTable.maxRowsAtOnce,
      lookCount < StatusTable.maxWatchesAtOnce, let number = ready.popFirst()
    {
      lookCount += 1
      if let session = subscribers[number].session, !mayTell(session) {
        waiting.append(number)
        continue
      }
      // Many of them may be none any more.
      lookCount += subscribers[number].changed.count
      let rows = popChanges(of: number)
      guard let session = subscribers[number].session, !rows.isEmpty else {
        subscribers[number].phase = .idle
        freeIfIdle(number)
        continue
      }
      subscribers[number].phase = .pausing
      pauses.append(Pause(subscriber: number, end: now + StatusTable.interval))
      due.append((session, rows))
      rowCount += rows.count
    }
    return due
  }

  /// Looks at those who watch the users whose changes are due, as many as a turn may.
  private mutating func spreadChanges() {
    var left = StatusTable.maxWatchesAtOnce
    while dueChanges > 0, left > 0, let number = changed.first {
      left -= 1
      guard spreadChange(of: number, &left) else { return }
      changed.removeFirst()
      dueChanges -= 1
      guard let slot = slots[number], slot.isChangedAgain else { continue }
      slots[number]?.isChangedAgain = false
      slots[number]?.unseenCount = slot.watchers.count
      changed.append(number)
    }
  }

  /// Looks at those who watch a user, from the last to the first: where one of them goes, the last takes
  /// the place, and is looked at a second time at most.
  /// - Parameter left: how many the turn may still look at.
  /// - Returns: whether all were looked at.
  private mutating func spreadChange(of number: Int, _ left: inout Int) -> Bool {
    guard let slot = slots[number], let row = slot.row else { return true }
    let end = min(slot.unseenCount, slot.watchers.count)
    let start = max(0, end - left)
    for watcher in slot.watchers[start..<end] { note(row, for: watcher) }
    left -= end - start
    slots[number]?.unseenCount = start
    return start == 0
  }

  private mutating func note(_ row: StatusRow, for watcher: Watcher) {
    let (number, index) = (Int(watcher.session), Int(watcher.watch))
    let watch = subscribers[number].watches[index]
    guard watch.isAnswered, !watch.isChanged, row.isNews(to: watch.told) else { return }
    subscribers[number].watches[index].isChanged = true
    subscribers[number].changed.append(Int32(index))
    guard subscribers[number].phase == .idle else { return }
    subscribers[number].phase = .ready
    ready.append(number)
  }

  private mutating func endPause(of number: Int) {
    if subscribers[number].changed.isEmpty {
      subscribers[number].phase = .idle
      freeIfIdle(number)
    } else {
      subscribers[number].phase = .ready
      ready.append(number)
    }
  }

  /// The oldest changes of a session, but those of users whose row is again the one that it was told of.
  private mutating func popChanges(of number: Int) -> [StatusRow] {
    var rows: [StatusRow] = []
    var taken = 0
    for index in subscribers[number].changed.lazy.map({ Int($0) }) {
      guard rows.count < StatusTable.maxRows else { break }
      taken += 1
      let watch = subscribers[number].watches[index]
      subscribers[number].watches[index].isChanged = false
      guard let row = slots[Int(watch.slot)]?.row, row.isNews(to: watch.told) else { continue }
      subscribers[number].watches[index].told = row.version
      rows.append(row)
    }
    subscribers[number].changed.removeFirst(taken)
    return rows
  }

  // MARK: Numbers

  /// The places of those of the users whom a session watches, among its watches.
  private func watches(of users: [UserID], by session: ObjectIdentifier) -> [UserID: Int] {
    guard let number = subscriberNumbers[session] else { return [:] }
    var wanted: [Int32: UserID] = [:]
    for user in users {
      if let slot = slotNumbers[user] { wanted[Int32(slot)] = user }
    }
    guard !wanted.isEmpty else { return [:] }
    var found: [UserID: Int] = [:]
    for (index, watch) in subscribers[number].watches.enumerated() {
      if let user = wanted[watch.slot] { found[user] = index }
    }
    return found
  }

  private mutating func endRead(of index: Int, by number: Int) {
    if subscribers[number].watches[index].readsInFlight > 0 { subscribers[number].watches[index].readsInFlight -= 1 }
  }

  private mutating func slotNumber(of user: UserID) -> Int {
    if let number = slotNumbers[user] { return number }
    let number = freeSlots.popLast() ?? slots.count
    if number == slots.count { slots.append(Slot(user: user)) } else { slots[number] = Slot(user: user) }
    slotNumbers[user] = number
    return number
  }

  private mutating func subscriberNumber(of session: ObjectIdentifier) -> Int {
    if let number = subscriberNumbers[session] { return number }
    let number = freeSubscribers.popLast() ?? subscribers.count
    if number == subscribers.count { subscribers.append(Subscriber()) }
    subscribers[number].session = session
    subscriberNumbers[session] = number
    return number
  }

  /// Removes a watch; the last ones of the session and of the user take the places.
  /// - Returns: the user, where no session of the loop watches it any more.
  private mutating func remove(_ index: Int, of number: Int) -> UserID? {
    let watch = subscribers[number].watches[index]
    if watch.isChanged { subscribers[number].changed.removeAll { $0 == Int32(index) } }
    let last = subscribers[number].watches.removeLast()
    let lastIndex = subscribers[number].watches.count
    if index < lastIndex {
      subscribers[number].watches[index] = last
      slots[Int(last.slot)]?.watchers[Int(last.place)].watch = Int32(index)
      if last.isChanged, let place = subscribers[number].changed.firstIndex(of: Int32(lastIndex)) {
        subscribers[number].changed[place] = Int32(index)
      }
    }
    watchCount -= 1
    return removeWatcher(at: Int(watch.place), from: Int(watch.slot))
  }

  private mutating func removeWatcher(at place: Int, from slot: Int) -> UserID? {
    guard let last = slots[slot]?.watchers.popLast() else { return nil }
    if let count = slots[slot]?.watchers.count, place < count {
      slots[slot]?.watchers[place] = last
      subscribers[Int(last.session)].watches[Int(last.watch)].place = Int32(place)
    }
    guard let entry = slots[slot], entry.watchers.isEmpty else { return nil }
    slots[slot] = nil
    freeSlots.append(slot)
    slotNumbers[entry.user] = nil
    return entry.user
  }

  /// A session that watches nobody is remembered while it stands in a queue: it must not get two events
  /// within a second because it has watched nobody between.
  private mutating func freeIfIdle(_ number: Int) {
    guard subscribers[number].phase == .idle, subscribers[number].watches.isEmpty else { return }
    if let session = subscribers[number].session { subscriberNumbers[session] = nil }
    subscribers[number] = Subscriber()
    freeSubscribers.append(number)
  }
}
