import Cluster
import GroupModel
import GroupRuntime
import Synchronization
import Testing
import ThrongTestKit
import WireProtocol

@testable import Gateway

/// The order of calls while a shard moves from one node to another.
@Suite struct ShardRouterTests {
  private static let shard = Shard(of: GroupID("g"))

  /// This node's router, with two others that may own the shard.
  private struct Scene {
    let network = InProcessNetwork()
    let clocks = ManualClocks()
    let shards = ShardMap()
    let own, first, second: LinkPeer
    let router: ShardRouter
    let requests: RemoteRequests
    /// The calls that this node has performed, and those that were answered.
    let performed = Log()
    let answered = Log()

    final class Log: Sendable {
      private let lines = Mutex<[String]>([])
      var all: [String] { lines.withLock { $0 } }
      func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    /// The requests that wait for replies: made behind the links that bring them.
    private final class Waiting: Sendable {
      let requests = Mutex<RemoteRequests?>(nil)
    }

    init() async throws {
      let waiting = Waiting()
      own = LinkPeer(NodeNumber(1), on: network, clocks) { entry, node in
        guard case .reply(let number, let reply) = entry else { return }
        waiting.requests.withLock { $0 }?.didReceive(reply, to: number, from: node)
      }
      first = LinkPeer(NodeNumber(2), on: network, clocks)
      second = LinkPeer(NodeNumber(3), on: network, clocks)
      let requests = RemoteRequests(links: own.links, clocks: clocks)
      waiting.requests.withLock { $0 = requests }
      self.requests = requests
      router = ShardRouter(shards: shards, links: own.links, requests: requests, clocks: clocks)
      router.setServing(true)
      try await LinkPeer.connect([own, first, second])
    }

    /// - Parameter owner: nil = nobody.
    func give(to owner: LinkPeer?) {
      let nodes = [own, first, second].map {
        NodeInfo(number: $0.number, name: "n", address: "a", busVersion: 1, release: "0")
      }
      let owners = (0..<Shard.count).map { _ in ShardOwner(node: owner?.number, term: 1) }
      let view = ClusterView(
        version: 1, ownNode: own.number, nodes: Dictionary(uniqueKeysWithValues: nodes.map { ($0.number, $0) }), owners: owners)
      let isOwn = owner === own
      shards.replace(by: view, leading: isOwn ? [ShardRouterTests.shard: 1] : [:])
      shards.extendLease(to: .distantFuture)
    }

    func call(_ number: Int) {
      let answered = answered
      let performed = performed
      router.perform(
        .sessions(of: UserID("u\(number)")!), at: ShardRouterTests.shard, here: { performed.add("u\(number)") },
        { reply in
          if case .failure(let error) = reply {
            answered.add("u\(number): \(error.code.rawValue)")
          } else {
            answered.add("u\(number)")
          }
        })
    }
  }

  private static func users(_ peer: LinkPeer) -> [String] {
    peer.requests.compactMap { _, request, _ in
      if case .sessions(let user) = request { user.rawValue } else { nil }
    }
  }

  private static func answer(_ peer: LinkPeer, _ reply: RemoteReply, _ range: Range<Int>) {
    for (number, _, node) in peer.requests[range] { peer.links.send(.reply(number: number, reply), to: node) }
  }

  @Test func laterCallsWaitForThoseThatAFormerOwnerSendsBack() async throws {
    let scene = try await Scene()
    scene.give(to: scene.first)
    for number in 1...3 { scene.call(number) }
    try await waitUntil("the owner has them") { Self.users(scene.first) == ["u1", "u2", "u3"] }
    scene.give(to: scene.second)
    for number in 4...5 { scene.call(number) }
    Self.answer(scene.first, .moved, 0..<3)
    try await waitUntil("the next owner has all") { Self.users(scene.second).count == 5 }
    #expect(Self.users(scene.second) == ["u1", "u2", "u3", "u4", "u5"])
    Self.answer(scene.second, .reply(.empty), 0..<5)
    try await waitUntil("all are answered") { scene.answered.all.count == 5 }
    #expect(scene.answered.all == ["u1", "u2", "u3", "u4", "u5"])
  }

  /// The first call is at the former owner, which is asked whether it sends it back: the second waits for that.
  private func askedScene() async throws -> Scene {
    let scene = try await Scene()
    scene.give(to: scene.first)
    scene.call(1)
    try await waitUntil("the owner has it") { Self.users(scene.first) == ["u1"] }
    scene.give(to: scene.second)
    scene.call(2)
    try await waitUntil("it is asked") { scene.first.requests.count == 2 }
    return scene
  }

