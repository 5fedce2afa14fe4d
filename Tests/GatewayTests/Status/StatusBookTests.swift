import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit
import WireProtocol

@testable import Gateway

/// The statuses that a node knows (Protocol.md, "Presence"), as a value.
@Suite struct StatusBookTests {
  private static let grace = Duration.seconds(5)
  private static let phone = PlatformSet(platform: .iOS)
  private static let web = PlatformSet(platform: .web)

  /// A book in which loop 0 watches some users whose rows were read.
  private func book(
    grace: Duration = StatusBookTests.grace, _ readings: StatusReading...
  ) -> StatusBook {
    var book = StatusBook(grace: grace)
    _ = book.watch(readings.map(\.user), on: 0)
    _ = book.fill(readings, since: book.newsCount)
    return book
  }

  private func stored(
    _ user: UserID, _ customStatus: String = "", offlineSince: WallInstant? = nil, on platforms: PlatformSet = []
  ) -> StatusReading {
    StatusReading(
      user, StoredStatus(userID: user, customStatus: customStatus, offlineSince: offlineSince),
      UserPresence(platforms: platforms))
  }

  private func row(
    _ user: UserID, _ platforms: [Platform] = [], _ customStatus: String = "", lastOnline: WallInstant = .unset
  ) -> UserStatusInfo {
    UserStatusInfo(userID: user, platformList: platforms, customStatus: customStatus, lastOnlineTime: lastOnline)
  }

  // MARK: Sessions and graces

  @Test func onlineWithTheFirstSessionAndOfflineTheGraceBehindTheLast() {
    var book = book(stored("mary", offlineSince: 7))
    let came = book.sessionsChanged(of: "mary", from: [], to: Self.phone, at: 1000)
    #expect(came?.row.info == row("mary", [.iOS]) && came?.loops == [0])
    #expect(book.sessionsChanged(of: "mary", from: Self.phone, to: [], at: 2000) == nil, "the grace begins")
    #expect(book.lingering("mary", at: 6999) == UserPresence(platforms: Self.phone))
    #expect(book.popEnds(at: 6999).isEmpty)
    let gone = book.popEnds(at: 7000)
    #expect(gone.map(\.row.info) == [row("mary", lastOnline: 2000)])
    #expect(book.popEnds(at: 7000).isEmpty, "once")
    #expect(book.lingering("mary", at: 7000) == nil, "the store has heard of it")
    #expect(book.lingeringCount == 0)
  }

