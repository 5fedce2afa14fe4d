import Cluster
import GroupModel
import GroupRuntime
import Logging
import Synchronization
import Testing
import ThrongTestKit

@testable import Gateway

/// What the owner of a group tells the nodes with members, decision by decision.
@Suite struct ClusterTopicTests {
  private struct Scene {
    let own, other, third: LinkPeer
    let presence: ClusterPresence
    /// Of the topic. What is delivered has another one, without sessions.
    let directory = SessionDirectory()
    let followed: FollowedTopics
    let requests: RemoteRequests
    let topic: ClusterTopic
    let topics = OwnTopics()
    let clocks = ManualClocks()

    /// The requests that wait for replies: made behind the links that bring them.
    private final class Waiting: Sendable {
      let requests = Mutex<RemoteRequests?>(nil)
    }

    init() async throws {
      let (network, waiting, shards) = (InProcessNetwork(), Waiting(), ShardMap())
      own = LinkPeer(NodeNumber(1), on: network, clocks) { entry, node in
        guard case .reply(let number, let reply) = entry else { return }
        waiting.requests.withLock { $0 }?.didReceive(reply, to: number, from: node)
      }
      other = LinkPeer(NodeNumber(2), on: network, clocks)
      third = LinkPeer(NodeNumber(3), on: network, clocks)
      let requests = RemoteRequests(links: own.links, clocks: clocks)
      waiting.requests.withLock { $0 = requests }
      self.requests = requests
      presence = ClusterPresence(links: own.links, shards: shards, clocks: clocks)
      followed = FollowedTopics(
        directory: SessionDirectory(), shards: shards, links: own.links, requests: requests,
        router: ShardRouter(shards: shards, links: own.links, requests: requests, clocks: clocks), clocks: clocks,
        logger: Logger(label: "own") { _ in SwiftLogNoOpLogHandler() }, isOnBus: { true })
      topic = ClusterTopic(
        "g", on: own.number, in: 5, directory: directory, presence: presence, links: own.links, requests: requests,
        followed: followed, topics: topics, tracer: Tracer(clocks: clocks))
      topics.add(topic, of: "g")
      presence.start(as: own.number)
      try await LinkPeer.connect([own, other, third])
    }

    /// The group has left memory, and is there again.
    func nextTopic() -> ClusterTopic {
      let next = ClusterTopic(
        "g", on: own.number, in: 5, directory: directory, presence: presence, links: own.links, requests: requests,
        followed: followed, topics: topics, tracer: Tracer(clocks: clocks))
      topics.add(next, of: "g")
      return next
    }

    /// Tells the own node that another has these users.
    func snapshot(of peer: LinkPeer, _ users: UserID...) {
      let sessions = users.enumerated().map { index, user in
        ClusterEntry.sessionBegan(
          user,
          ClusterSession(
            key: SessionKey(on: peer.number, loop: 0, connection: UInt64(index + 1)), platform: .iOS, deviceID: nil, order: 1,
            isCompleted: true))
      }
      for entry in [.snapshotBegan] + sessions + [.snapshotEnded] as [ClusterEntry] {
        _ = presence.didReceive(entry, from: peer.number)
      }
    }

    func decide(_ stamp: GroupStamp?, _ body: () -> Void) {
      topic.beginTelling()
      body()
      topic.didTell(stamp)
    }

    /// Answers the units that wait for an answer.
    func confirm(by peer: LinkPeer) {
      for (number, request, node) in peer.requests {
        if case .following(.confirm) = request { peer.links.send(.reply(number: number, .following(.confirmed)), to: node) }
      }
    }
  }

  private static func units(_ peer: LinkPeer) -> [TopicUnit] {
    peer.entries.compactMap { entry, _ in
      switch entry {
      case .unit("g", let unit), .request(_, .following(.confirm("g", let unit))): unit
      default: nil
      }
    }
  }

  private static func stamp(_ seq: Int64) -> GroupStamp {
    GroupStamp(epoch: "e", seq: seq, changeSeq: 0, revision: 0, board: 0)
  }

  private static let event = TopicEvent.publish(.control, except: nil, frame: [1])

  private static func follow(_ users: UserID...) -> TopicEvent {
    .follow(users.map { AttachedUser($0, .receive) }, term: 5)
  }

