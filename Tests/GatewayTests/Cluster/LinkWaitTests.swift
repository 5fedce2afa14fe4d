import Cluster
import GroupModel
import Synchronization
import Testing
import ThrongTestKit

@testable import Gateway

/// Calls that wait until a node has dealt with what was sent to it.
@Suite struct LinkWaitTests {
  // MARK: The value

  private final class Outcomes: Sendable {
    private let outcomes = Mutex<[String]>([])
    var all: [String] { outcomes.withLock { $0 } }
    func note(_ name: String) -> LinkWaits.Completion {
      return { isHeard in self.outcomes.withLock { $0.append("\(name): \(isHeard)") } }
    }
  }

  private func openLink() -> OutgoingLink {
    var link = OutgoingLink()
    _ = link.open(5, at: 0)
    return link
  }

  @Test func placesAreHeardOfInTheirOrder() throws {
    var link = openLink()
    var waits = LinkWaits()
    let outcomes = Outcomes()
    for name in ["a", "b"] {
      _ = link.append([1])
      let awaited = link.awaitAcknowledgement()
      let place = try #require(awaited)
      #expect(waits.add(outcomes.note(name), until: place, or: 1000) == true)
      _ = link.nextFrame(from: NodeNumber(1), to: NodeNumber(2), at: 0)
    }
    #expect(waits.popHeard(by: link).isEmpty)
    link.acknowledge(LinkPosition(origin: 5, next: 2))
    for completion in waits.popHeard(by: link) { completion(true) }
    #expect(outcomes.all == ["a: true"] && waits.count == 1)
    #expect(waits.popVoid(of: link, at: 999).isEmpty)
    for completion in waits.popVoid(of: link, at: 1000) { completion(false) }
    #expect(outcomes.all == ["a: true", "b: false"] && waits.count == 0)
  }

  @Test func aLinkThatBeginsAnewIsWaitedForInVain() throws {
    var link = openLink()
    var waits = LinkWaits()
    let awaited = link.awaitAcknowledgement()
    let place = try #require(awaited)
    #expect(waits.add({ _ in }, until: place, or: 1000) == true)
    _ = link.open(6, at: 0)
    #expect(waits.popVoid(of: link, at: 0).count == 1)
    #expect(waits.add({ _ in }, until: place, or: 1000) == true)
    #expect(waits.popAll().count == 1 && waits.count == 0)
  }

  @Test func onlySoManyWait() throws {
    var link = openLink()
    var waits = LinkWaits()
    let awaited = link.awaitAcknowledgement()
    let place = try #require(awaited)
    for _ in 0..<LinkWaits.maxCount { _ = waits.add({ _ in }, until: place, or: 1000) }
    #expect(waits.add({ _ in }, until: place, or: 1000) == false)
  }

  // MARK: Links

  private struct Scene {
    let network = InProcessNetwork()
    let clocks = ManualClocks()
    let own, other: LinkPeer

    init() async throws {
      own = LinkPeer(NodeNumber(1), on: network, clocks)
      other = LinkPeer(NodeNumber(2), on: network, clocks)
      try await LinkPeer.connect([own, other])
    }

    func hold() { network.hold(.init(from: "node1", to: "node2")) }

    /// Waits until the other node has heard.
    func wait(_ name: String, _ outcomes: Outcomes, timeout: Duration = .seconds(60)) throws {
      own.links.whenHeard(by: [other.number: try origin], timeout: timeout) { _, isHeard in outcomes.note(name)(isHeard) }
    }

    /// The number under which the link to the other node has begun.
    var origin: UInt64 {
      get throws { try #require(own.links.origins[other.number]) }
    }
  }

  @Test func aNodeIsHeardOfBehindWhatItHasDealtWith() async throws {
    let scene = try await Scene()
    let origin = try scene.origin
    for number in 0..<20 {
      scene.own.links.send(.missed([UserID("u\(number)")!]), to: scene.other.number)
      #expect(await scene.own.links.heard(by: [scene.other.number: origin], timeout: .seconds(60)) == [scene.other.number])
      #expect(scene.other.missed.count == number + 1)
    }
    // Nothing is sent before it.
    #expect(await scene.own.links.heard(by: [scene.other.number: origin], timeout: .seconds(60)) == [scene.other.number])
    #expect(scene.own.links.counters.sentEntries.reduce(0) { $0 + $1.count } == 20, "no entry is spent on it")
  }

  /// What the node has sent in return has come before.
  @Test func anAnswerThatLeavesMeanwhileComesFirst() async throws {
    let network = InProcessNetwork()
    let clocks = ManualClocks()
    let answering = Mutex<ClusterLinks?>(nil)
    let own = LinkPeer(NodeNumber(1), on: network, clocks)
    let other = LinkPeer(NodeNumber(2), on: network, clocks) { entry, node in
      if case .missed = entry { answering.withLock { $0 }?.send(.webhooksWait, to: node) }
    }
    answering.withLock { $0 = other.links }
    try await LinkPeer.connect([own, other])
    let origin = try #require(own.links.origins[other.number])
    for number in 1...50 {
      own.links.send(.missed(["mary"]), to: other.number)
      #expect(await own.links.heard(by: [other.number: origin], timeout: .seconds(60)) == [other.number])
      #expect(own.entries.count == number)
    }
  }

