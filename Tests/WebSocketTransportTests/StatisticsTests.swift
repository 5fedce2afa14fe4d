import Dispatch
import Testing

@testable import WebSocketTransport

/// An operator's view of a loop: flushes by size, the lag of its timer, and what waits.
@Suite struct StatisticsTests {
  @Test func aFlushCountsOnceWithAllItsDeliveries() async throws {
    try await TestServer.with { running in
      let clients = try (0..<3).map { _ in try running.connect() }
      let connections = clients.map(\.1)
      let topic = try running.onLoop { Topic(on: running.loop) }
      try running.onLoop {
        for connection in connections { topic.subscribe(connection) }
        topic.publish(Array("a".utf8), .lossless)
        topic.publish(Array("b".utf8), .lossless)
      }
      for (client, _) in clients {
        #expect(try client.receiveText() == "a")
        #expect(try client.receiveText() == "b")
      }
      let flushes = try running.onLoop { running.loop.counters().flushes }
      // Six deliveries: the bucket of at most eight.
      #expect(flushes.sum == 6 && flushes.counts.reduce(0, +) == 1 && flushes.counts[3] == 1)
      #expect(BucketCounts.flushBounds.count + 1 == flushes.counts.count && BucketCounts.flushBounds[3] == 8)
    }
  }

  @Test func repliesAreNoDeliveries() async throws {
    try await TestServer.with { running in
      let (client, connection) = try running.connect()
      try running.onLoop { connection.send(Array("hello".utf8)) }
      #expect(try client.receiveText() == "hello")
      #expect(try running.onLoop { running.loop.counters().flushes.sum } == 0)
    }
  }

  @Test func aBlockedLoopLags() async throws {
    let ticks = EventQueue<UInt64>()
    var behaviour = TestServer.Behaviour()
    behaviour.tick = { ticks.add($0.counters().lags.counts.reduce(0, +)) }
    try await TestServer.with(behaviour: behaviour) { running in
      _ = try ticks.next()
      // Nothing signals.
      try running.onLoop { _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(300)) }
      let before = try running.onLoop { running.loop.counters().lags.counts.reduce(0, +) }
      while try ticks.next() <= before {}
      let lags = try running.onLoop { running.loop.counters().lags }
      // The timer was due within 100 ms, and came 300 ms later at the earliest.
      #expect(lags.sum >= 190_000)
      let late = zip(BucketCounts.lagBounds + [.infinity], lags.counts).filter { $0.0 > 0.19 }.reduce(0) { $0 + $1.1 }
      #expect(late >= 1)
      // The turn with the wait ended before the tick.
      let turns = try running.onLoop { running.loop.counters().turns }
      let long = zip(BucketCounts.lagBounds + [.infinity], turns.counts).filter { $0.0 > 0.3 }.reduce(0) { $0 + $1.1 }
      #expect(turns.sum >= 300_000 && long >= 1 && turns.counts.reduce(0, +) > long)
    }
  }

  @Test func whatWaitsForASlowReaderIsSeen() async throws {
    try await TestServer.with({ $0.sendQueueBytes = 64 << 20 }) { running in
      #expect(await running.loop.measureSendQueues() == SendQueues())
      let (slow, first) = try running.connect(receiveBuffer: 4096)
      let (quick, second) = try running.connect()
      let text = [UInt8](repeating: 0x2e, count: 1 << 20)
      try running.onLoop {
        for _ in 0..<20 { first.send(text) }
        second.send(Array("hello".utf8))
      }
      #expect(try quick.receiveText() == "hello")
      let waiting = await running.loop.measureSendQueues()
      #expect(waiting.connections == 1 && waiting.bytes == waiting.largestBytes)
      #expect(waiting.bytes > 4 << 20 && waiting.bytes < 21 << 20)
      for _ in 0..<20 { #expect(try slow.receiveText().utf8.count == 1 << 20) }
      try running.onLoop { second.send(Array("again".utf8)) }
      #expect(try quick.receiveText() == "again")
      #expect(await running.loop.measureSendQueues() == SendQueues())
    }
  }

  @Test func allConnectionsAreLookedAt() async throws {
    try await TestServer.with { running in
      // More than one part of the table has.
      let clients = try (0..<300).map { _ in try running.connect() }
      let connections = clients.map(\.1)
      try running.onLoop {
        for connection in connections {
          connection.pauseWriting()
          connection.send(Array("waits".utf8))
        }
      }
      #expect(await running.loop.measureSendQueues().connections == 300)
    }
  }

  @Test func theBusiestTopicsAreThoseOfTheLastSecond() async throws {
    try await TestServer.with(clock: ManualClock()) { running in
      let (client, connection) = try running.connect()
      let topics = try running.onLoop {
        ["quiet": 1, "busy": 5, "middle": 3, "": 9].map { name, entries in
          let topic = Topic(on: running.loop, name: name)
          topic.subscribe(connection)
          for _ in 0..<entries { topic.publish(Array("x".utf8), .lossless) }
          return topic
        }
      }
      #expect(await running.loop.busiestTopics(2).isEmpty)
      try running.advance(by: 1000)
      let busiest = await running.loop.busiestTopics(2)
      #expect(busiest.map(\.name) == ["busy", "middle"] && busiest.map(\.subscribers) == [1, 1])
      #expect(busiest.map(\.entries) == [5, 3] && busiest[0].bytes == 5 && busiest[0].deliveries == 5)
      for _ in 0..<18 { #expect(try client.receiveText() == "x") }
      #expect(await running.loop.busiestTopics(0).isEmpty)
      try running.advance(by: 1000)
      #expect(await running.loop.busiestTopics(2).isEmpty)
      withExtendedLifetime(topics) {}
    }
  }
}
