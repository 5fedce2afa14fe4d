import Testing

@testable import WebSocketTransport

/// Random traffic against a model: the frames that each client must receive of each topic, in
/// order.
@Suite struct TopicModelTests {
  private struct Client {
    let socket: any FrameReceiver
    let connection: Connection
    var masks: [Int: UInt8] = [:]
    /// By topic; -1 stands for frames sent to the connection.
    var expected: [Int: [Int]] = [:]
    var isPaused = false
  }

  private struct Step: Sendable {
    let act: @Sendable () -> Void
  }

  /// The offers of clients: compression, compression that it does not let us use, or nothing.
  private static let offers = [
    "permessage-deflate", "permessage-deflate; client_max_window_bits", "permessage-deflate",
    "permessage-deflate; server_max_window_bits=9", "permessage-deflate; server_no_context_takeover", "none",
  ]

  @Test(arguments: 0..<6, [0, 3])
  func everyClientSeesWhatTheModelSays(seed: Int, window milliseconds: Int) async throws {
    try await check(seed: seed, window: milliseconds, compresses: false)
  }

  @Test(arguments: 0..<18, [0, 3])
  func everyClientSeesTheSameCompressed(seed: Int, window milliseconds: Int) async throws {
    try await check(seed: seed, window: milliseconds, compresses: true)
  }

  @Test(arguments: 0..<6, [0, 3])
  func eventStreamsSeeTheSameBesideFollowers(seed: Int, window milliseconds: Int) async throws {
    try await check(seed: seed, window: milliseconds, compresses: true, streams: [1, 4, 5])
  }

  @Test(arguments: 0..<6, [0, 3])
  func everyClientSeesTheSameOverTLS(seed: Int, window milliseconds: Int) async throws {
    let files = try CertificateFiles()
    // Large messages on event streams take long; they are the test before this one.
    let streams: Set<Int> = seed % 3 == 0 ? [1, 4, 5] : []
    try await check(seed: seed, window: milliseconds, compresses: true, streams: streams, files: files)
  }

