import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit
import WireProtocol

@testable import Gateway

/// Which sessions of a loop watch whom (Protocol.md, "Presence"), as a value.
@Suite struct StatusTableTests {
  private final class Token: Sendable {}
  /// Held, so that no two have one address.
  private let tokens = (0..<10).map { _ in Token() }

  private func session(_ number: Int) -> ObjectIdentifier { ObjectIdentifier(tokens[number]) }

  private func row(_ user: UserID, _ version: UInt32, isKnown: Bool = true) -> StatusRow {
    StatusRow(UserStatusInfo(userID: user, customStatus: "\(version)"), isKnown: isKnown, version: version)
  }

  private func users(_ range: Range<Int>) -> [UserID] { range.map { UserID("u\($0)")! } }

  /// A table in which session 0 watches users who were read.
  private func table(_ users: [UserID], limit: Int = 300) -> StatusTable {
    var table = StatusTable()
    _ = table.watch(users, by: session(0), limit: limit)
    for (index, user) in users.enumerated() { table.change(user, to: row(user, UInt32(index + 1))) }
    _ = table.answer(users, to: session(0))
    let told = table.tick(at: .distantPast)
    #expect(told.isEmpty, "the answer has told it")
    return table
  }

  // MARK: Subscriptions

  @Test func asManyAsTheLimitAndNoneBeyond() {
    var table = StatusTable()
    for start in [0, 100, 200] {
      #expect(table.watch(users(start..<start + 100), by: session(0), limit: 300)?.count == 100)
    }
    #expect(table.watch(["one"], by: session(0), limit: 300) == nil)
    #expect(table.watch(users(0..<99) + ["one"], by: session(0), limit: 300) == nil, "adds none")
    #expect(table.watchCount(of: session(0)) == 300 && table.userCount == 300)
    #expect(table.watch(users(250..<300), by: session(0), limit: 300) == [], "those watched already are free")
    #expect(table.watch(["one"], by: session(1), limit: 300) == ["one"], "another session has its own")
    #expect(table.watch(["two"], by: session(2), limit: 0) == nil)
    #expect(table.watchCount == 301)
  }

  @Test func usersNewToTheLoopAreNamedOnce() {
    var table = StatusTable()
    #expect(table.watch(["a", "b"], by: session(0), limit: 300) == ["a", "b"])
    #expect(table.watch(["b", "c"], by: session(1), limit: 300) == ["c"])
    #expect(table.unwatch(["b", "x"], by: session(0)) == [])
    #expect(table.remove(session(1)) == ["c", "b"])
    #expect(table.remove(session(1)) == [])
    #expect(table.unwatch(nil, by: session(0)) == ["a"])
    #expect(table.isEmpty && table.watchCount == 0 && table.userCount == 0)
  }

  @Test func theAnswerHasTheRowsOfThatMoment() {
    var table = StatusTable()
    _ = table.watch(["a", "b", "c"], by: session(0), limit: 300)
    table.change("a", to: row("a", 1))
    table.change("a", to: row("a", 2))
    #expect(table.tick(at: 0).isEmpty, "an event would overtake the answer")
    _ = table.unwatch(["c"], by: session(0))
    let rows = table.answer(["a", "b", "c"], to: session(0))
    #expect(rows.mapValues(\.version) == ["a": 2], "b is unknown, and c is watched no longer")
    #expect(table.tick(at: 0).isEmpty, "the answer has told it")
    table.change("b", to: row("b", 3))
    #expect(table.tick(at: 0).map { $0.rows.map(\.version) } == [[3]], "from the first session on")
  }

  /// Events may overtake the answer of an event stream, and count there: what is newer than the last
  /// event is told by one, also where the answer has it.
  @Test func anAnswerThatMayBeOvertakenTellsNothingOfThoseWatchedBefore() {
    for (mayRepeat, events) in [(false, [[UserID]]()), (true, [["a"]])] {
      var table = table(["a"])
      _ = table.watch(["a", "b"], by: session(0), limit: 300)
      table.change("a", to: row("a", 5))
      table.change("b", to: row("b", 6))
      let rows = table.answer(["a", "b"], to: session(0), mayRepeat: mayRepeat)
      #expect(rows.mapValues(\.version) == ["a": 5, "b": 6])
      #expect(table.tick(at: 0).map { $0.rows.map(\.info.userID) } == events, "b was not told of before")
      #expect(table.tick(at: 10).isEmpty)
    }
  }

