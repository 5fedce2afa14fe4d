#if canImport(Glibc)
  import Foundation
  import Testing

  @testable import ThrongClient

  /// The transport on Linux over real sockets.
  @Suite struct SocketTransportTests {
    private func open(
      _ port: UInt16, scheme: String = "ws", host: String = "127.0.0.1", _ transport: SocketTransport = SocketTransport()
    ) async throws -> any TransportConnection {
      try await transport.open(#require(URL(string: "\(scheme)://\(host):\(port)/ws")), subprotocol: "throng.v1.json")
    }

    private func end(of connection: any TransportConnection) async -> TransportError? {
      do {
        let text = try await connection.receive()
        Issue.record("received \(text)")
        return nil
      } catch {
        return error as? TransportError
      }
    }

    private static func echo(_ peer: inout SocketPeer) {
      peer.upgrade()
      while let (opcode, payload) = peer.frame(), opcode == 1 { peer.write(FrameTests.serverFrame(1, payload)) }
    }

    private func exchange(_ connection: any TransportConnection) async throws {
      for size in [0, 1, 200, 70_000, 3_000_000] {
        let text = Data(repeating: UInt8(ascii: "x"), count: size)
        try await connection.send(text)
        #expect(try await connection.receive() == text)
      }
    }

    @Test func textsInBothDirections() async throws {
      let connection = try await open(SocketPeer.serve(Self.echo).port)
      try await exchange(connection)
      connection.close(code: 1000)
    }

    @Test func textsBehindTheResponseOfTheUpgrade() async throws {
      let server = SocketPeer.serve { peer in
        peer.upgrade(FrameTests.serverFrame(1, Array("first".utf8)))
        _ = peer.frame()
      }
      let connection = try await open(server.port)
      #expect(try await connection.receive() == Data("first".utf8))
      connection.close(code: 1000)
    }

    @Test func aPingIsAnswered() async throws {
      let server = SocketPeer.serve { peer in
        peer.upgrade(FrameTests.serverFrame(9, [7, 8]))
        let isAnswered = peer.frame().map { $0.opcode == 10 && $0.payload == [7, 8] } ?? false
        peer.write(FrameTests.serverFrame(1, Array("\(isAnswered)".utf8)))
        _ = peer.frame()
      }
      let connection = try await open(server.port)
      #expect(try await connection.receive() == Data("true".utf8))
      connection.close(code: 1000)
    }

    @Test func theServersCloseIsAnsweredAndTold() async throws {
      let (answers, answered) = AsyncStream.makeStream(of: [UInt8].self)
      let server = SocketPeer.serve { peer in
        peer.upgrade(
          FrameTests.serverFrame(1, Array("last".utf8)) + FrameTests.serverFrame(8, [0x0f, 0xa1] + Array("drain".utf8)))
        answered.yield(peer.frame().map { [$0.opcode] + $0.payload } ?? [])
        answered.finish()
      }
      let connection = try await open(server.port)
      #expect(try await connection.receive() == Data("last".utf8))
      #expect(await end(of: connection) == .closed(code: 4001, reason: "drain"))
      for await answer in answers { #expect(answer == [8, 0x0f, 0xa1]) }
      await #expect(throws: TransportError.self) { try await connection.send(Data("late".utf8)) }
    }

    @Test func theClientsCloseIsSent() async throws {
      let (frames, seen) = AsyncStream.makeStream(of: [UInt8].self)
      let server = SocketPeer.serve { peer in
        peer.upgrade()
        while let (opcode, payload) = peer.frame() { seen.yield([opcode] + payload) }
        seen.finish()
      }
      let connection = try await open(server.port)
      try await connection.send(Data("a".utf8))
      connection.close(code: 1000)
      var all: [[UInt8]] = []
      for await frame in frames { all.append(frame) }
      #expect(all == [[1, UInt8(ascii: "a")], [8, 0x03, 0xe8]])
    }

    @Test func anEndWithoutACloseFrame() async throws {
      let connection = try await open(SocketPeer.serve { $0.upgrade() }.port)
      #expect(await end(of: connection) == .closed(code: 1006, reason: "the connection has ended"))
    }

    @Test func aBreachIsToldToTheServer() async throws {
      let (codes, seen) = AsyncStream.makeStream(of: [UInt8].self)
      let server = SocketPeer.serve { peer in
        peer.upgrade([0x82, 0x00])
        seen.yield(peer.frame()?.payload ?? [])
        seen.finish()
      }
      let connection = try await open(server.port)
      #expect(await end(of: connection) == .closed(code: 1003, reason: "a binary message"))
      for await code in codes { #expect(code == [0x03, 0xeb]) }
    }

    @Test func aRefusalSaysWhy() async throws {
      let server = SocketPeer.serve { peer in
        _ = peer.head()
        peer.write("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
      }
      await #expect(throws: TransportError.failed("HTTP 503 Service Unavailable")) { try await open(server.port) }
    }

    @Test func nobodyListens() async throws {
      let server = SocketPeer.serve { _ in }
      // The only connection that it takes; the listener is closed behind it.
      await #expect(throws: TransportError.self) { try await open(server.port) }
      for await _ in server.done {}
      await #expect(throws: TransportError.self) { try await open(server.port) }
    }

    @Test func anOpeningThatIsCancelled() async throws {
      let (asked, seen) = AsyncStream.makeStream(of: String.self)
      let server = SocketPeer.serve { peer in
        seen.yield(peer.head())
        // Until the client is gone.
        _ = peer.frame()
        seen.finish()
      }
      let opening = Task { _ = try await open(server.port) }
      var requests = asked.makeAsyncIterator()
      #expect(await requests.next()?.hasPrefix("GET /ws HTTP/1.1") == true)
      opening.cancel()
      await #expect(throws: TransportError.self) { try await opening.value }
      #expect(await requests.next() == nil)
    }

    @Test func aReceiverThatIsCancelledEndsTheConnection() async throws {
      let server = SocketPeer.serve { peer in
        peer.upgrade()
        while peer.frame() != nil {}
      }
      let connection = try await open(server.port)
      let receiver = Task { try await connection.receive() }
      receiver.cancel()
      await #expect(throws: TransportError.self) { try await receiver.value }
      for await _ in server.done {}
    }

    // MARK: TLS

    private func certificateFile() -> String {
      FileManager.default.temporaryDirectory.appending(path: "throng-client-\(UUID().uuidString).pem").path
    }

    @Test(arguments: ["localhost"]) func textsOverTLS(host: String) async throws {
      let file = certificateFile()
      defer { try? FileManager.default.removeItem(atPath: file) }
      let server = SocketPeer.serve(tls: PeerContext(name: host, certificateFile: file), Self.echo)
      let connection = try await open(server.port, scheme: "wss", host: host, SocketTransport(authoritiesFile: file))
      for size in [1, 20_000, 100_000] {
        let text = Data(repeating: UInt8(ascii: "x"), count: size)
        try await connection.send(text)
        #expect(try await connection.receive() == text)
      }
      connection.close(code: 1000)
    }

    @Test func certificatesThatAreNotTrusted() async throws {
      let file = certificateFile()
      defer { try? FileManager.default.removeItem(atPath: file) }
      for (name, transport) in [("localhost", SocketTransport()), ("other.test", SocketTransport(authoritiesFile: file))] {
        let server = SocketPeer.serve(tls: PeerContext(name: name, certificateFile: file)) { _ = $0.head() }
        do {
          _ = try await open(server.port, scheme: "wss", host: "localhost", transport)
          Issue.record("\(name) is trusted")
        } catch TransportError.failed(let reason) {
          #expect(reason.hasPrefix("TLS: "), "\(reason)")
        }
      }
    }
  }
#endif
