import Testing

@testable import WebSocketTransport

/// The compressed frames of busy topics (Protocol.md, "Compression").
@Suite struct CompressionTests {
  static let deflate = ["Sec-WebSocket-Extensions: permessage-deflate"]

  /// A topic and its subscribers.
  private struct Room {
    let running: TestServer.Running
    let topic: Topic
    var clients: [(socket: WebSocketClient, connection: Connection)] = []

    init(_ running: TestServer.Running, _ count: Int, headers: [String] = CompressionTests.deflate) throws {
      self.running = running
      let loop = running.loop
      topic = try running.onLoop { Topic(on: loop) }
      for _ in 0..<count { try join(headers) }
    }

    mutating func join(_ headers: [String] = CompressionTests.deflate, mask: UInt8 = 0xff) throws {
      let pair = try running.connect(headers: headers)
      clients.append(pair)
      try subscribe(clients.count - 1, mask: mask)
    }

    func subscribe(_ index: Int, mask: UInt8 = 0xff) throws {
      let (topic, connection) = (topic, clients[index].connection)
      try running.onLoop { topic.subscribe(connection, mask: mask) }
    }

    func publish(_ text: String, _ reliability: Reliability = .lossless, kind: UInt8 = 1, except index: Int? = nil) throws {
      let (topic, connection, payload) = (topic, index.map { clients[$0].connection }, Array(text.utf8))
      try running.onLoop { topic.publish(payload, reliability, kind: kind, except: connection) }
    }

    /// Whether each client's next frame, with this text, came compressed.
    func receive(_ text: String, except index: Int? = nil) throws -> [Bool] {
      try clients.indices.filter { $0 != index }.map { place in
        let frame = try clients[place].socket.receive()
        #expect(frame.text == text)
        return frame.isCompressed
      }
    }
  }

  private func with(
    subscribers: Int = 2, bytes: Int = 1 << 20, sendQueue: Int = 1 << 20,
    _ body: (TestServer.Running) async throws -> Void
  ) async throws {
    let configure = { (configuration: inout TransportConfiguration) in
      configuration.compressionBytes = bytes
      configuration.compressionSubscribers = subscribers
      configuration.compressionStartBytes = 1
      configuration.sendQueueBytes = sendQueue
    }
    // By the system's clock, a topic would become quiet while the machine is busy elsewhere.
    try await TestServer.with(configure, clock: ManualClock(), body)
  }

  private func counters(_ running: TestServer.Running) throws -> TransportCounters {
    let loop = running.loop
    return try running.onLoop { loop.counters() }
  }