  @Test func whatCouldNotBeReadIsNotWatched() {
    var table = table(["a"])
    #expect(table.watch(["a", "b"], by: session(0), limit: 300) == ["b"])
    #expect(table.fail(["a", "b"], by: session(0)) == ["b"], "a was watched before")
    #expect(table.watchCount(of: session(0)) == 1)
    table.change("a", to: row("a", 9))
    #expect(table.tick(at: 0).count == 1)
  }

  @Test func oneOfTwoSubscriptionsMayFail() {
    for isFirst in [true, false] {
      var table = StatusTable()
      _ = table.watch(["a"], by: session(0), limit: 300)
      #expect(table.watch(["a"], by: session(0), limit: 300) == [])
      if isFirst {
        #expect(table.fail(["a"], by: session(0)) == [], "the other is under way")
        _ = table.answer(["a"], to: session(0))
      } else {
        _ = table.answer(["a"], to: session(0))
        #expect(table.fail(["a"], by: session(0)) == [])
      }
      #expect(table.watchCount(of: session(0)) == 1)
    }
  }

  @Test func theAnswerOfASessionThatHasEndedIsNothing() {
    var table = StatusTable()
    _ = table.watch(["a"], by: session(0), limit: 300)
    #expect(table.remove(session(0)) == ["a"])
    #expect(table.answer(["a"], to: session(0)).isEmpty)
    #expect(table.fail(["a"], by: session(0)) == [])
    #expect(table.isEmpty)
  }

  // MARK: Events

  @Test func onlyThoseWhoWatchAreTold() {
    var table = table(["a", "b"])
    _ = table.watch(["b"], by: session(1), limit: 300)
    _ = table.answer(["b"], to: session(1))
    table.change("a", to: row("a", 9))
    table.change("x", to: row("x", 10))
    #expect(table.tick(at: 0).map(\.session) == [session(0)])
    _ = table.unwatch(["a"], by: session(0))
    table.change("a", to: row("a", 11))
    table.change("b", to: row("b", 12))
    #expect(table.tick(at: 1000).map { $0.rows.map(\.version) } == [[12], [12]])
  }

  @Test func oneEventASecondWithTheLatestRow() {
    var table = table(["a"])
    func pop(_ now: MonotonicInstant) -> [[UInt32]] { table.tick(at: now).map { $0.rows.map(\.version) } }
    table.change("a", to: row("a", 9))
    #expect(pop(0) == [[9]])
    table.change("a", to: row("a", 10))
    #expect(pop(500) == [])
    table.change("a", to: row("a", 11))
    #expect(pop(999) == [])
    #expect(pop(1000) == [[11]])
    #expect(pop(5000) == [])
    table.change("a", to: row("a", 12))
    #expect(pop(5000) == [[12]], "at once, where a second has passed")
  }

  @Test func theOldestHundredFirst() {
    var table = table(users(0..<101))
    for user in users(0..<101).reversed() { table.change(user, to: row(user, 1000)) }
    let first = table.tick(at: 0)
    #expect(first.count == 1 && first[0].rows.map(\.info.userID) == users(1..<101).reversed())
    #expect(table.tick(at: 999).isEmpty)
    #expect(table.tick(at: 1000).map { $0.rows.map(\.info.userID) } == [["u0"]])
    #expect(table.tick(at: 3000).isEmpty)
  }

  @Test func whatIsAsItWasToldIsNoChange() {
    var table = table(["a"])
    let told = row("a", 1)
    table.change("a", to: row("a", 2))
    table.change("a", to: told)
    #expect(table.tick(at: 0).isEmpty)
    table.change("a", to: row("a", 3))
    #expect(table.tick(at: 0).count == 1, "an event that said nothing has cost no second")
  }

