import Synchronization
import Testing

@testable import WebSocketTransport

/// With a flush window, two flushes of a topic are at least that far apart.
@Suite struct FlushWindowTests {
  /// Longer than any test runs.
  private static let endless = Duration.seconds(3600)

  /// A topic with subscribers, in the cooldown after its first entry.
  private func withCooldown(
    _ window: Duration,
    _ body: (TestServer.Running, Topic, [(client: WebSocketClient, connection: Connection)]) async throws -> Void
  ) async throws {
    try await TestServer.with({ $0.flushWindow = window }) { running in
      let pairs = try (0..<2).map { _ in try running.connect() }.map { (client: $0.0, connection: $0.1) }
      let topic = try running.onLoop { [connections = pairs.map(\.connection)] in
        let topic = Topic(on: running.loop)
        for connection in connections { topic.subscribe(connection) }
        topic.publish("first", .lossless)
        return topic
      }
      for pair in pairs { #expect(try pair.client.receiveText() == "first", "nothing came before it: it leaves at once") }
      try await body(running, topic, pairs)
    }
  }

  @Test func entriesOfACooldownLeaveTogetherAtItsEnd() async throws {
    let window = Duration.milliseconds(400)
    let begin = ContinuousClock.now
    try await withCooldown(window) { running, topic, pairs in
      for entry in 0..<5 { try running.onLoop { topic.publish("\(entry)", .lossless) } }
      for pair in pairs { for entry in 0..<5 { #expect(try pair.client.receiveText() == "\(entry)") } }
      #expect(ContinuousClock.now - begin >= window * 0.75, "a loop's clock is read once per turn")
      try running.onLoop { topic.publish("more", .lossless) }
      for pair in pairs { #expect(try pair.client.receiveText() == "more") }
      #expect(ContinuousClock.now - begin >= window * 1.5)
    }
  }

  @Test func afterTheCooldownAnEntryLeavesAtOnce() async throws {
    let ticks = EventQueue<Void>()
    let behaviour = TestServer.Behaviour(tick: { _ in ticks.add(()) })
    try await TestServer.with({ $0.flushWindow = .milliseconds(1) }, behaviour: behaviour) { running in
      let (client, connection) = try running.connect()
      let topic = try running.onLoop {
        let topic = Topic(on: running.loop)
        topic.subscribe(connection)
        return topic
      }
      for entry in 0..<3 {
        for text in ["\(entry)a", "\(entry)b"] { try running.onLoop { topic.publish(text, .lossless) } }
        for text in ["\(entry)a", "\(entry)b"] { #expect(try client.receiveText() == text) }
        // A tick takes a hundred windows.
        for _ in 0..<2 { try ticks.next() }
      }
    }
  }

  @Test func otherTopicsAndRepliesDoNotWait() async throws {
    try await withCooldown(Self.endless) { running, topic, pairs in
      let connection = pairs[0].connection
      let other = try running.onLoop {
        topic.publish("waits", .lossless)
        let other = Topic(on: running.loop)
        other.subscribe(connection)
        other.publish("other", .lossless)
        return other
      }
      #expect(try pairs[0].client.receiveText() == "other")
      try running.onLoop { connection.send(Array("reply".utf8)) }
      #expect(try pairs[0].client.receiveText() == "reply")
      #expect(try running.onLoop { other.subscriberCount } == 1)
    }
  }

  @Test func aFrameForOneConnectionSendsEarlierEntriesToIt() async throws {
    try await withCooldown(Self.endless) { running, topic, pairs in
      let connection = pairs[0].connection
      try running.onLoop {
        topic.publish("waits", .lossless)
        topic.send("for you", to: connection)
      }
      for text in ["waits", "for you"] { #expect(try pairs[0].client.receiveText() == text) }
      let other = pairs[1].connection
      try running.onLoop { other.send(Array("nothing yet".utf8)) }
      #expect(try pairs[1].client.receiveText() == "nothing yet")
    }
  }

  @Test func sendingAfterTopicsSendsTheirEntries() async throws {
    try await withCooldown(Self.endless) { running, topic, pairs in
      let connection = pairs[0].connection
      try running.onLoop {
        let other = Topic(on: running.loop)
        other.subscribe(connection)
        for text in ["waits", "waits, too"] { topic.publish(text, .lossless) }
        other.publish("of another topic", .lossless)
        connection.send(Array("reply".utf8))
        connection.sendAfterTopics(Array("last".utf8))
        topic.publish("too late", .lossless)
        connection.close(code: 4503, reason: "")
      }
      let received = try (0..<5).map { _ in try pairs[0].client.receiveText() }
      #expect(received[0] == "reply" && received[4] == "last")
      #expect(received.filter { $0.hasPrefix("waits") } == ["waits", "waits, too"])
      #expect(received.contains("of another topic"))
      let other = pairs[1].connection
      try running.onLoop { other.send(Array("nothing yet".utf8)) }
      #expect(try pairs[1].client.receiveText() == "nothing yet")
    }
  }

  @Test func moreThanOneWriteTakesDoesNotWait() async throws {
    try await withCooldown(Self.endless) { running, topic, pairs in
      let large = String(repeating: "x", count: 200_000)
      try running.onLoop { for _ in 0..<2 { topic.publish(large, .lossless) } }
      for pair in pairs { for _ in 0..<2 { #expect(try pair.client.receiveText() == large) } }
    }
  }

  @Test func theEndOfASubscriptionOrATopicDoesNotWait() async throws {
    try await withCooldown(Self.endless) { running, topic, pairs in
      let connection = pairs[0].connection
      try running.onLoop {
        topic.publish("waits", .lossless)
        topic.unsubscribe(connection)
      }
      #expect(try pairs[0].client.receiveText() == "waits")
    }
    try await TestServer.with({ $0.flushWindow = Self.endless }) { running in
      let (client, connection) = try running.connect()
      try running.onLoop {
        let topic = Topic(on: running.loop)
        topic.subscribe(connection)
        topic.publish("last words", .lossless)
      }
      #expect(try client.receiveText() == "last words")
    }
  }

  /// A second reading of the clock may come after the cooldown's end.
  @Test func aCooldownThatEndsBetweenTwoReadingsDelaysNothingForEver() async throws {
    let settings: (inout TransportConfiguration) -> Void = {
      $0.flushWindow = .milliseconds(3)
      $0.flushClock = { Double(Self.readings.add(1, ordering: .relaxed).newValue) / 1000 }
    }
    try await TestServer.with(settings) { running in
      let (client, connection) = try running.connect()
      let topics = try running.onLoop {
        (0..<2).map { _ in
          let topic = Topic(on: running.loop)
          topic.subscribe(connection)
          return topic
        }
      }
      for entry in 0..<30 {
        for (number, topic) in topics.enumerated() {
          let text = "\(entry) of \(number)"
          try running.onLoop { topic.publish(text, .lossless) }
          #expect(try client.receiveText() == text)
        }
      }
    }
  }

  /// The milliseconds of that clock: one for each reading.
  private static let readings = Atomic(0)
}