  /// The former owner says late that it has sent back all.
  @Test func anAnswerOfTheFormerOwnerLetsNoCallPassThoseOfTheNext() async throws {
    let scene = try await askedScene()
    Self.answer(scene.first, .moved, 0..<1)
    try await waitUntil("the next owner has both") { Self.users(scene.second) == ["u1", "u2"] }
    Self.answer(scene.first, .count(7), 1..<2)
    // Behind it on the link.
    scene.first.links.send(.webhooksWait, to: scene.own.number)
    try await waitUntil("it is heard") { scene.own.entries.contains { if case .webhooksWait = $0.entry { true } else { false } } }
    scene.give(to: scene.own)
    scene.call(3)
    #expect(scene.performed.all.isEmpty, "the next owner may send two back")
    Self.answer(scene.second, .moved, 0..<2)
    try await waitUntil("all are performed") { scene.performed.all.count == 3 }
    #expect(scene.performed.all == ["u1", "u2", "u3"])
  }

  @Test func callsOfThisNodeWaitForThem() async throws {
    let scene = try await Scene()
    scene.give(to: scene.first)
    for number in 1...2 { scene.call(number) }
    try await waitUntil("the owner has them") { Self.users(scene.first).count == 2 }
    scene.give(to: scene.own)
    scene.call(3)
    #expect(scene.performed.all.isEmpty, "two may come back")
    // The first was performed there, the second comes back.
    Self.answer(scene.first, .reply(.empty), 0..<1)
    try await waitUntil("one is answered") { scene.answered.all == ["u1"] }
    Self.answer(scene.first, .moved, 1..<2)
    try await waitUntil("both are performed") { scene.performed.all.count == 2 }
    #expect(scene.performed.all == ["u2", "u3"])
    scene.call(4)
    #expect(scene.performed.all == ["u2", "u3", "u4"], "nothing is before it")
  }

  /// A webhook, or the news of a profile, takes seconds.
  @Test func nobodyWaitsForACallThatTheFormerOwnerPerforms() async throws {
    let scene = try await askedScene()
    #expect(Self.users(scene.second).isEmpty)
    Self.answer(scene.first, .count(7), 1..<2)
    try await waitUntil("the next owner has the next") { Self.users(scene.second) == ["u2"] }
    scene.give(to: scene.own)
    Self.answer(scene.second, .reply(.empty), 0..<1)
    try await waitUntil("it is answered") { scene.answered.all == ["u2"] }
    scene.call(3)
    #expect(scene.performed.all == ["u3"])
    Self.answer(scene.first, .reply(.empty), 0..<1)
    try await waitUntil("the slow one is answered") { scene.answered.all == ["u2", "u1"] }
    scene.call(4)
    #expect(scene.performed.all == ["u3", "u4"])
  }

  /// It has refused some calls before it knew that the shard is its own.
  @Test func callsThatComeBackFromTheOwnerGoThereAgainInTheirOrder() async throws {
    let scene = try await Scene()
    scene.give(to: scene.first)
    for number in 1...2 { scene.call(number) }
    try await waitUntil("the owner has them") { Self.users(scene.first) == ["u1", "u2"] }
    Self.answer(scene.first, .moved, 0..<1)
    // The third comes behind the first, which has come back.
    try await waitUntil("the first waits") {
      scene.router.retry(at: scene.clocks.monotonic)
      return scene.first.requests.count == 3
    }
    scene.call(3)
    scene.router.retry(at: scene.clocks.monotonic)
    Self.answer(scene.first, .moved, 1..<2)
    Self.answer(scene.first, .count(7), 2..<3)
    try await waitUntil("they come again") {
      scene.router.retry(at: scene.clocks.monotonic)
      return Self.users(scene.first).count == 5
    }
    #expect(Self.users(scene.first) == ["u1", "u2", "u1", "u2", "u3"])
  }

  @Test func aCallThatWaitsInVainIsRefused() async throws {
    let scene = try await Scene()
    scene.give(to: nil)
    scene.call(1)
    scene.router.retry(at: scene.clocks.monotonic)
    #expect(scene.answered.all.isEmpty)
    scene.clocks.advance(for: ShardRouter.routeWait)
    scene.router.retry(at: scene.clocks.monotonic)
    #expect(scene.answered.all == ["u1: 10002"])
    // Behind those of an owner that does not answer, too.
    scene.give(to: scene.first)
    scene.call(2)
    try await waitUntil("the owner has it") { Self.users(scene.first) == ["u2"] }
    scene.give(to: scene.second)
    scene.call(3)
    scene.clocks.advance(for: ShardRouter.routeWait)
    scene.router.retry(at: scene.clocks.monotonic)
    #expect(scene.answered.all == ["u1: 10002", "u3: 10002"])
    #expect(Self.users(scene.second).isEmpty)
  }