  @Test func onlyWhoWasToldOfADeletedUserIsToldOfTheEnd() {
    var table = table(["a"])
    _ = table.watch(["b"], by: session(0), limit: 300)
    _ = table.answer(["b"], to: session(0))
    for user in ["a", "b"] as [UserID] {
      table.change(user, to: row(user, 3))
      table.change(user, to: row(user, 4, isKnown: false))
    }
    _ = table.watch(["a"], by: session(1), limit: 300)
    #expect(table.answer(["a"], to: session(1)).mapValues(\.isKnown) == ["a": false])
    let due = table.tick(at: 0)
    #expect(due.map(\.session) == [session(0)] && due.map { $0.rows.map(\.info.userID) } == [["a"]])
    // The same words, of a user who is known again.
    table.change("a", to: row("a", 4))
    #expect(table.tick(at: 1000).map(\.session) == [session(1)], "one had no row")
  }

  @Test func anEventWaitsForTheSession() {
    var table = table(["a"])
    _ = table.watch(["a"], by: session(1), limit: 300)
    _ = table.answer(["a"], to: session(1))
    table.change("a", to: row("a", 2))
    #expect(table.tick(at: 0) { $0 == session(1) }.map(\.session) == [session(1)])
    table.change("a", to: row("a", 3))
    let due = table.tick(at: 500)
    #expect(due.map(\.session) == [session(0)] && due.map { $0.rows.map(\.version) } == [[3]], "with the last row")
  }

  @Test func watchingAnewDoesNotShortenTheSecond() {
    var table = table(["a"])
    table.change("a", to: row("a", 2))
    #expect(table.tick(at: 0).count == 1)
    _ = table.unwatch(nil, by: session(0))
    _ = table.watch(["a"], by: session(0), limit: 300)
    table.change("a", to: row("a", 3))
    _ = table.answer(["a"], to: session(0))
    table.change("a", to: row("a", 4))
    #expect(table.tick(at: 999).isEmpty)
    #expect(table.tick(at: 1000).map { $0.rows.map(\.version) } == [[4]])
  }

  @Test(arguments: [(100, 300, 20), (1, 1000, 64)])
  func aTurnTellsSomeAndTheNextOnesTheOthers(rows: Int, sessions: Int, atOnce: Int) {
    var table = StatusTable()
    let watched = users(0..<rows)
    let many = (0..<sessions).map { _ in Token() }
    for token in many {
      _ = table.watch(watched, by: ObjectIdentifier(token), limit: 300)
      _ = table.answer(watched, to: ObjectIdentifier(token))
    }
    for user in watched { table.change(user, to: row(user, 1)) }
    table.beginTick(at: 0)
    var counts: [Int] = []
    while table.hasDue { counts.append(table.popDue(at: 0).count) }
    // Nobody is told before all changes are with all who watch: each gets them in one event.
    let turns = counts.prefix { $0 == 0 }.count
    #expect(turns == rows * sessions / StatusTable.maxWatchesAtOnce)
    let rest = sessions % atOnce
    let told = Array(counts.dropFirst(turns))
    #expect(told == Array(repeating: atOnce, count: sessions / atOnce) + (rest == 0 ? [] : [rest]))
    withExtendedLifetime(many) {}
  }

