import Cluster
import GroupModel
import GroupRuntime
import Logging
import Synchronization
import Testing
import ThrongTestKit

@testable import Gateway

/// The changes of users' platforms, as the sessions of one node and of all nodes tell them.
@Suite struct SessionPlatformsTests {
  /// Keeps what it is told, and says that some users have just gone.
  private final class Observer: SessionObserver {
    struct Note: Equatable, Sendable {
      let user: UserID
      let last: PlatformSet
      let platforms: PlatformSet
    }

    let notes = Mutex<[Note]>([])
    let gone: [UserID: UserPresence]

    init(gone: [UserID: UserPresence] = [:]) { self.gone = gone }

    func sessionsChanged(of user: UserID, from last: PlatformSet, to platforms: PlatformSet) {
      notes.withLock { $0.append(Note(user: user, last: last, platforms: platforms)) }
    }

    func lingering(among users: [UserID]) -> [UserID: UserPresence] { gone.filter { users.contains($0.key) } }

    /// The platforms of a user, in the order of the notes.
    func platforms(of user: UserID = "u") -> [[Platform]] {
      notes.withLock { $0.filter { $0.user == user }.map(\.platforms.platforms) }
    }

    /// Whether each note begins where the last one of its user has ended.
    var isWhole: Bool {
      var last: [UserID: PlatformSet] = [:]
      return notes.withLock { notes in
        for note in notes {
          guard note.last == last[note.user] ?? [], note.last != note.platforms else { return false }
          last[note.user] = note.platforms
        }
        return true
      }
    }
  }

