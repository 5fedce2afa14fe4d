import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit
import WireProtocol

@testable import Gateway

/// Random sign-ins, ends, statuses and subscriptions against plain lists: what each session was told last
/// is the truth once it is quiet, and nobody is told more often than once a second.
@Suite struct StatusPropertyTests {
  private final class Token: Sendable {}

  /// The users as they are, and what each session has heard.
  private struct World {
    static let users: [UserID] = ["u0", "u1", "u2", "u3", "u4", "u5"]
    static let grace: Int64 = 2000
    static let limit = 4

    var random: SeededGenerator
    var book = StatusBook(grace: .milliseconds(World.grace))
    var table = StatusTable()
    let tokens = (0..<4).map { _ in Token() }
    var now: Int64 = 10_000

    // The truth.
    var platforms: [UserID: [Platform]] = [:]
    var ended: [UserID: (at: Int64, on: [Platform])] = [:]
    var customStatuses: [UserID: String] = [:]
    var known: Set<UserID> = ["u0", "u1", "u2"]

    // What sessions have heard.
    var watched: [Int: Set<UserID>] = [:]
    var heard: [Int: [UserID: UserStatusInfo]] = [:]
    var lastEvents: [Int: Int64] = [:]
    /// Subscriptions whose rows are being read.
    var reading: [(session: Int, users: [UserID], mark: UInt64, readings: [StatusReading])] = []

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private func id(_ session: Int) -> ObjectIdentifier { ObjectIdentifier(tokens[session]) }

    private func platformSet(_ platforms: [Platform]) -> PlatformSet {
      var all: PlatformSet = []
      for platform in platforms { all.insert(PlatformSet(platform: platform)) }
      return all
    }

    /// The row that a client may expect now; nil = the user is unknown.
    func row(_ user: UserID) -> UserStatusInfo? {
      guard known.contains(user) else { return nil }
      let here = platforms[user] ?? []
      let status = customStatuses[user] ?? ""
      if !here.isEmpty { return UserStatusInfo(userID: user, platformList: here, customStatus: status) }
      guard let end = ended[user] else { return UserStatusInfo(userID: user, customStatus: status) }
      return now < end.at + World.grace
        ? UserStatusInfo(userID: user, platformList: end.on, customStatus: status)
        : UserStatusInfo(userID: user, customStatus: status, lastOnlineTime: WallInstant(milliseconds: end.at))
    }

    private mutating func post(_ changes: [StatusBook.Change]) {
      for change in changes where change.loops.contains(0) { table.change(change.user, to: change.row) }
    }

    mutating func step() {
      let user = World.users.randomElement(using: &random) ?? "u0"
      let session = Int.random(in: tokens.indices, using: &random)
      switch Int.random(in: 0..<10, using: &random) {
      case 0, 1: changePlatforms(of: user)
      case 2: changeStatus(of: user)
      case 3: subscribe(session)
      case 4: answer()
      case 5: unsubscribe(session, user)
      case 6: end(session)
      case 7: delete(user)
      default: pass(Int64.random(in: 1...700, using: &random))
      }
    }

    private mutating func changePlatforms(of user: UserID) {
      let last = platforms[user] ?? []
      let next: [Platform] = [[], [], [.iOS], [.web], [.iOS, .web]].randomElement(using: &random) ?? []
      guard last != next else { return }
      if next.isEmpty { ended[user] = (now, last) }
      platforms[user] = next
      known.insert(user)
      let change = book.sessionsChanged(of: user, from: platformSet(last), to: platformSet(next), at: ClockReading(both: now))
      post(change.map { [$0] } ?? [])
    }

    private mutating func changeStatus(of user: UserID) {
      let text = ["", "a", "b"].randomElement(using: &random) ?? ""
      customStatuses[user] = text
      known.insert(user)
      let change = book.statusChanged(of: user, to: text)
      post(change.map { [$0] } ?? [])
    }

    /// The user's sessions have ended before.
    private mutating func delete(_ user: UserID) {
      if let last = platforms[user], !last.isEmpty {
        let change = book.sessionsChanged(of: user, from: platformSet(last), to: [], at: ClockReading(both: now))
        post(change.map { [$0] } ?? [])
      }
      (platforms[user], ended[user], customStatuses[user]) = (nil, nil, nil)
      known.remove(user)
      let change = book.forget(user)
      post(change.map { [$0] } ?? [])
    }

    /// The store is read at once, and answers later.
    private mutating func subscribe(_ session: Int) {
      guard !reading.contains(where: { $0.session == session }) else { return }
      let users = World.users.filter { _ in Bool.random(using: &random) }
      let added = Set(users).subtracting(watched[session] ?? [])
      let isTooMany = (watched[session] ?? []).count + added.count > World.limit
      let newUsers = table.watch(users, by: id(session), limit: World.limit)
      #expect((newUsers == nil) == (isTooMany && !added.isEmpty))
      guard let newUsers, !users.isEmpty else { return }
      watched[session, default: []].formUnion(users)
      post(book.watch(newUsers, on: 0))
      let mark = book.newsCount
      reading.append((session, users, mark, users.map { read($0) }))
    }