  /// A turn looks at some of those who watch a user; meanwhile they come and go, and the user changes again.
  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func whoComesAndGoesBetweenTheTurnsIsToldTheLastRow(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var table = StatusTable()
    let many = (0..<3 * StatusTable.maxWatchesAtOnce).map { _ in Token() }
    var told: [ObjectIdentifier: UInt32] = [:]
    func answer(_ token: Token) {
      _ = table.watch(["a"], by: ObjectIdentifier(token), limit: 300)
      told[ObjectIdentifier(token)] = table.answer(["a"], to: ObjectIdentifier(token)).first?.value.version ?? 0
    }
    var watching = Array(many.prefix(2 * StatusTable.maxWatchesAtOnce + 500))
    var others = Array(many.dropFirst(watching.count))
    for token in watching { answer(token) }
    table.change("a", to: row("a", 1))
    table.beginTick(at: 0)
    var version: UInt32 = 1
    while table.hasDue {
      for (session, rows) in table.popDue(at: 0) { told[session] = rows.last?.version }
      guard version < 5 else { continue }
      for _ in 0..<200 {
        let index = Int.random(in: watching.indices, using: &random)
        others.append(watching[index])
        _ = table.remove(ObjectIdentifier(watching[index]))
        watching[index] = others.removeFirst()
        answer(watching[index])
      }
      version += 1
      table.change("a", to: row("a", version))
    }
    // What came behind the tick is told with the next ones.
    for second in 1...3 {
      for (session, rows) in table.tick(at: MonotonicInstant(milliseconds: second * 1000)) { told[session] = rows.last?.version }
    }
    let late = watching.filter { told[ObjectIdentifier($0)] != version }
    #expect(late.isEmpty)
    withExtendedLifetime(many) {}
  }

  /// Else a turn would go through all sessions where a user is again what they were told of.
  @Test func aTurnLooksAtSoManyWhomItHasNothingToTell() {
    var table = StatusTable()
    let many = (0..<5000).map { _ in Token() }
    for token in many { _ = table.watch(["a"], by: ObjectIdentifier(token), limit: 300) }
    table.change("a", to: row("a", 1))
    for token in many { _ = table.answer(["a"], to: ObjectIdentifier(token)) }
    #expect(table.tick(at: 0).isEmpty)
    table.change("a", to: row("a", 2))
    table.beginTick(at: 1)
    var turns = 0
    while table.hasDue {
      #expect(table.popDue(at: 1).isEmpty)
      if turns == 0 { table.change("a", to: row("a", 1)) }
      turns += 1
    }
    // One for most who watch, one for the others and half of those who are ready, one for the other half.
    #expect(turns == 3)
    #expect(table.tick(at: 2).isEmpty)
    withExtendedLifetime(many) {}
  }

  /// Else a turn would look at it again and again.
  @Test func whoHasToWaitIsNotDueBeforeTheNextTick() {
    var table = table(["a"])
    table.change("a", to: row("a", 2))
    table.beginTick(at: 0)
    #expect(table.hasDue)
    #expect(table.popDue(at: 0) { _ in false }.isEmpty)
    #expect(!table.hasDue && !table.isEmpty)
    #expect(table.popDue(at: 0).isEmpty)
    table.beginTick(at: 0)
    #expect(table.hasDue)
    #expect(table.popDue(at: 0).count == 1)
    #expect(!table.hasDue)
  }

  @Test func theNumbersOfWhatHasGoneAreUsedAgain() {
    var table = StatusTable()
    for round in 0..<100 {
      for number in 0..<10 {
        _ = table.watch(users(round..<round + 20), by: session(number), limit: 300)
        _ = table.answer(users(round..<round + 20), to: session(number))
      }
      for user in users(round..<round + 20) { table.change(user, to: row(user, UInt32(round + 1))) }
      _ = table.tick(at: MonotonicInstant(milliseconds: round * 2000))
      for number in 0..<10 { _ = table.remove(session(number)) }
      _ = table.tick(at: MonotonicInstant(milliseconds: round * 2000 + 1000))
    }
    #expect(table.isEmpty && table.capacity.users <= 20 && table.capacity.sessions <= 10)
  }
}

extension StatusTable {
  /// Tells everybody whose event is due, as a loop does in the turns behind a tick.
  mutating func tick(
    at now: MonotonicInstant, where mayTell: (ObjectIdentifier) -> Bool = { _ in true }
  ) -> [(session: ObjectIdentifier, rows: [StatusRow])] {
    beginTick(at: now)
    var told: [(session: ObjectIdentifier, rows: [StatusRow])] = []
    while hasDue { told += popDue(at: now, where: mayTell) }
    return told
  }
}
