import Cluster
import GroupModel
import GroupRuntime
import Logging
import Testing
import ThrongTestKit

@testable import Gateway

/// The sessions of all users on all nodes, as a value.
@Suite struct PresenceTableTests {
  private let one = NodeNumber(1)
  private let two = NodeNumber(2)
  private let three = NodeNumber(3)

  private func session(
    _ connection: UInt64, on node: NodeNumber, _ platform: Platform = .iOS, device: String? = nil, order: UInt64 = 1,
    isCompleted: Bool = false
  ) -> ClusterSession {
    ClusterSession(
      key: SessionKey(on: node, loop: 0, connection: connection), platform: platform, deviceID: device, order: order,
      isCompleted: isCompleted)
  }

  @Test func aUserIsOnlineFromTheFirstCompletedSessionToTheEndOfTheLast() {
    var table = PresenceTable()
    let (first, second) = (session(1, on: one), session(2, on: two, order: 2))
    #expect(table.begin(first, of: "mary", on: one) == nil)
    #expect(table.isPresent("mary") && !table.isOnline("mary"))
    #expect(table.complete(first.key, of: "mary") == .init(user: "mary", platform: .iOS, isOnline: true))
    #expect(table.begin(second, of: "mary", on: two) == nil)
    #expect(table.complete(second.key, of: "mary") == nil)
    #expect(table.end(first.key, of: "mary")?.transition == nil)
    #expect(table.end(second.key, of: "mary")?.transition == .init(user: "mary", platform: .iOS, isOnline: false))
    #expect(table.userCount == 0 && table.sessionCount == 0)
  }

  @Test func aUserWhoNeverSignedInWasNeverOnline() {
    var table = PresenceTable()
    let only = session(1, on: one)
    table.begin(only, of: "mary", on: one)
    #expect(table.end(only.key, of: "mary")?.transition == nil)
  }

  @Test func anEndThatIsToldTwiceCountsOnce() {
    var table = PresenceTable()
    let only = session(1, on: one, isCompleted: true)
    #expect(table.begin(only, of: "mary", on: one)?.isOnline == true)
    #expect(table.end(only.key, of: "mary") != nil)
    #expect(table.end(only.key, of: "mary") == nil)
  }

  @Test func aSessionThatIsToldTwiceIsOne() {
    var table = PresenceTable()
    table.begin(session(1, on: one), of: "mary", on: one)
    #expect(table.begin(session(1, on: one, isCompleted: true), of: "mary", on: one)?.isOnline == true)
    #expect(table.sessionCount == 1)
  }

  @Test func nodesAreThoseWithSessions() {
    var table = PresenceTable()
    table.begin(session(1, on: one), of: "mary", on: one)
    table.begin(session(2, on: two, order: 2), of: "mary", on: two)
    table.begin(session(3, on: two, order: 3), of: "mary", on: two)
    #expect(table.nodes(of: "mary") == [one, two])
    #expect(table.end(session(2, on: two).key, of: "mary")?.endsOnNode == false)
    #expect(table.end(session(3, on: two).key, of: "mary")?.endsOnNode == true)
    #expect(table.nodes(of: "mary") == [one])
    #expect(table.nodes(of: "olga") == [])
  }

  // MARK: Replacement

  @Test func aLaterSessionOfThePlatformReplacesTheOldestOnAnyNode() {
    var table = PresenceTable()
    table.begin(session(1, on: one), of: "mary", on: one)
    #expect(table.nextOrder(of: "mary") == 2)
    let later = session(2, on: two, order: table.nextOrder(of: "mary"))
    table.begin(later, of: "mary", on: two)
    #expect(table.replaced(by: later.key, of: "mary", limit: 1)?.map(\.session.key) == [session(1, on: one).key])
    #expect(table.replaced(by: session(1, on: one).key, of: "mary", limit: 1)?.isEmpty == true, "not the later one")
    #expect(table.replaced(by: later.key, of: "mary", limit: 2)?.isEmpty == true)
  }

