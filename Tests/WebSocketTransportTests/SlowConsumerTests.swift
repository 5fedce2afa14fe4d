import Testing
import WebSocketTransport

/// A client that does not read, beside one that does (Protocol.md, "Slow connections").
@Suite struct SlowConsumerTests {
  private static let queue = 256 * 1024

  private static func text(_ number: Int, _ reliability: Reliability) -> [UInt8] {
    Array("\(reliability == .lossless ? "L" : "S")\(number) ".utf8) + [UInt8](repeating: 0x2e, count: 30_000)
  }

  /// The letter and number at the front of `text`.
  private static func label(_ text: String) -> Substring { text.prefix { $0 != " " } }

  /// Publishes until the counters show the slow connection's treatment, and awaits the quick one
  /// after every entry.
  private static func publish(
    _ running: TestServer.Running, _ topic: Topic, quick: WebSocketClient, reliability: @escaping @Sendable (Int) -> Reliability,
    until done: (TransportCounters) -> Bool
  ) throws -> Int {
    var number = 0
    while number < 3000 {
      let next = number
      let counters = try running.onLoop {
        topic.publish(text(next, reliability(next)), reliability(next))
        return running.loop.counters()
      }
      #expect(label(try quick.receiveText()) == label(String(decoding: text(number, reliability(number)), as: UTF8.self)))
      number += 1
      if done(counters) { break }
    }
    return number
  }

  @Test func skippableEntriesAreSkippedAndLosslessOnesKept() async throws {
    try await TestServer.with({ $0.sendQueueBytes = Self.queue }) { running in
      let (slow, first) = try running.connect(receiveBuffer: 4096)
      let (quick, second) = try running.connect()
      let topic = try running.onLoop { Topic(on: running.loop) }
      try running.onLoop {
        topic.subscribe(first)
        topic.subscribe(second)
      }
      let reliability: @Sendable (Int) -> Reliability = { $0 % 50 == 0 ? .lossless : .skippable }
      let published = try Self.publish(running, topic, quick: quick, reliability: reliability) { $0.skippedEntries > 20 }
      try running.onLoop { topic.publish(Array("end ".utf8), .lossless) }
      var labels: [Substring] = []
      while labels.last != "end" { labels.append(Self.label(try slow.receiveText())) }
      labels.removeLast()
      let skipped = try running.onLoop { running.loop.counters().skippedEntries }
      #expect(skipped > 20 && labels.count == published - skipped)
      let lossless = (0..<published).filter { reliability($0) == .lossless }.map { "L\($0)" }
      #expect(labels.filter { $0.hasPrefix("L") }.map(String.init) == lossless)
      let numbers = labels.compactMap { Int($0.dropFirst()) }
      #expect(numbers.count == labels.count && numbers == numbers.sorted())
    }
  }

  @Test func losslessEntriesThatDoNotFitCloseWith4002() async throws {
    try await TestServer.with({ $0.sendQueueBytes = Self.queue }) { running in
      let (slow, first) = try running.connect(receiveBuffer: 4096)
      let (quick, second) = try running.connect()
      let topic = try running.onLoop { Topic(on: running.loop) }
      try running.onLoop {
        topic.subscribe(first)
        topic.subscribe(second)
      }
      _ = try Self.publish(running, topic, quick: quick, reliability: { _ in .lossless }) { _ in
        (try? running.onLoop { topic.subscriberCount }) == 1
      }
      #expect(try running.server.closed.next() == 4002)
      #expect(try slow.receiveClose().code == 4002)
      try running.onLoop { topic.publish(Array("still here ".utf8), .lossless) }
      #expect(Self.label(try quick.receiveText()) == "still")
    }
  }

  @Test func ownFramesThatDoNotFitCloseWith4002() async throws {
    try await TestServer.with({ $0.sendQueueBytes = Self.queue }) { running in
      let (slow, connection) = try running.connect(receiveBuffer: 4096)
      for number in 0..<3000 where try running.onLoop({ connection.isOpen }) {
        try running.onLoop { connection.send(Self.text(number, .lossless)) }
      }
      #expect(try running.server.closed.next() == 4002)
      #expect(try slow.receiveClose().code == 4002)
    }
  }

  @Test func aSlowReaderGetsALargeQueueWholeAndInOrder() async throws {
    try await TestServer.with({ $0.sendQueueBytes = 64 << 20 }) { running in
      let (slow, connection) = try running.connect(receiveBuffer: 4096)
      let topic = try running.onLoop { Topic(on: running.loop) }
      try running.onLoop { topic.subscribe(connection) }
      for turn in 0..<100 {
        try running.onLoop {
          for entry in 0..<5 { topic.publish(Self.text(turn * 5 + entry, .skippable), .skippable) }
        }
      }
      for number in 0..<500 { #expect(Self.label(try slow.receiveText()) == "S\(number)") }
    }
  }

  @Test func exceptionsAndMasksHoldForALaggard() async throws {
    try await TestServer.with({ $0.sendQueueBytes = 64 << 20 }) { running in
      let (slow, connection) = try running.connect(receiveBuffer: 4096)
      let topic = try running.onLoop { Topic(on: running.loop) }
      try running.onLoop { topic.subscribe(connection, mask: 0b01) }
      for number in 0..<400 {
        try running.onLoop {
          topic.publish(
            Self.text(number, .lossless), .lossless, kind: number % 7 == 0 ? 0b10 : 0b01,
            except: number % 5 == 0 ? connection : nil)
        }
      }
      for number in 0..<400 where number % 7 != 0 && number % 5 != 0 {
        #expect(Self.label(try slow.receiveText()) == "L\(number)")
      }
    }
  }
}