  /// The node acknowledges in a frame that comes before a lost one is sent again.
  @Test func anAnswerBehindALostFrameComesFirst() async throws {
    let network = InProcessNetwork()
    let clocks = ManualClocks()
    let answering = Mutex<ClusterLinks?>(nil)
    let own = LinkPeer(NodeNumber(1), on: network, clocks)
    let other = LinkPeer(NodeNumber(2), on: network, clocks) { entry, node in
      if case .missed = entry { answering.withLock { $0 }?.send(.webhooksWait, to: node) }
    }
    answering.withLock { $0 = other.links }
    try await LinkPeer.connect([own, other])
    let origin = try #require(own.links.origins[other.number])
    let sent = other.links.statuses[own.number]?.sentFrames ?? 0
    network.drop(next: 1, .init(from: "node2", to: "node1"))
    other.links.send(.statusChanged("mary", "lost"), to: own.number)
    try await waitUntil("a frame is lost") { (other.links.statuses[own.number]?.sentFrames ?? 0) > sent }
    own.links.send(.missed(["mary"]), to: other.number)
    let answers = Mutex<Int?>(nil)
    own.links.whenHeard(by: [other.number: origin], timeout: .seconds(60)) { _, isHeard in
      let count = own.entries.count { if case .webhooksWait = $0.entry { true } else { false } }
      answers.withLock { $0 = isHeard ? count : nil }
    }
    try await waitUntil("it is heard") {
      other.links.send(.statusChanged("mary", "next"), to: own.number)
      return answers.withLock { $0 != nil }
    }
    #expect(answers.withLock { $0 } == 1)
  }

  /// One that fills more than a frame.
  @Test func aLongAnswerThatLeavesMeanwhileComesFirst() async throws {
    let network = InProcessNetwork()
    let clocks = ManualClocks()
    let answering = Mutex<ClusterLinks?>(nil)
    let crowd = (0..<30_000).map { UserID("member\($0)")! }
    let own = LinkPeer(NodeNumber(1), on: network, clocks)
    let other = LinkPeer(NodeNumber(2), on: network, clocks) { entry, node in
      guard case .missed = entry, let links = answering.withLock({ $0 }) else { return }
      links.send(.missed(crowd), to: node)
      links.send(.webhooksWait, to: node)
    }
    answering.withLock { $0 = other.links }
    try await LinkPeer.connect([own, other])
    let origin = try #require(own.links.origins[other.number])
    for number in 1...5 {
      own.links.send(.missed(["mary"]), to: other.number)
      #expect(await own.links.heard(by: [other.number: origin], timeout: .seconds(60)) == [other.number])
      #expect(own.entries.count == 2 * number)
    }
  }

  @Test func aNodeThatIsNotThereIsNotHeardOf() async throws {
    let scene = try await Scene()
    let nodes: [NodeNumber: UInt64] = [NodeNumber(9): 1, scene.other.number: try scene.origin]
    #expect(await scene.own.links.heard(by: nodes, timeout: .seconds(60)) == [scene.other.number])
    #expect(await scene.own.links.heard(by: [:], timeout: .seconds(60)) == [])
  }

  @Test func aLinkThatHasBegunAgainDoesNotTellWhatWasHeardBefore() async throws {
    let scene = try await Scene()
    let origin = try scene.origin
    scene.own.links.keepNothing()
    scene.network.drop(next: 1, .init(from: "node1", to: "node2"))
    try await waitUntil("the link has begun again") {
      scene.own.links.send(.webhooksWait, to: scene.other.number)
      return try scene.origin != origin
    }
    #expect(await scene.own.links.heard(by: [scene.other.number: origin], timeout: .seconds(60)) == [])
    let next = try scene.origin
    #expect(await scene.own.links.heard(by: [scene.other.number: next], timeout: .seconds(60)) == [scene.other.number])
  }

  @Test func aLinkThatEndsIsNotHeardOf() async throws {
    let scene = try await Scene()
    scene.hold()
    let outcomes = Outcomes()
    try scene.wait("stop", outcomes)
    #expect(outcomes.all.isEmpty)
    scene.own.links.stop()
    #expect(outcomes.all == ["stop: false"])
  }

  @Test func aNodeThatGoesIsNotHeardOf() async throws {
    let scene = try await Scene()
    scene.hold()
    let outcomes = Outcomes()
    try scene.wait("gone", outcomes)
    scene.own.links.remove(scene.other.number) {}
    #expect(outcomes.all == ["gone: false"])
  }

  @Test func aNodeThatIsSlowIsNotHeardOfInTime() async throws {
    let scene = try await Scene()
    scene.hold()
    let outcomes = Outcomes()
    try scene.wait("late", outcomes, timeout: .seconds(1))
    scene.clocks.advance(by: 1000)
    try await waitUntil("it is too late") { outcomes.all == ["late: false"] }
    scene.network.release()
  }

  /// A link that goes on behind an interruption is heard of late.
  @Test func aFrameThatIsLostIsHeardOfBehindItsRepetition() async throws {
    let scene = try await Scene()
    scene.network.drop(next: 1, .init(from: "node1", to: "node2"))
    let outcomes = Outcomes()
    scene.own.links.send(.missed(["mary"]), to: scene.other.number)
    try scene.wait("late", outcomes)
    try await waitUntil("it is heard") {
      // The next frame shows that one is missing.
      scene.own.links.send(.webhooksWait, to: scene.other.number)
      return outcomes.all == ["late: true"]
    }
    #expect(scene.other.missed == [["mary"]])
  }
}