  /// Two that began at once do not know of each other: all nodes decide alike.
  @Test func ofTwoThatBeganAtOnceTheNodesNumberDecides() {
    for isSwapped in [false, true] {
      var table = PresenceTable()
      let (a, b) = (session(1, on: one), session(1, on: two))
      for (entry, node) in isSwapped ? [(b, two), (a, one)] : [(a, one), (b, two)] { table.begin(entry, of: "mary", on: node) }
      #expect(table.replaced(by: a.key, of: "mary", limit: 1)?.isEmpty == true)
      #expect(table.replaced(by: b.key, of: "mary", limit: 1)?.map(\.node) == [one])
    }
  }

  @Test func theSameDeviceIsReplacedOnAnyPlatform() {
    var table = PresenceTable()
    table.begin(session(1, on: one, .web, device: "d"), of: "mary", on: one)
    table.begin(session(2, on: two, .web, device: "e", order: 2), of: "mary", on: two)
    let later = session(3, on: three, .web, device: "d", order: 3)
    table.begin(later, of: "mary", on: three)
    #expect(table.replaced(by: later.key, of: "mary", limit: 10)?.map(\.node) == [one])
  }

  @Test func aSessionThatHasEndedReplacesNothing() {
    let table = PresenceTable()
    #expect(table.replaced(by: session(1, on: one).key, of: "mary", limit: 1) == nil)
  }

  // MARK: Snapshots

  @Test func aSnapshotTellsWhatHasEndedAndBegun() {
    var table = PresenceTable()
    table.begin(session(1, on: one), of: "mary", on: one)
    table.begin(session(2, on: one, order: 2), of: "olga", on: one)
    table.begin(session(3, on: two, order: 1), of: "rita", on: two)
    let found: [UserID: [ClusterSession]] = [
      "mary": [session(1, on: one, isCompleted: true)], "nora": [session(4, on: one)],
    ]
    let (ended, begun) = table.differences(on: one, to: found)
    #expect(ended.map(\.0) == ["olga"])
    #expect(Set(begun.map(\.0)) == ["mary", "nora"], "mary has completed since")
    let nothing = table.differences(on: three, to: [:])
    #expect(nothing.ended.isEmpty && nothing.begun.isEmpty)
  }

  // MARK: Groups

  @Test func groupsHearOfTheEndOnANode() {
    var table = PresenceTable()
    table.begin(session(1, on: one), of: "mary", on: one)
    let (first, second) = (TopicNumber(), TopicNumber())
    table.attach("g", to: "mary", by: first)
    table.detach("g", from: "mary", by: first)
    #expect(table.groups(of: "mary") == [])
    table.attach("g", to: "mary", by: second)
    table.detach("g", from: "mary", by: first)
    #expect(table.groups(of: "mary") == ["g"], "a later topic has attached her")
    #expect(table.end(session(1, on: one).key, of: "mary")?.groups == ["g"])
    table.attach("g", to: "mary", by: second)
    #expect(table.groups(of: "mary") == [], "a user without a session has none attached")
  }

  /// The group may have attached the user's other sessions while the news was on its way.
  @Test func aGroupHearsOfAUsersFirstSessionOnEachNode() {
    let clocks = ManualClocks()
    let links = ClusterLinks(
      bus: InProcessNetwork().bus("one"), key: .ofTests, clocks: clocks,
      logger: Logger(label: "links") { _ in SwiftLogNoOpLogHandler() })
    let presence = ClusterPresence(links: links, shards: ShardMap(), clocks: clocks)
    presence.start(as: one)
    presence.begin(session(1, on: one).key, on: .iOS, deviceID: nil, of: "mary")
    let topic = TopicNumber()
    #expect(presence.attach("g", to: "mary", by: topic) == [])
    func begin(_ connection: UInt64, on node: NodeNumber) -> [ClusterPresence.Change] {
      presence.didReceive(.sessionBegan("mary", session(connection, on: node, .web)), from: node)
    }
    #expect(begin(2, on: two) == [ClusterPresence.Change(user: "mary", groups: ["g"])])
    #expect(begin(3, on: two) == [])
    #expect(begin(4, on: three) == [ClusterPresence.Change(user: "mary", groups: ["g"])])
    presence.detach("g", from: "mary", by: topic)
    _ = presence.didReceive(.sessionEnded("mary", session(4, on: three).key), from: three)
    #expect(begin(5, on: three) == [])
  }