    private func read(_ user: UserID) -> StatusReading {
      let monotonic = MonotonicInstant(milliseconds: now)
      let here = platformSet(platforms[user] ?? [])
      let presence = here.isEmpty ? book.lingering(user, at: monotonic) ?? UserPresence() : UserPresence(platforms: here)
      let end = here.isEmpty ? ended[user].map { WallInstant(milliseconds: $0.at) } : nil
      let stored = StoredStatus(userID: user, customStatus: customStatuses[user] ?? "", offlineSince: end)
      return StatusReading(user, known.contains(user) ? stored : nil, presence)
    }

    private mutating func answer() {
      guard let index = reading.indices.randomElement(using: &random) else { return }
      let (session, users, mark, readings) = reading.remove(at: index)
      if Int.random(in: 0..<4, using: &random) == 0 {
        // The store has failed: what was watched before stays.
        let left = table.fail(users, by: id(session))
        book.unwatch(left, on: 0)
        for user in users where heard[session]?[user] == nil && !isAnswered(session, user) { watched[session]?.remove(user) }
        return
      }
      post(book.fill(readings, since: mark))
      for (user, row) in table.answer(users, to: id(session)) {
        heard[session, default: [:]][user] = row.isKnown ? row.info : nil
      }
      for user in users where watched[session]?.contains(user) == true { answered.insert(Pair(session: session, user: user)) }
    }

    private struct Pair: Hashable {
      let session: Int
      let user: UserID
    }
    private var answered: Set<Pair> = []

    private func isAnswered(_ session: Int, _ user: UserID) -> Bool { answered.contains(Pair(session: session, user: user)) }

    private mutating func forget(_ session: Int, _ user: UserID) {
      watched[session]?.remove(user)
      heard[session]?[user] = nil
      answered.remove(Pair(session: session, user: user))
    }

    private mutating func unsubscribe(_ session: Int, _ user: UserID) {
      let isAll = Int.random(in: 0..<3, using: &random) == 0
      book.unwatch(table.unwatch(isAll ? nil : [user], by: id(session)), on: 0)
      let users = isAll ? World.users : [user]
      for user in users { forget(session, user) }
    }

    private mutating func end(_ session: Int) {
      book.unwatch(table.remove(id(session)), on: 0)
      for user in World.users { forget(session, user) }
      reading.removeAll { $0.session == session }
      // A new session has its own second.
      lastEvents[session] = nil
    }

    /// Time passes, and the loop ticks.
    mutating func pass(_ milliseconds: Int64) {
      now += milliseconds
      let monotonic = MonotonicInstant(milliseconds: now)
      post(book.popEnds(at: monotonic))
      for (id, rows) in table.tick(at: monotonic) {
        guard let session = tokens.firstIndex(where: { ObjectIdentifier($0) == id }) else {
          Issue.record("an event for nobody")
          continue
        }
        #expect(!rows.isEmpty && rows.count <= StatusTable.maxRows)
        let pause = now - (lastEvents[session] ?? 0)
        #expect(pause >= 1000, "twice within a second")
        lastEvents[session] = now
        for row in rows {
          let isWatched = isAnswered(session, row.info.userID)
          #expect(isWatched, "an event of a user whom the session does not watch")
          heard[session, default: [:]][row.info.userID] = row.info
        }
      }
    }

    /// Answers what is being read, and lets a grace and three seconds pass.
    mutating func settle() {
      while !reading.isEmpty { answer() }
      for _ in 0..<10 { pass((World.grace + 3000) / 10) }
    }
  }

  @Test(arguments: 0..<300 as Range<UInt64>) func theLastThatIsToldIsTheTruth(seed: UInt64) {
    var world = World(seed: seed)
    for _ in 0..<20 {
      for _ in 0..<40 { world.step() }
      world.settle()
      for (session, users) in world.watched {
        for user in users {
          let (heard, truth) = (world.heard[session]?[user], world.row(user))
          // Who was told of a user who is unknown by now was told of the end.
          let isTrue = heard == truth || (truth == nil && heard == UserStatusInfo(userID: user))
          #expect(isTrue, "session \(session) heard \(String(describing: heard)), and it is \(String(describing: truth))")
        }
        let others = world.heard[session, default: [:]].keys.filter { !users.contains($0) }
        #expect(others.isEmpty)
      }
    }
  }

  /// A flap inside the grace tells nobody.
  @Test func aReturnInTimeIsHeardByNobody() {
    var book = StatusBook(grace: .seconds(5))
    var table = StatusTable()
    let token = Token()
    _ = table.watch(["mary"], by: ObjectIdentifier(token), limit: 300)
    _ = book.watch(["mary"], on: 0)
    let web = PlatformSet(platform: .web)
    let stored = StoredStatus(userID: "mary", customStatus: "", offlineSince: nil)
    let reading = StatusReading("mary", stored, UserPresence(platforms: web))
    for change in book.fill([reading], since: book.newsCount) { table.change(change.user, to: change.row) }
    #expect(table.answer(["mary"], to: ObjectIdentifier(token)).count == 1)
    for number in 0..<100 as Range<Int64> {
      let now = ClockReading(both: 1000 + number * 100)
      let change =
        number.isMultiple(of: 2)
        ? book.sessionsChanged(of: "mary", from: web, to: [], at: now)
        : book.sessionsChanged(of: "mary", from: [], to: web, at: now)
      #expect(change == nil)
      for change in book.popEnds(at: now.monotonic) { table.change(change.user, to: change.row) }
      #expect(table.tick(at: now.monotonic).isEmpty)
    }
    withExtendedLifetime(token) {}
  }
}