  // MARK: Sends that are told again

  /// A send of this node's session, by its name, at the owner.
  private func send(_ id: String, in scene: Scene) {
    let (session, answered) = (SessionKey(loop: 0, connection: 1), scene.answered)
    let text = RequestText(text: [], index: 0, servesApplication: false)
    let caller = Caller.user("mary", platform: .web, session: session)
    let send = NamedSend(sender: "mary", clientMsgID: id, group: "g")
    scene.router.perform(
      .call(text, by: caller, shard: Self.shard), at: Self.shard, repetition: CallRepetition(send: send, here: {}), here: {},
      { _ in answered.add(id) })
  }

  private func isAwaited(_ id: String, in scene: Scene) -> Bool {
    scene.router.awaitedSend("mary", id, in: "g") == SessionKey(loop: 0, connection: 1)
  }

  /// An event of the next owner may come before this node knows that the first is lost.
  @Test func aSessionAwaitsItsSendUntilTheReplyAndForAWhileBehindALoss() async throws {
    let scene = try await Scene()
    scene.give(to: scene.first)
    for id in ["a", "b"] { send(id, in: scene) }
    try await waitUntil("the owner has them") { scene.first.requests.count == 2 }
    #expect(isAwaited("a", in: scene) && isAwaited("b", in: scene))
    #expect(!isAwaited("c", in: scene) && scene.router.awaitedSend("vera", "a", in: "g") == nil)
    Self.answer(scene.first, .reply(.empty), 0..<1)
    try await waitUntil("it is answered") { scene.answered.all == ["a"] }
    #expect(!isAwaited("a", in: scene) && isAwaited("b", in: scene))
    scene.give(to: nil)
    scene.requests.didLose(scene.first.number)
    #expect(isAwaited("b", in: scene) && scene.answered.all == ["a"])
    scene.give(to: scene.second)
    scene.router.retry(at: scene.clocks.monotonic)
    try await waitUntil("the next owner has it") { scene.second.requests.count == 1 }
    Self.answer(scene.second, .reply(.empty), 0..<1)
    try await waitUntil("it is answered, too") { scene.answered.all == ["a", "b"] }
    #expect(isAwaited("b", in: scene), "its event may be told again behind the reply")
    #expect(scene.router.repeatedCounts == (1, 0))
  }
}

/// Stored sends that an owner may have performed, and that the group knows again.
@Suite struct RepeatedCallTests {
  private static let shard = Shard(of: GroupID("g"))

  private func call(_ number: UInt64, isRepeatable: Bool = true) -> RoutedCall {
    let text = RequestText(text: [UInt8(number)], index: 0, servesApplication: false)
    let caller = Caller.user("mary", platform: .web, session: SessionKey(loop: 0, connection: 1))
    let send = NamedSend(sender: "mary", clientMsgID: "m\(number)", group: "g")
    return RoutedCall(
      number: number, deadline: 1_000, request: .call(text, by: caller, shard: Self.shard), mayWait: false, here: {},
      repetition: isRepeatable ? CallRepetition(send: send, here: {}) : nil, completion: { _ in })
  }

  @Test func aCallIsRepeatedForTenSecondsAndSaysSo() throws {
    #expect(call(1, isRepeatable: false).repeated(at: 0) == nil)
    let first = try #require(call(1).repeated(at: 500))
    guard case .call(_, let caller, _) = first.request else { return #expect(Bool(false), "another request") }
    #expect(first.wasLost && first.deadline == 10_500 && caller.isRepeated && caller.userID == "mary")
    // Lost once more: the time goes on.
    let second = try #require(first.repeated(at: 10_499))
    #expect(second.deadline == 10_500)
    #expect(second.repeated(at: 10_500) == nil)
  }

  @Test func callsThatWereLostLeaveBeforeLaterOnes() throws {
    var queue = CallQueue()
    let node = NodeNumber(2)
    for number: UInt64 in [1, 2] { #expect(queue.leave(number, by: .node(node)) != nil) }
    queue.wait(call(3))
    for number: UInt64 in [2, 1] { queue.wait(try #require(call(number).repeated(at: 0))) }
    for _ in 0..<2 { _ = queue.didAnswer(1) }
    let begun = queue.beginBatch(by: .node(NodeNumber(3)), 9)
    let batch = try #require(begun)
    #expect(batch.calls.map(\.number) == [1, 2, 3])
    #expect(batch.calls.map(\.wasLost) == [true, true, false])
  }
}