  /// They are looked up in several steps.
  @Test func manyUsersAreLookedUpAndDetached() async throws {
    let links = ClusterLinks(
      bus: InProcessNetwork().bus("one"), key: .ofTests, clocks: ManualClocks(),
      logger: Logger(label: "links") { _ in SwiftLogNoOpLogHandler() })
    let presence = ClusterPresence(links: links, shards: ShardMap(), clocks: ManualClocks())
    presence.start(as: one)
    let users = (0..<2 * ClusterPresence.batchSize + 1).map { UserID(stringLiteral: "user\($0)") }
    let present = users.indices.filter { $0 % 3 == 0 }.map { users[$0] }
    let (first, second) = (TopicNumber(), TopicNumber())
    for (number, user) in present.enumerated() {
      presence.begin(SessionKey(loop: 0, connection: UInt64(number)), on: .iOS, deviceID: nil, of: user)
      _ = presence.attach("g", to: user, by: user == present[0] ? second : first)
    }
    #expect(presence.signedIn(among: users) == present)
    presence.detach("g", fromAll: users, by: first)
    // Of a user who signs in on another node the groups that have attached this one hear.
    func hearing(_ user: UserID, _ connection: UInt64) -> [GroupID] {
      presence.didReceive(.sessionBegan(user, session(connection, on: two, .web)), from: two).flatMap(\.groups)
    }
    let last = present[present.count - 1]
    var connection: UInt64 = 10_000
    try await waitUntil("the last one is detached") {
      connection += 1
      let groups = hearing(last, connection)
      _ = presence.didReceive(.sessionEnded(last, session(connection, on: two).key), from: two)
      return groups.isEmpty
    }
    #expect(hearing(present[0], 9_000) == ["g"], "a later topic has attached that user")
  }

  @Test func theLargestNumberOfASessionIsNoFault() {
    var table = PresenceTable()
    table.begin(session(1, on: one, order: .max), of: "mary", on: one)
    #expect(table.nextOrder(of: "mary") == .max)
  }

  @Test func groupsThatLookedInVainAreToldOnce() {
    var absent = AbsentAttachments()
    let start = MonotonicInstant(nanoseconds: 0)
    absent.add("g", "mary", at: start)
    absent.add("h", "mary", at: start)
    absent.add("g", "olga", at: start)
    #expect(absent.remove("mary") == ["g", "h"])
    #expect(absent.remove("mary") == [])
    absent.add("i", "rita", at: start + AbsentAttachments.lifetime + .seconds(1))
    #expect(absent.remove("olga") == [], "long ago")
    #expect(absent.remove("rita") == ["i"])
  }

  @Test func anAttemptIsRememberedForAsLongAsANodeMayNotBeHeardWhateverCameBeforeIt() {
    var absent = AbsentAttachments()
    let start = MonotonicInstant(nanoseconds: 0)
    // One more in vain, and one that was not: the newest counts.
    absent.add("g", "mary", at: start)
    absent.add("g", "olga", at: start)
    #expect(absent.remove("olga") == ["g"])
    let later = start + AbsentAttachments.lifetime
    absent.add("g", "mary", at: later)
    absent.add("g", "olga", at: later)
    absent.add("i", "rita", at: later + .seconds(1))
    #expect(absent.remove("mary") == ["g"])
    #expect(absent.remove("olga") == ["g"])
    absent.add("g", "mary", at: start + .seconds(100))
    absent.add("i", "rita", at: start + .seconds(118))
    #expect(absent.remove("mary") == ["g"], "a node waits for 10 s, and asks for its links again for 8 s")
  }
}