  /// - Parameters:
  ///   - streams: the clients that have event streams in place of WebSockets.
  ///   - files: nil = without TLS.
  private func check(
    seed: Int, window milliseconds: Int, compresses: Bool, streams: Set<Int> = [], files: CertificateFiles? = nil
  ) async throws {
    var random = Generator(state: UInt64(seed) &* 0x9e37_79b9 &+ 1)
    let (size, turns) = [(20, 300), (2000, 300), (40_000, 80)][seed % 3]
    let configure = { (configuration: inout TransportConfiguration) in
      configuration.tls = files?.tls
      configuration.sendQueueBytes = 1 << 30
      configuration.flushWindow = .milliseconds(milliseconds)
      configuration.compressionBytes = compresses ? 1 << 30 : 0
      configuration.compressionSubscribers = 1
      configuration.compressionStartBytes = 1
    }
    // The clock is the test's: a client that reads slowly on a busy machine has all the time for what is
    // queued before its close.
    try await TestServer.with(
      configure, behaviour: TestServer.Behaviour().withEventStreams, clock: ManualClock()
    ) { running in
      var clients = try (0..<6).map { number in
        if streams.contains(number) {
          let pair = try running.openStream(receiveBuffer: number % 2 == 0 ? 4096 : nil)
          return Client(socket: pair.0, connection: pair.1)
        }
        let pair = try running.connect(
          headers: ["Sec-WebSocket-Extensions: \(Self.offers[number])"], receiveBuffer: number % 2 == 0 ? 4096 : nil)
        return Client(socket: pair.0, connection: pair.1)
      }
      let topics = try running.onLoop { (0..<(compresses ? 2 : 4)).map { _ in Topic(on: running.loop) } }
      var number = 0
      if compresses { try Self.beginStream(running, &clients, topics[0], number: &number) }
      for _ in 0..<turns {
        var steps: [Step] = []
        for _ in 0..<Int.random(in: 1...12, using: &random) {
          steps.append(Self.step(&clients, topics, number: &number, size: size, isCalm: compresses, &random))
        }
        let turn = steps
        try running.onLoop { for step in turn { step.act() } }
        if milliseconds > 0 { try running.advance(by: Int64.random(in: 0...Int64(2 * milliseconds), using: &random)) }
      }
      try running.advance(by: Int64(milliseconds))
      var compressed = 0
      for client in clients {
        let connection = client.connection
        try running.onLoop {
          connection.resumeWriting(first: [])
          connection.close(code: 4001, reason: "")
        }
        var seen: [Int: [Int]] = [:]
        while true {
          let frame = try client.socket.receive()
          if frame.opcode == WebSocketClient.Opcode.close.rawValue { break }
          compressed += frame.isCompressed ? 1 : 0
          let parts = frame.text.prefix { $0 != "." }.split(separator: ":")
          let topic = try #require(Int(parts[0])), number = try #require(Int(parts[1]))
          seen[topic, default: []].append(number)
        }
        for (topic, numbers) in client.expected { #expect(seen[topic] == numbers) }
        let (seenCount, count) = (seen.values.joined().count, client.expected.values.joined().count)
        #expect(seenCount == count)
      }
      #expect((compressed > 0) == compresses)
    }
  }

  /// All subscribe to a topic and get three entries: those who can follow its stream.
  private static func beginStream(
    _ running: TestServer.Running, _ clients: inout [Client], _ topic: Topic, number: inout Int
  ) throws {
    let connections = clients.map(\.connection), numbers = Array(number + 1...number + 3)
    for index in clients.indices {
      clients[index].masks[0] = 3
      clients[index].expected[0] = numbers
    }
    number += 3
    try running.onLoop { for connection in connections { topic.subscribe(connection, mask: 3) } }
    for number in numbers { try running.onLoop { topic.publish(Array("0:\(number).".utf8), .lossless, kind: 3) } }
  }

  /// - Parameter isCalm: subscribers miss few entries, so that some follow the stream for long.
  private static func step(
    _ clients: inout [Client], _ topics: [Topic], number: inout Int, size: Int, isCalm: Bool, _ random: inout Generator
  ) -> Step {
    let index = Int.random(in: clients.indices, using: &random)
    let place = Int.random(in: topics.indices, using: &random)
    let topic = topics[place], connection = clients[index].connection
    number += 1
    func payload(_ place: Int) -> [UInt8] {
      Array("\(place):\(number).".utf8) + [UInt8](repeating: 0x2e, count: size)
    }
    switch Int.random(in: 0..<20, using: &random) {
    case 0, 1:
      let mask = isCalm && Bool.random(using: &random) ? 3 : UInt8.random(in: 1...3, using: &random)
      clients[index].masks[place] = mask
      return Step { topic.subscribe(connection, mask: mask) }
    case 2:
      clients[index].masks[place] = nil
      return Step { topic.unsubscribe(connection) }
    case 3:
      clients[index].expected[-1, default: []].append(number)
      let bytes = payload(-1)
      return Step { connection.send(bytes) }
    case 4, 5:
      clients[index].expected[place, default: []].append(number)
      let bytes = payload(place)
      return Step { topic.send(bytes, to: connection) }
    case 6:
      clients[index].isPaused.toggle()
      return clients[index].isPaused ? Step { connection.pauseWriting() } : Step { connection.resumeWriting(first: []) }
    default:
      let kind = UInt8.random(in: 1...3, using: &random)
      let except = Int.random(in: 0..<(isCalm ? 16 : 2), using: &random) == 0 ? index : nil
      for other in clients.indices where other != except && (clients[other].masks[place] ?? 0) & kind != 0 {
        clients[other].expected[place, default: []].append(number)
      }
      let bytes = payload(place)
      return Step { topic.publish(bytes, .skippable, kind: kind, except: except == nil ? nil : connection) }
    }
  }

  /// The same numbers for the same seed.
  private struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ state >> 29
    }
  }
}
