import Testing

@testable import WebSocketTransport

@Suite struct TopicTests {
  @Test func everySubscriberGetsEveryEntryInOrder() async throws {
    try await TestServer.with { running in
      let pairs = try (0..<10).map { _ in try running.connect() }
      let connections = pairs.map(\.1)
      let topic = try running.onLoop {
        let topic = Topic(on: running.loop)
        for connection in connections { topic.subscribe(connection) }
        return topic
      }
      for turn in 0..<20 {
        try running.onLoop { for entry in 0..<3 { topic.publish("\(turn).\(entry)", .lossless) } }
      }
      for (client, _) in pairs {
        for turn in 0..<20 { for entry in 0..<3 { #expect(try client.receiveText() == "\(turn).\(entry)") } }
      }
      let counters = try running.onLoop { running.loop.counters() }
      #expect(counters.deliveries == 600 && counters.skippedEntries == 0)
    }
  }

  @Test func exceptLeavesOutOneEntryForOneConnection() async throws {
    try await TestServer.with { running in
      let (a, first) = try running.connect()
      let (b, second) = try running.connect()
      try running.onLoop {
        let topic = Topic(on: running.loop)
        topic.subscribe(first)
        topic.subscribe(second)
        topic.publish("1", .skippable, except: first)
        topic.publish("2", .skippable)
        topic.publish("3", .skippable, except: first)
        topic.publish("4", .skippable, except: second)
        topic.publish("5", .skippable)
      }
      for text in ["2", "4", "5"] { #expect(try a.receiveText() == text) }
      for text in ["1", "2", "3", "5"] { #expect(try b.receiveText() == text) }
    }
  }

  @Test func aFrameForOneKeepsItsPlaceAmongTheEntries() async throws {
    try await TestServer.with { running in
      let (a, first) = try running.connect()
      let (b, second) = try running.connect()
      let (c, outsider) = try running.connect()
      try running.onLoop {
        let topic = Topic(on: running.loop)
        topic.subscribe(first)
        topic.subscribe(second)
        topic.publish("1", .lossless)
        topic.send("only you", to: first)
        topic.publish("2", .lossless)
        topic.send("you too", to: outsider)
      }
      for text in ["1", "only you", "2"] { #expect(try a.receiveText() == text) }
      for text in ["1", "2"] { #expect(try b.receiveText() == text) }
      #expect(try c.receiveText() == "you too")
    }
  }

  @Test func masksSelectByKindAndCanChange() async throws {
    try await TestServer.with { running in
      let (client, connection) = try running.connect()
      try running.onLoop {
        let topic = Topic(on: running.loop)
        topic.subscribe(connection, mask: 0b01)
        topic.publish("a1", .lossless, kind: 0b01)
        topic.publish("a2", .lossless, kind: 0b10)
        topic.publish("a3", .lossless, kind: 0b11)
        topic.subscribe(connection, mask: 0b10)
        topic.publish("b1", .lossless, kind: 0b01)
        topic.publish("b2", .lossless, kind: 0b10)
        #expect(topic.subscriberCount == 1)
      }
      for text in ["a1", "a3", "b2"] { #expect(try client.receiveText() == text) }
    }
  }

  @Test func subscribingAndUnsubscribingTakeEffectBetweenEntries() async throws {
    try await TestServer.with { running in
      let (client, connection) = try running.connect()
      try running.onLoop {
        let topic = Topic(on: running.loop)
        topic.publish("0", .lossless)
        topic.subscribe(connection)
        topic.publish("1", .lossless)
        topic.unsubscribe(connection)
        topic.publish("2", .lossless)
        topic.subscribe(connection)
        topic.publish("3", .lossless)
        connection.send(Array("end".utf8))
      }
      // A frame for the connection alone may overtake a topic.
      var texts: [String] = []
      for _ in 0..<3 { texts.append(try client.receiveText()) }
      #expect(texts.filter { $0 != "end" } == ["1", "3"] && texts.contains("end"))
    }
  }

  @Test func manyTopicsReachOneConnectionEachInItsOrder() async throws {
    try await TestServer.with { running in
      let (client, connection) = try running.connect()
      let (other, second) = try running.connect()
      let topics = try running.onLoop { (0..<20).map { _ in Topic(on: running.loop) } }
      try running.onLoop {
        for topic in topics {
          topic.subscribe(connection)
          topic.subscribe(second)
        }
      }
      for turn in 0..<10 {
        try running.onLoop {
          for (number, topic) in topics.enumerated() {
            topic.publish("\(number):\(turn)a", .skippable, except: number == 3 ? connection : nil)
            topic.publish("\(number):\(turn)b", .lossless)
          }
        }
      }
      let expected = (0..<10).flatMap { ["\($0)a", "\($0)b"] }
      for (client, left) in [(client, [3]), (other, [])] {
        var seen: [Int: [String]] = [:]
        for _ in 0..<(400 - 10 * left.count) {
          let parts = try client.receiveText().split(separator: ":")
          seen[Int(parts[0])!, default: []].append(String(parts[1]))
        }
        for number in 0..<20 {
          #expect(seen[number] == expected.filter { !left.contains(number) || $0.hasSuffix("b") })
        }
      }
    }
  }

  @Test func droppingATopicStillSendsItsEntries() async throws {
    try await TestServer.with { running in
      let (client, connection) = try running.connect()
      try running.onLoop {
        var topic: Topic? = Topic(on: running.loop)
        topic?.subscribe(connection)
        topic?.publish("testament", .lossless)
        topic = nil
      }
      #expect(try client.receiveText() == "testament")
      let topic = try running.onLoop { Topic(on: running.loop) }
      try running.onLoop { topic.subscribe(connection) }
    }  // freed by this thread
  }

  /// Ten thousand topics of one connection: a subscription is found in a few steps, and closing
  /// ends all.
  @Test func tenThousandSubscriptionsComeAndGo() async throws {
    try await TestServer.with { running in
      let (client, connection) = try running.connect()
      let topics = try running.onLoop { (0..<10_000).map { _ in Topic(on: running.loop) } }
      try running.onLoop { for topic in topics { topic.subscribe(connection) } }
      #expect(try running.onLoop { running.loop.longestSubscriptionSearch } < 20)
      try running.onLoop { for topic in topics.shuffled().prefix(5000) { topic.unsubscribe(connection) } }
      #expect(try running.onLoop { topics.reduce(0) { $0 + $1.subscriberCount } } == 5000)
      try running.onLoop { for topic in topics { topic.publish("x", .lossless) } }
      for _ in 0..<5000 { #expect(try client.receiveText() == "x") }
      try client.sendClose(1000)
      #expect(try running.server.closed.next() == 1000)
      #expect(try running.onLoop { topics.reduce(0) { $0 + $1.subscriberCount } } == 0)
    }
  }
}
