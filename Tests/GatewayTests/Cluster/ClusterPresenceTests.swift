import Cluster
import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import Gateway

/// Sessions that a node tells others of, and hears of from them.
@Suite struct ClusterPresenceTests {
  private struct Scene {
    let own, other: LinkPeer
    let presence: ClusterPresence
    let clocks: ManualClocks

    init() async throws {
      let network = InProcessNetwork()
      clocks = ManualClocks()
      own = LinkPeer(NodeNumber(1), on: network, clocks)
      other = LinkPeer(NodeNumber(2), on: network, clocks)
      presence = ClusterPresence(links: own.links, shards: ShardMap(), clocks: clocks)
      presence.start(as: own.number)
      try await LinkPeer.connect([own, other])
    }

    /// Tells the own node that the other has these users.
    func snapshot(_ users: UserID...) {
      let entries =
        [.snapshotBegan]
        + users.enumerated().map { index, user in
          .sessionBegan(user, session(UInt64(index + 1), on: other.number))
        } + [.snapshotEnded] as [ClusterEntry]
      for entry in entries { _ = presence.didReceive(entry, from: other.number) }
    }

    func session(_ connection: UInt64, on node: NodeNumber) -> ClusterSession {
      ClusterSession(
        key: SessionKey(on: node, loop: 0, connection: connection), platform: .iOS, deviceID: nil, order: 1, isCompleted: true)
    }
  }

  @Test func groupsHearOfASessionThatIsReplacedOnAnotherNode() async throws {
    let scene = try await Scene()
    scene.snapshot("mary")
    #expect(scene.presence.attach("g", to: "mary") == [scene.other.number])
    let later = SessionKey(loop: 0, connection: 7)
    scene.presence.begin(later, on: .iOS, deviceID: nil, of: "mary")
    let replacement = scene.presence.complete(later, of: "mary", limit: 1)
    #expect(replacement == ClusterPresence.Replacement(here: [], groups: ["g"]))
    #expect(scene.presence.otherNodes(of: "mary").isEmpty)
    #expect(scene.presence.attach("g", to: "mary").isEmpty)
  }

  /// The frames of a group are compressed on each node with members: who joins on one of them reads the
  /// lengths of those on all.
  @Test func eachNodeWithMembersIsToldOfAResetBeforeTheNextFrame() async throws {
    let scene = try await Scene()
    scene.snapshot("mary")
    let topic = ClusterTopic(
      "g", local: LocalTopic("g", directory: SessionDirectory()), presence: scene.presence, links: scene.own.links,
      tracer: Tracer(clocks: scene.clocks))
    topic.resetCompression()
    #expect(topic.attach("mary", receiving: .receive))
    topic.resetCompression()
    topic.publish([1], .control, except: nil)
    try await waitUntil("the frame has come") { scene.other.entries.contains { Self.name($0.entry) == "publish" } }
    #expect(scene.other.entries.map { Self.name($0.entry) } == ["attach", "resetCompression", "publish"])
  }

  private static func name(_ entry: ClusterEntry) -> String {
    switch entry {
    case .attach: "attach"
    case .resetCompression: "resetCompression"
    case .publish: "publish"
    default: "another"
    }
  }
}

/// News of users that a node has not confirmed.
@Suite struct UnconfirmedNewsTests {
  @Test func eachIsConfirmedForItself() {
    var news = UnconfirmedNews()
    for user in ["mary", "olga", "mary"] as [UserID] { news.add(user) }
    news.didConfirm("mary")
    news.didConfirm("olga")
    #expect(news.users == ["mary"], "the second news of her")
    news.didConfirm("mary")
    #expect(news.users == [])
    news.didConfirm("mary")
    #expect(news.users == [])
  }

  @Test func tooManyAreAll() {
    var news = UnconfirmedNews()
    for number in 0...UnconfirmedNews.maxUsers { news.add(UserID("u\(number)")!) }
    #expect(news.users == nil)
    for number in 0..<UnconfirmedNews.maxUsers { news.didConfirm(UserID("u\(number)")!) }
    #expect(news.users == nil)
    news.didConfirm("u1")
    #expect(news.users == [], "all are confirmed")
  }
}