  /// Else a tick would hold the lock of all loops for as long as there are users who have gone at once.
  @Test func ofVeryManyGracesSomeEndWithEachTick() {
    let users = (0..<StatusBook.endsAtOnce + 500).map { UserID(stringLiteral: "user\($0)") }
    var book = StatusBook(grace: Self.grace)
    _ = book.watch(users, on: 0)
    _ = book.fill(users.map { stored($0, on: Self.phone) }, since: book.newsCount)
    for user in users { #expect(book.sessionsChanged(of: user, from: Self.phone, to: [], at: 1000) == nil) }
    let first = book.popEnds(at: 6000)
    #expect(first.map(\.user) == Array(users.prefix(StatusBook.endsAtOnce)))
    #expect(book.lingering(users[users.count - 1], at: 6000) == UserPresence(lastOnline: 1000), "it has ended all the same")
    let second = book.popEnds(at: 6100)
    #expect(second.map(\.user) == Array(users.dropFirst(StatusBook.endsAtOnce)))
    #expect(second.allSatisfy { $0.row.info.lastOnlineTime == 1000 && $0.row.info.platformList.isEmpty })
    #expect(book.popEnds(at: 6200).isEmpty)
    #expect(book.lingeringCount == 0 && book.markCount == 0)
  }

  @Test func aReturnWithinTheGraceIsNoChange() {
    var book = book(stored("mary", on: Self.phone))
    #expect(book.sessionsChanged(of: "mary", from: Self.phone, to: [], at: 1000) == nil)
    #expect(book.sessionsChanged(of: "mary", from: [], to: Self.phone, at: 5999) == nil)
    #expect(book.popEnds(at: 60_000).isEmpty, "the end of the first grace is void")
    #expect(book.lingering("mary", at: 6000) == nil)
  }

  @Test func aReturnOnAnotherPlatformIsAChangeOfPlatformList() {
    var book = book(stored("mary", on: Self.phone))
    #expect(book.sessionsChanged(of: "mary", from: Self.phone, to: [], at: 1000) == nil)
    #expect(book.sessionsChanged(of: "mary", from: [], to: Self.web, at: 2000)?.row.info == row("mary", [.web]))
  }

  @Test func platformsAreNamedOnceInTheirOrder() {
    var book = book(stored("mary"))
    let all = book.sessionsChanged(of: "mary", from: [], to: [Self.web, PlatformSet(platform: .android), Self.phone], at: 1000)
    #expect(all?.row.info.platformList == [.iOS, .android, .web])
    let less = book.sessionsChanged(of: "mary", from: [Self.web, Self.phone], to: Self.web, at: 2000)
    #expect(less?.row.info.platformList == [.web])
    #expect(book.sessionsChanged(of: "mary", from: Self.web, to: [], at: 3000) == nil, "with the last session's platforms")
    #expect(book.lingering("mary", at: 3001)?.platforms == Self.web)
  }

  @Test func withoutAGraceTheEndIsToldWithTheNextTick() {
    var book = book(grace: .zero, stored("mary", on: Self.phone))
    #expect(book.sessionsChanged(of: "mary", from: Self.phone, to: [], at: 1000) == nil)
    #expect(book.lingering("mary", at: 1000) == UserPresence(lastOnline: 1000), "rows say it at once")
    #expect(book.popEnds(at: 1000).map(\.row.info) == [row("mary", lastOnline: 1000)])
    #expect(book.lingering("mary", at: 3999)?.lastOnline == 1000, "the store may not have heard of it")
    #expect(book.popEnds(at: 4000).isEmpty)
    #expect(book.lingeringCount == 0)
  }

  @Test func whoGoesIsKnownWithoutBeingWatched() {
    var book = StatusBook(grace: Self.grace)
    #expect(book.sessionsChanged(of: "mary", from: Self.phone, to: [], at: 1000) == nil)
    #expect(book.lingering("mary", at: 1001)?.isOnline == true && book.lingering("olga", at: 1001) == nil)
    #expect(book.popEnds(at: 6000).isEmpty)
    #expect(book.lingeringCount == 0 && book.watchedCount == 0)
  }

  @Test func usersWhoComeAndGoLeaveNothing() {
    var book = StatusBook(grace: .seconds(3600))
    for number in 0..<10_000 as Range<Int64> {
      _ = book.sessionsChanged(of: "mary", from: Self.phone, to: [], at: ClockReading(both: number))
      _ = book.sessionsChanged(of: "mary", from: [], to: Self.phone, at: ClockReading(both: number))
    }
    #expect(book.lingeringCount == 0 && book.markCount < 200)
  }

  // MARK: Custom statuses

  @Test func anotherCustomStatusIsAChangeAndTheSameIsNone() {
    var book = book(stored("mary", "busy"))
    #expect(book.statusChanged(of: "mary", to: "busy") == nil)
    #expect(book.statusChanged(of: "mary", to: "")?.row.info == row("mary"))
    #expect(book.statusChanged(of: "olga", to: "x") == nil, "nobody watches her")
  }

  @Test func aRowThatComesBackIsTheSame() throws {
    var book = book(stored("mary"))
    let rows = ["a", "b", "a"].compactMap { book.statusChanged(of: "mary", to: $0)?.row }
    try #require(rows.count == 3)
    #expect(rows[0].version == rows[2].version && rows[0].version != rows[1].version)
    #expect(rows[0].text.text == JSONWriter.text { $0.value(rows[0].info) })
  }

  // MARK: Unknown users

  @Test func unknownUsersAreHeardOfFromTheirFirstSession() {
    var book = book(StatusReading("mary", nil, UserPresence()))
    #expect(book.watchedUsers == ["mary"])
    #expect(book.watch(["mary"], on: 1).isEmpty, "no row")
    let came = book.sessionsChanged(of: "mary", from: [], to: Self.web, at: 1000)
    #expect(came?.row.info == row("mary", [.web]) && came?.loops == [0, 1])
  }

  @Test func aDeletedUserHasNoRow() {
    var book = book(stored("mary", "busy", on: Self.phone))
    _ = book.sessionsChanged(of: "mary", from: Self.phone, to: [], at: 1000)
    let gone = book.forget("mary")
    #expect(gone?.row.info == row("mary") && gone?.row.isKnown == false, "who was told of her is told that")
    #expect(gone?.loops == [0])
    #expect(book.lingering("mary", at: 1001) == nil, "the grace ends at once")
    #expect(book.forget("mary") == nil)
    #expect(book.popEnds(at: 60_000).isEmpty)
    #expect(book.watch(["mary"], on: 1).map(\.row.isKnown) == [false])
    #expect(book.fill([StatusReading("mary", nil, UserPresence())], since: book.newsCount).isEmpty)
    let again = book.sessionsChanged(of: "mary", from: [], to: Self.web, at: 61_000)
    #expect(again?.row.info == row("mary", [.web]) && again?.row.isKnown == true, "the custom status went")
  }

  // MARK: Reading

  @Test func beforeTheStoreWasReadThereIsNoRow() {
    var book = StatusBook(grace: Self.grace)
    #expect(book.watch(["mary"], on: 0).isEmpty)
    let mark = book.newsCount
    #expect(book.sessionsChanged(of: "mary", from: [], to: Self.phone, at: 1000) == nil)
    #expect(book.statusChanged(of: "mary", to: "new") == nil)
    let changes = book.fill([stored("mary", "old", offlineSince: 5)], since: mark)
    #expect(changes.map(\.row.info) == [row("mary", [.iOS], "new")], "later news wins")
  }

  @Test func eachPartOfWhatWasReadCountsForItself() {
    for isSession in [false, true] {
      var book = StatusBook(grace: Self.grace)
      _ = book.watch(["mary"], on: 0)
      let mark = book.newsCount
      if isSession {
        _ = book.sessionsChanged(of: "mary", from: [], to: Self.phone, at: 1000)
      } else {
        _ = book.statusChanged(of: "mary", to: "new")
      }
      let info = book.fill([stored("mary", "old", offlineSince: 5)], since: mark).first?.row.info
      #expect(info == (isSession ? row("mary", [.iOS], "old") : row("mary", [], "new", lastOnline: 5)))
    }
  }

  @Test func whatIsReadAgainMendsWhatNewsHasMissed() {
    var book = book(stored("mary", "old", on: Self.phone), stored("olga"))
    let changes = book.fill([stored("mary", "new", on: Self.phone), stored("olga")], since: book.newsCount)
    #expect(changes.map(\.row.info) == [row("mary", [.iOS], "new")], "and tells nothing else")
  }

  /// The node that writes the store has its own time of an end.
  @Test func anotherMillisecondOfAnEndIsNoChange() {
    var book = book(stored("mary", offlineSince: 10_000))
    #expect(book.fill([stored("mary", offlineSince: 12_999)], since: book.newsCount).isEmpty)
    #expect(book.fill([stored("mary", offlineSince: 7001)], since: book.newsCount).isEmpty)
    let later = book.fill([stored("mary", offlineSince: 13_000)], since: book.newsCount)
    #expect(later.map(\.row.info) == [row("mary", lastOnline: 13_000)], "news of a session was missed")
  }

  @Test func theLaterOfTwoEndsCounts() {
    let lingering = UserPresence(lastOnline: 900)
    let reading = StatusReading("mary", StoredStatus(userID: "mary", customStatus: "", offlineSince: 500), lingering)
    #expect(reading.info == row("mary", lastOnline: 900))
    #expect(StatusReading("mary", nil, lingering).isKnown, "the store may not have heard of her")
    #expect(StatusReading("mary", nil, UserPresence()).info == nil)
    let online = StatusReading(
      "mary", StoredStatus(userID: "mary", customStatus: "", offlineSince: 500), UserPresence(platforms: Self.web))
    #expect(online.info == row("mary", [.web]), "0 for who is online")
  }

  // MARK: Loops

  @Test func onlyLoopsThatWatchAreTold() {
    var book = book(stored("mary"))
    #expect(book.watch(["mary"], on: 2).map(\.loops) == [[2]], "the row that is known")
    #expect(book.statusChanged(of: "mary", to: "a")?.loops == [0, 2])
    book.unwatch(["mary"], on: 0)
    #expect(book.statusChanged(of: "mary", to: "b")?.loops == [2])
    book.unwatch(["mary"], on: 2)
    #expect(book.statusChanged(of: "mary", to: "c") == nil)
    #expect(book.watchedCount == 0)
    #expect(book.fill([stored("mary")], since: book.newsCount).isEmpty)
  }
}
