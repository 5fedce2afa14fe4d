import Cluster
import GroupModel
import GroupRuntime
import Logging
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

    /// A topic of a group of the own node.
    func topic() -> ClusterTopic {
      let (directory, shards) = (SessionDirectory(), ShardMap())
      let requests = RemoteRequests(links: own.links, clocks: clocks)
      let followed = FollowedTopics(
        directory: directory, shards: shards, links: own.links, requests: requests,
        router: ShardRouter(shards: shards, links: own.links, requests: requests, clocks: clocks), clocks: clocks,
        logger: Logger(label: "own") { _ in SwiftLogNoOpLogHandler() }, isOnBus: { true })
      return ClusterTopic(
        "g", on: own.number, in: 5, directory: directory, presence: presence, links: own.links, requests: requests,
        followed: followed, topics: OwnTopics(), tracer: Tracer(clocks: clocks))
    }

    /// What the other node was told of the group.
    var units: [TopicUnit] {
      other.entries.compactMap { entry, _ in
        if case .unit("g", let unit) = entry { unit } else { nil }
      }
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
    #expect(scene.presence.attach("g", to: "mary", by: TopicNumber()) == [scene.other.number])
    let later = SessionKey(loop: 0, connection: 7)
    scene.presence.begin(later, on: .iOS, deviceID: nil, of: "mary")
    let replacement = scene.presence.complete(later, of: "mary", limit: 1)
    #expect(replacement == ClusterPresence.Replacement(here: [], groups: ["g"]))
    #expect(scene.presence.otherNodes(of: "mary").isEmpty)
    #expect(scene.presence.attach("g", to: "mary", by: TopicNumber()).isEmpty)
  }

  /// The frames of a group are compressed on each node with members: who joins on one of them reads the
  /// lengths of those on all.
  @Test func eachNodeWithMembersIsToldOfAResetBeforeTheNextFrame() async throws {
    let scene = try await Scene()
    scene.snapshot("mary")
    let topic = scene.topic()
    topic.resetCompression()
    #expect(topic.attach("mary", receiving: .receive))
    topic.resetCompression()
    topic.publish([1], .control, except: nil)
    try await waitUntil("the frame has come") { scene.units.count == 3 }
    #expect(
      scene.units == [
        TopicUnit(nil, [.follow([AttachedUser("mary", .receive)], term: 5)]), TopicUnit(nil, [.resetCompression]),
        TopicUnit(nil, [.publish(.control, except: nil, frame: [1])]),
      ])
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

  @Test func severalAreConfirmedTogether() {
    var (news, late) = (UnconfirmedNews(), UnconfirmedNews())
    for user in ["mary", "olga", "mary"] as [UserID] {
      news.add(user)
      late.add(user)
    }
    news.add("olga")
    news.didConfirm(late)
    #expect(news.users == ["olga"] && !news.isEmpty, "the second news of her came later")
    late.add(news)
    #expect(late.users == ["mary", "olga"])
    for user in ["mary", "mary", "olga"] as [UserID] { late.didConfirm(user) }
    #expect(late.users == ["olga"])
    late.didConfirm(news)
    #expect(late.isEmpty && late.users == [])
  }

  @Test func whatWasToldAgainMeanwhileConfirmsNothingElse() {
    var (news, late) = (UnconfirmedNews(), UnconfirmedNews())
    news.add("mary")
    late.add("olga")
    news.didConfirm("olga")
    news.didConfirm(late)
    #expect(news.users == ["mary"])
  }

  @Test func tooManyTogetherAreAll() {
    var (news, more) = (UnconfirmedNews(), UnconfirmedNews())
    for number in 0..<UnconfirmedNews.maxUsers { news.add(UserID("u\(number)")!) }
    more.add("another")
    let first = news
    news.add(more)
    #expect(news.users == nil)
    news.didConfirm(first)
    #expect(news.users == nil && !news.isEmpty, "nobody knows whose is left")
    news.didConfirm(more)
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