  @Test func everySubscriberGetsTheSameCompressedFrame() async throws {
    try await with { running in
      let room = try Room(running, 3)
      let texts = (0..<50).map { #"{"jsonrpc":"2.0","method":"onRecvNewMessage","params":{"seq":\#($0),"text":"hello"}}"# }
      for text in texts {
        try room.publish(text)
        #expect(try room.receive(text) == [true, true, true])
      }
      let counted = try counters(running)
      #expect(counted.streams == 1 && counted.followers == 3 && counted.resets == 1)
      #expect(counted.compressedBytes * 3 < counted.uncompressedBytes)
    }
  }

  @Test func whoComesLaterFollowsFromTheNextReset() async throws {
    try await with { running in
      var room = try Room(running, 2)
      for n in 0..<5 {
        try room.publish("first \(n)")
        _ = try room.receive("first \(n)")
      }
      try room.join()
      // Long texts, so that what the newcomer loses soon exceeds the cost of a reset.
      let long = String(repeating: "x", count: 300)
      var followed: [[Bool]] = []
      for n in 0..<10 {
        try room.publish("\(long)\(n)")
        followed.append(try room.receive("\(long)\(n)"))
      }
      #expect(followed[0] == [true, true, false])
      #expect(followed.last == [true, true, true])
      #expect(try counters(running).resets == 2)
    }
  }

  /// The length of the frame of a text that a new member tries.
  private func guess(_ text: String, behind secret: String, in room: Room, sameTurn: Bool, joining: Bool) throws -> Int {
    let topic = room.topic
    let (before, after) = (Array(secret.utf8), Array(text.utf8))
    try room.running.onLoop {
      topic.publish(before, .lossless)
      if sameTurn {
        if joining { topic.resetCompression() }
        topic.publish(after, .lossless)
      }
    }
    if !sameTurn {
      try room.running.onLoop {
        if joining { topic.resetCompression() }
        topic.publish(after, .lossless)
      }
    }
    let frames = try room.clients.map { client in
      #expect(try client.socket.receive().text == secret)
      return try client.socket.receive()
    }
    #expect(frames.allSatisfy { $0.text == text && $0.isCompressed }, "who follows goes on")
    return frames[0].compressedBytes
  }

  /// Who joins a closed group tries a text and reads the length of others' frames off the network:
  /// neither a right guess nor one half right shows.
  @Test(arguments: [false, true]) func afterAResetNoLengthTellsOfTextsBefore(sameTurn: Bool) async throws {
    let secret = "the password of the vault is Cw8xUq27LmPz"
    let guesses = [secret, "the password of the vault is 0000000000ab", "qX7fR1kT9bWm4Lz8Vc2Ns6Hd0Gj3Pa5Yu0eI1oKlQ"]
    for joining in [true, false] {
      try await with { running in
        let room = try Room(running, 3)
        try room.publish("first")
        _ = try room.receive("first")
        var lengths: [Int] = []
        for text in guesses {
          lengths.append(try guess(text, behind: secret, in: room, sameTurn: sameTurn, joining: joining))
        }
        // Each as long as where nothing was said before.
        let fresh = try guesses.map { text in
          try room.running.onLoop { [topic = room.topic] in
            topic.resetCompression()
            topic.publish(Array(text.utf8), .lossless)
          }
          return try room.clients.map { try $0.socket.receive().compressedBytes }[0]
        }
        if joining {
          #expect(lengths == fresh)
        } else {
          #expect(lengths[0] + 20 < fresh[0] && lengths[1] + 10 < fresh[1], "the leak, so that the test sees it")
        }
        #expect(try counters(running).streams == 1)
      }
    }
  }

  @Test func whoMissesAFrameGetsPlainOnesUntilTheNextReset() async throws {
    try await with { running in
      let room = try Room(running, 4)
      for n in 0..<3 {
        try room.publish("\(n)")
        _ = try room.receive("\(n)")
      }
      try room.publish("not to the sender", except: 0)
      #expect(try room.receive("not to the sender", except: 0) == [true, true, true])
      try room.publish("next")
      #expect(try room.receive("next") == [false, true, true, true])
      // A mask of a receive option.
      try room.subscribe(1, mask: 2)
      try room.publish("masked", kind: 1)
      #expect(try room.receive("masked", except: 1) == [false, true, true])
      try room.publish("wanted", kind: 2)
      #expect(try room.receive("wanted") == [false, false, true, true])
    }
  }

  /// Entries of one turn: the exception lies between others.
  @Test func anExceptionAmongOthersOfItsTurn() async throws {
    try await with { running in
      let room = try Room(running, 3)
      try room.publish("a")
      try room.publish("b")
      _ = try room.receive("a")
      _ = try room.receive("b")
      let (topic, sender) = (room.topic, room.clients[0].connection)
      try running.onLoop {
        topic.publish(Array("1".utf8), .lossless)
        topic.publish(Array("2".utf8), .lossless, except: sender)
        topic.publish(Array("3".utf8), .lossless)
      }
      let sent = try (0..<2).map { _ in try room.clients[0].socket.receive() }
      #expect(sent.map(\.text) == ["1", "3"] && sent.map(\.isCompressed) == [true, false])
      for client in room.clients[1...] {
        let frames = try (0..<3).map { _ in try client.socket.receive() }
        #expect(frames.map(\.text) == ["1", "2", "3"] && frames.allSatisfy(\.isCompressed))
      }
    }
  }

  @Test(arguments: ["none", "permessage-deflate; server_no_context_takeover", "permessage-deflate; server_max_window_bits=14"])
  func whoDoesNotTakeTheStreamGetsPlainFrames(offer: String) async throws {
    try await with { running in
      var room = try Room(running, 2)
      try room.join(["Sec-WebSocket-Extensions: \(offer)"])
      for n in 0..<5 {
        try room.publish("\(n)")
        #expect(try room.receive("\(n)")[2] == false)
      }
      #expect(try counters(running).followers == 2)
    }
  }

  @Test func fewSubscribersAreNotCompressed() async throws {
    try await with(subscribers: 4) { running in
      var room = try Room(running, 3)
      try room.join([])
      for n in 0..<5 {
        try room.publish("\(n)")
        #expect(try !room.receive("\(n)").contains(true))
      }
      #expect(try counters(running).streams == 0)
    }
  }

  /// One window per connection: it follows one topic at a time.
  @Test func aConnectionFollowsOneTopic() async throws {
    try await with { running in
      let room = try Room(running, 2)
      var other = try Room(running, 0)
      other.clients = room.clients
      for index in other.clients.indices { try other.subscribe(index) }
      for n in 0..<6 {
        try room.publish("room \(n)")
        #expect(try room.receive("room \(n)").allSatisfy { $0 })
        try other.publish("other \(n)")
        #expect(try !other.receive("other \(n)").contains(true))
      }
      #expect(try counters(running).followers == 2)
      let (topic, connections) = (room.topic, room.clients.map(\.connection))
      try running.onLoop { for connection in connections { topic.unsubscribe(connection) } }
      #expect(try counters(running).followers == 0)
    }
  }

  /// Replies and personal events stay out of the stream, and in their order.
  @Test func personalFramesArePlain() async throws {
    try await with { running in
      let room = try Room(running, 2)
      for n in 0..<20 {
        let (topic, connection) = (room.topic, room.clients[0].connection)
        try running.onLoop {
          topic.publish(Array("room \(n)".utf8), .lossless)
          topic.send(Array("own \(n)".utf8), to: connection)
          connection.send(Array("reply \(n)".utf8))
        }
        let frames = try (0..<3).map { _ in try room.clients[0].socket.receive() }
        #expect(frames.map(\.text) == ["room \(n)", "own \(n)", "reply \(n)"])
        #expect(frames.map(\.isCompressed) == [true, false, false])
        #expect(try room.clients[1].socket.receive().text == "room \(n)")
      }
    }
  }

  @Test func theMemoryOfCompressorsIsBounded() async throws {
    // One stream's.
    try await with(bytes: 400 << 10) { running in
      let first = try Room(running, 2), second = try Room(running, 2)
      for n in 0..<5 {
        try first.publish("\(n)")
        #expect(try first.receive("\(n)").allSatisfy { $0 })
        try second.publish("\(n)")
        #expect(try !second.receive("\(n)").contains(true))
      }
      #expect(try counters(running).streams == 1)
    }
  }

  /// A client that reads nothing is skipped, and can read on; the others follow.
  @Test func aSkippedClientLeavesTheStream() async throws {
    try await with(sendQueue: 64 << 10) { running in
      let room = try Room(running, 3)
      let connection = room.clients[0].connection
      try room.publish("begin")
      _ = try room.receive("begin")
      try running.onLoop { connection.pauseWriting() }
      var random = SystemRandomNumberGenerator()
      let texts = (0..<40).map { n in
        "\(n) " + String((0..<4000).map { _ in "0123456789abcdef".randomElement(using: &random) ?? "x" })
      }
      for text in texts {
        try room.publish(text, .skippable)
        #expect(try room.receive(text, except: 0) == [true, true], "\(text.prefix(3))")
      }
      try running.onLoop { connection.resumeWriting(first: []) }
      try room.publish("end")
      var seen: [String] = []
      while seen.last != "end" { seen.append(try room.clients[0].socket.receive().text) }
      #expect(seen.count < texts.count && seen.dropLast().allSatisfy(texts.contains))
      #expect(try counters(running).skippedEntries > 0)
      #expect(try room.receive("end", except: 0) == [true, true])
    }
  }

  /// Entries published before a close still leave, compressed as they were.
  @Test func aCloseKeepsTheOrder() async throws {
    try await with { running in
      let room = try Room(running, 2)
      try room.publish("a")
      _ = try room.receive("a")
      let (topic, connection) = (room.topic, room.clients[0].connection)
      try running.onLoop {
        topic.publish(Array("b".utf8), .lossless)
        topic.publish(Array("c".utf8), .lossless)
        connection.close(code: 4001, reason: "")
      }
      let frames = try (0..<3).map { _ in try room.clients[0].socket.receive() }
      #expect(frames[..<2].map(\.text) == ["b", "c"] && frames[..<2].allSatisfy(\.isCompressed) && frames[2].code == 4001)
      #expect(try counters(running).followers == 1)
    }
  }

  @Test func aQuietTopicEndsItsStream() async throws {
    try await with { running in
      let room = try Room(running, 2)
      for n in 0..<3 {
        try room.publish("\(n)")
        _ = try room.receive("\(n)")
      }
      // The first second is not a quiet one.
      for _ in 0..<5 {
        try running.advance(by: 1000)
        #expect(try counters(running).streams == 1)
      }
      try running.advance(by: 1000)
      #expect(try counters(running).streams == 0)
      #expect(try counters(running).followers == 0)
      // It begins again when there is something to send.
      for n in 0..<3 {
        try room.publish("again \(n)")
        _ = try room.receive("again \(n)")
      }
      #expect(try counters(running).streams == 1)
    }
  }
}