  @Test func aDecisionIsOneUnitWithTheWayOfTheStamp() async throws {
    let scene = try await Scene()
    scene.snapshot(of: scene.other, "mary")
    scene.decide(Self.stamp(5)) { _ = scene.topic.attach("mary", receiving: .receive) }
    scene.decide(Self.stamp(6)) {
      scene.topic.resetCompression()
      scene.topic.publish([1], .control, except: nil)
      scene.topic.send([2], to: ["mary", "vera"], except: nil)
    }
    scene.decide(Self.stamp(7)) {}
    scene.decide(Self.stamp(7)) {}
    scene.decide(Self.stamp(7)) { scene.topic.publish([1], .control, except: nil) }
    try await waitUntil("all have come") { Self.units(scene.other).count == 4 }
    #expect(
      Self.units(scene.other) == [
        TopicUnit(.whole(Self.stamp(5)), [Self.follow("mary")]),
        TopicUnit(.change(StampChange(seq: 6)), [.resetCompression, Self.event, .send(["mary"], except: nil, frame: [2])]),
        TopicUnit(.change(StampChange(seq: 7))), TopicUnit(nil, [Self.event]),
      ])
    #expect(Self.units(scene.third).isEmpty, "it has no members")
  }

  @Test func aGroupStoresNothingBeforeItIsFollowed() async throws {
    let scene = try await Scene()
    scene.snapshot(of: scene.other, "mary")
    scene.snapshot(of: scene.third, "nora")
    scene.decide(Self.stamp(5)) {
      for user in ["mary", "nora"] as [UserID] { _ = scene.topic.attach(user, receiving: .receive) }
    }
    let followed = Flag()
    scene.topic.whenFollowed { followed.set() }
    for peer in [scene.other, scene.third] {
      #expect(!followed.isSet)
      try await waitUntil("it has come") { Self.units(peer).count == 1 }
      scene.confirm(by: peer)
    }
    try await waitUntil("both follow") { followed.isSet }
    let again = Flag()
    scene.topic.whenFollowed { again.set() }
    #expect(again.isSet, "nobody is to be waited for")
  }

  @Test func aGroupWithoutMembersElsewhereWaitsForNobody() async throws {
    let scene = try await Scene()
    scene.decide(Self.stamp(5)) { _ = scene.topic.attach("mary", receiving: .receive) }
    let followed = Flag()
    scene.topic.whenFollowed { followed.set() }
    #expect(followed.isSet)
  }

  /// From the stamp on that was told before: what comes behind is compared with what the node knows already.
  @Test func aNodeThatComesLaterFollowsFromTheLastStamp() async throws {
    let scene = try await Scene()
    scene.snapshot(of: scene.other, "mary")
    scene.decide(Self.stamp(5)) { _ = scene.topic.attach("mary", receiving: .receive) }
    scene.snapshot(of: scene.third, "nora")
    scene.decide(Self.stamp(6)) {
      _ = scene.topic.attach("nora", receiving: .receive)
      scene.topic.publish([1], .control, except: nil)
    }
    try await waitUntil("all have come") { Self.units(scene.third).count == 2 && Self.units(scene.other).count == 2 }
    let step = StampStep.change(StampChange(seq: 6))
    #expect(
      Self.units(scene.third) == [TopicUnit(.whole(Self.stamp(5)), [Self.follow("nora")]), TopicUnit(step, [Self.event])])
    #expect(Self.units(scene.other).last == TopicUnit(step, [Self.event]))
  }

  @Test func aNodeWhoseLastUserGoesFollowsNoLonger() async throws {
    let scene = try await Scene()
    scene.snapshot(of: scene.other, "mary")
    scene.decide(Self.stamp(5)) { _ = scene.topic.attach("mary", receiving: .receive) }
    #expect(scene.topics.isFollowed("g", by: scene.other.number))
    scene.decide(Self.stamp(6)) {
      scene.topic.publish([1], .control, except: nil)
      scene.topic.detach("mary")
      scene.topic.publish([2], .control, except: nil)
    }
    scene.decide(Self.stamp(7)) { scene.topic.publish([1], .control, except: nil) }
    #expect(!scene.topics.isFollowed("g", by: scene.other.number) && !scene.topics.follow("g", by: scene.other.number))
    scene.own.links.send(.webhooksWait, to: scene.other.number)
    try await waitUntil("all has come") {
      scene.other.entries.contains { if case .webhooksWait = $0.entry { true } else { false } }
    }
    #expect(Self.units(scene.other).last == TopicUnit(nil, [Self.event, .detach("mary"), .close]))
    #expect(Self.units(scene.other).count == 2)
  }

  @Test func aLinkThatBeginsAnewIsToldWhatWasTold() async throws {
    let scene = try await Scene()
    scene.snapshot(of: scene.other, "mary")
    scene.decide(Self.stamp(5)) { _ = scene.topic.attach("mary", receiving: .receiveFromManagers) }
    scene.decide(Self.stamp(6)) { scene.topic.publish([1], .control, except: nil) }
    scene.topics.didOpenLink(to: scene.other.number)
    scene.topics.didOpenLink(to: scene.third.number)
    try await waitUntil("it has come") { Self.units(scene.other).count == 3 }
    #expect(
      Self.units(scene.other).last
        == TopicUnit(
          .whole(Self.stamp(6)), [.follow([AttachedUser("mary", .receiveFromManagers)], term: 5, isRepeated: true)]))
    #expect(Self.units(scene.third).isEmpty)
  }

  /// Only where more was told since may something be missing.
  @Test func aLinkThatBeginsAnewBehindTheFirstUnitRepeatsNothingElse() async throws {
    let scene = try await Scene()
    scene.snapshot(of: scene.other, "mary")
    scene.decide(Self.stamp(5)) { _ = scene.topic.attach("mary", receiving: .receive) }
    scene.topics.didOpenLink(to: scene.other.number)
    try await waitUntil("it has come") { Self.units(scene.other).count == 2 }
    #expect(Self.units(scene.other) == Array(repeating: TopicUnit(.whole(Self.stamp(5)), [Self.follow("mary")]), count: 2))
  }

  /// A link begins anew in the middle of a decision: who is detached by it gets its events, as the others do.
  @Test func whoIsDetachedFollowsUntilThatIsTold() async throws {
    let scene = try await Scene()
    scene.snapshot(of: scene.other, "mary", "nora")
    scene.decide(Self.stamp(5)) {
      for user in ["mary", "nora"] as [UserID] { _ = scene.topic.attach(user, receiving: .receive) }
    }
    scene.decide(Self.stamp(6)) {
      scene.topic.publish([1], .control, except: nil)
      scene.topic.detach("mary")
      scene.topics.didOpenLink(to: scene.other.number)
    }
    try await waitUntil("all have come") { Self.units(scene.other).count == 3 }
    let units = Self.units(scene.other)
    #expect(units[1] == TopicUnit(.whole(Self.stamp(5)), [Self.follow("mary", "nora")]))
    #expect(units[2] == TopicUnit(.change(StampChange(seq: 6)), [Self.event, .detach("mary")]))
  }

  /// A load makes what was due before its failure due again.
  @Test func whatWasToldOnceStaysTold() async throws {
    let scene = try await Scene()
    scene.snapshot(of: scene.other, "mary")
    var stamp = Self.stamp(5)
    stamp.board = 3
    scene.decide(stamp) { _ = scene.topic.attach("mary", receiving: .receive) }
    stamp.board = 2
    scene.decide(stamp) { scene.topic.publish([1], .control, except: nil) }
    try await waitUntil("it has come") { Self.units(scene.other).count == 2 }
    #expect(Self.units(scene.other).last == TopicUnit(nil, [Self.event]))
  }

  /// Another group of the name, which the same topic tells: nothing that was told counts.
  @Test func anotherEpochBeginsAnew() async throws {
    let scene = try await Scene()
    scene.snapshot(of: scene.other, "mary")
    scene.decide(Self.stamp(5)) { _ = scene.topic.attach("mary", receiving: .receive) }
    var stamp = Self.stamp(1)
    stamp.epoch = "f"
    scene.decide(stamp) { scene.topic.publish([1], .control, except: nil) }
    try await waitUntil("it has come") { Self.units(scene.other).count == 2 }
    #expect(Self.units(scene.other).last == TopicUnit(.whole(stamp), [Self.follow("mary"), Self.event]))
  }

  @Test func theEndIsToldWithWhatCameBefore() async throws {
    let scene = try await Scene()
    scene.snapshot(of: scene.other, "mary")
    scene.decide(Self.stamp(5)) { _ = scene.topic.attach("mary", receiving: .receive) }
    scene.decide(nil) {
      scene.topic.publish([1], .control, except: nil)
      scene.topic.close()
    }
    try await waitUntil("it has come") { Self.units(scene.other).count == 2 }
    #expect(Self.units(scene.other).last == TopicUnit(nil, [Self.event, .close]))
    #expect(!scene.topics.isFollowed("g", by: scene.other.number))
  }

  /// A loop would be kept too long by it.
  @Test func aListOfManyUsersIsDeliveredOffTheLoop() {
    func list(_ count: Int) -> TopicUnit {
      let users = (0..<count).map { AttachedUser(UserID(stringLiteral: "user\($0)"), .receive) }
      return TopicUnit(.whole(Self.stamp(1)), [.follow(users, term: 1), Self.event])
    }
    #expect(!list(TopicUnit.attachedAtOnce).isLong && list(TopicUnit.attachedAtOnce + 1).isLong)
  }

  @Test func aGroupWaitsForAListOfMany() async throws {
    let scene = try await Scene()
    let sessions = try await BareSessions(1)
    let users = (0...TopicUnit.attachedAtOnce).map { UserID(stringLiteral: "user\($0)") }
    for user in users { scene.directory.register(sessions.entry(0), of: user) }
    scene.decide(Self.stamp(5)) { for user in users { _ = scene.topic.attach(user, receiving: .receive) } }
    let (followed, counts) = (scene.followed, Counts())
    scene.topic.whenTold { counts.add(followed.count) }
    try await waitUntil("the list is delivered") { counts.all.count == 1 }
    scene.topic.whenTold { counts.add(followed.count) }
    #expect(counts.all == [1, 1], "at once where nothing is under way")
  }

  /// A failed commit ends a topic while its list is delivered, and the group is loaded again.
  @Test func theNextTopicComesBehindAListOfMany() async throws {
    let scene = try await Scene()
    let sessions = try await BareSessions(1)
    let users = (0...TopicUnit.attachedAtOnce).map { UserID(stringLiteral: "user\($0)") }
    for user in users { scene.directory.register(sessions.entry(0), of: user) }
    scene.decide(Self.stamp(5)) { for user in users { _ = scene.topic.attach(user, receiving: .receive) } }
    scene.topic.close()
    let next = scene.nextTopic()
    next.beginTelling()
    _ = next.attach(users[0], receiving: .receive)
    next.didTell(Self.stamp(5))
    let (followed, counts) = (scene.followed, Counts())
    for topic in [scene.topic, next] { topic.whenTold { counts.add(followed.count) } }
    try await waitUntil("both are delivered") { counts.all.count == 2 }
    #expect(followed.count == 1 && !followed.isDelivering("g"))
  }

  private final class Counts: Sendable {
    private let state = Mutex<[Int]>([])

    var all: [Int] { state.withLock { $0 } }

    func add(_ count: Int) { state.withLock { $0.append(count) } }
  }

  @Test func nobodyWaitsForAListOfFew() async throws {
    let scene = try await Scene()
    scene.snapshot(of: scene.other, "mary")
    scene.decide(Self.stamp(5)) { _ = scene.topic.attach("mary", receiving: .receive) }
    let told = Mutex(0)
    scene.topic.whenTold { told.withLock { $0 += 1 } }
    #expect(told.withLock { $0 } == 1)
  }

  @Test func onlyWhoHasAnotherSessionHears() async throws {
    let scene = try await Scene()
    scene.snapshot(of: scene.other, "mary")
    let key = SessionKey(on: scene.other.number, loop: 0, connection: 1)
    #expect(scene.topic.hears(["mary"], except: nil) && !scene.topic.hears(["mary"], except: key))
    #expect(!scene.topic.hears(["vera"], except: nil) && scene.topic.hears(["vera", "mary"], except: nil))
  }
}