  @Test func aPlatformIsASetOfItsOwn() {
    for platform in Platform.allCases { #expect(PlatformSet(platform: platform).platforms == [platform]) }
    #expect(PlatformSet(Platform.allCases.map { PlatformSet(platform: $0) }).platforms == Platform.allCases)
  }

  // MARK: One node

  @Test func signedInSessionsCountAndOthersDoNot() async throws {
    let made = try await BareSessions(6)
    let observer = Observer()
    let directory = SessionDirectory(statuses: observer)
    func register(_ number: Int, _ platform: Platform) { directory.register(made.entry(number, platform), of: "u") }
    register(0, .iOS)
    #expect(observer.platforms() == [], "not before it has signed in")
    _ = directory.completeSignIn(of: made[0], by: "u", limit: 1)
    register(1, .web)
    register(2, .web)
    _ = directory.completeSignIn(of: made[1], by: "u", limit: 10)
    _ = directory.completeSignIn(of: made[2], by: "u", limit: 10)
    #expect(observer.platforms() == [[.iOS], [.iOS, .web]], "a second session of a platform is no change")
    _ = directory.unregister(made[1], of: "u")
    _ = directory.unregister(made[0], of: "u")
    register(3, .mac)
    _ = directory.unregister(made[3], of: "u")
    _ = directory.unregister(made[2], of: "u")
    _ = directory.unregister(made[2], of: "u")
    #expect(observer.platforms() == [[.iOS], [.iOS, .web], [.web], []], "the end once")
    #expect(observer.isWhole)
  }

  @Test func aReplacementIsNoChange() async throws {
    let made = try await BareSessions(2)
    let observer = Observer()
    let directory = SessionDirectory(statuses: observer)
    for number in 0..<2 {
      directory.register(made.entry(number, .iOS), of: "u")
      #expect(directory.completeSignIn(of: made[number], by: "u", limit: 1)?.count == number)
    }
    _ = directory.unregister(made[0], of: "u")
    #expect(observer.platforms() == [[.iOS]])
    #expect(directory.presences(of: ["u", "v"]) == [UserPresence(platforms: PlatformSet(platform: .iOS)), UserPresence()])
  }

  @Test func whoHasJustGoneIsAskedFor() async throws {
    let made = try await BareSessions(2)
    let gone = UserPresence(lastOnline: 7)
    let observer = Observer(gone: ["u": gone, "v": gone])
    let directory = SessionDirectory(statuses: observer)
    directory.register(made.entry(0, .iOS), of: "u")
    #expect(directory.presences(of: ["w", "v", "u"]) == [UserPresence(), gone, gone], "u is signing in")
    _ = directory.completeSignIn(of: made[0], by: "u", limit: 1)
    #expect(directory.presences(of: ["u"]).map(\.isOnline) == [true])
  }

  // MARK: Several nodes

  private func session(
    _ connection: UInt64, on node: NodeNumber, _ platform: Platform, isCompleted: Bool = true
  ) -> ClusterSession {
    ClusterSession(
      key: SessionKey(on: node, loop: 0, connection: connection), platform: platform, deviceID: nil, order: connection,
      isCompleted: isCompleted)
  }

  private func presence(_ observer: Observer) -> ClusterPresence {
    let clocks = ManualClocks()
    let links = ClusterLinks(
      bus: InProcessNetwork().bus("one"), key: .ofTests, clocks: clocks,
      logger: Logger(label: "links") { _ in SwiftLogNoOpLogHandler() })
    let presence = ClusterPresence(links: links, shards: ShardMap(), clocks: clocks)
    presence.statuses = observer
    presence.start(as: NodeNumber(1))
    return presence
  }

  @Test func platformsAreThoseOfAllNodes() {
    let (two, three) = (NodeNumber(2), NodeNumber(3))
    let observer = Observer()
    let presence = presence(observer)
    let own = SessionKey(loop: 0, connection: 9)
    _ = presence.didReceive(.sessionBegan("u", session(1, on: two, .iOS, isCompleted: false)), from: two)
    #expect(observer.platforms() == [])
    _ = presence.didReceive(.sessionCompleted("u", session(1, on: two, .iOS).key), from: two)
    _ = presence.didReceive(.sessionBegan("u", session(2, on: three, .iOS)), from: three)
    presence.begin(own, on: .web, deviceID: nil, of: "u")
    _ = presence.complete(own, of: "u", limit: 1)
    _ = presence.didReceive(.sessionEnded("u", session(1, on: two, .iOS).key), from: two)
    _ = presence.drop(three)
    _ = presence.end(own, of: "u")
    _ = presence.end(own, of: "u")
    #expect(observer.platforms() == [[.iOS], [.iOS, .web], [.web], []])
    #expect(observer.isWhole)
    withExtendedLifetime(observer) {}
  }

  /// Those of a node that has gone end in several steps, and each user is told of once.
  @Test func theSessionsOfANodeThatHasGoneEnd() {
    let (two, three) = (NodeNumber(2), NodeNumber(3))
    let observer = Observer()
    let presence = presence(observer)
    let users = (0...2 * ClusterPresence.endsAtOnce).map { UserID(stringLiteral: "user\($0)") }
    for (index, user) in users.enumerated() {
      let number = UInt64(index) * 3
      for connection in [number, number + 1] {
        _ = presence.didReceive(.sessionBegan(user, session(connection, on: two, .iOS)), from: two)
      }
      if index.isMultiple(of: 5) {
        _ = presence.didReceive(.sessionBegan(user, session(number + 2, on: three, .web)), from: three)
      }
    }
    #expect(presence.drop(two).isEmpty, "no group of this node has attached them")
    #expect(presence.sessionCount == users.count / 5 + 1 && presence.userCount == presence.sessionCount)
    for (index, user) in users.enumerated() {
      let isThere = index.isMultiple(of: 5)
      #expect(observer.platforms(of: user) == (isThere ? [[.iOS], [.iOS, .web], [.web]] : [[.iOS], []]))
      #expect(presence.otherNodes(of: user) == (isThere ? [three] : []))
    }
    #expect(presence.drop(two).isEmpty && observer.isWhole)
    withExtendedLifetime(observer) {}
  }

  /// A node whose link begins anew tells all its sessions.
  @Test func aSnapshotTellsTheDifferences() {
    let two = NodeNumber(2)
    let observer = Observer()
    let presence = presence(observer)
    func snapshot(_ sessions: [(UserID, ClusterSession)]) {
      let entries = [.snapshotBegan] + sessions.map { .sessionBegan($0.0, $0.1) } + [.snapshotEnded] as [ClusterEntry]
      for entry in entries { _ = presence.didReceive(entry, from: two) }
    }
    snapshot([("u", session(1, on: two, .iOS)), ("v", session(2, on: two, .web))])
    snapshot([("u", session(3, on: two, .iOS))])
    #expect(observer.platforms() == [[.iOS]], "a user who has come back has not been away")
    #expect(observer.platforms(of: "v") == [[.web], []])
    #expect(observer.isWhole)
    #expect(presence.presences(of: ["v", "u"]).map(\.isOnline) == [false, true])
    withExtendedLifetime(observer) {}
  }

  /// A sign-in that takes another node's place.
  @Test func aReplacementOnAnotherNodeIsNoChange() {
    let two = NodeNumber(2)
    let observer = Observer()
    let presence = presence(observer)
    let own = SessionKey(loop: 0, connection: 9)
    _ = presence.didReceive(.sessionBegan("u", session(1, on: two, .iOS)), from: two)
    presence.begin(own, on: .iOS, deviceID: nil, of: "u")
    _ = presence.complete(own, of: "u", limit: 1)
    #expect(observer.platforms() == [[.iOS]])
    #expect(presence.otherNodes(of: "u").isEmpty)
    withExtendedLifetime(observer) {}
  }
}
