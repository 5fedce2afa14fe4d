import Foundation
import Testing

@testable import ThrongClient

/// The lines that a client writes about its connection.
@Suite struct ConnectionReportTests {
  private struct NoToken: Error, CustomStringConvertible { let description = "the backend is away" }

  private struct Unanswered: LocalizedError {
    var errorDescription: String?
  }

  private func makeReport(_ address: String = "ws://chat.test:8080/ws") throws -> ConnectionReport {
    ConnectionReport(try #require(URL(string: address)))
  }

  private func online() throws -> ConnectionState {
    .online(try JSONDecoder().decode(Session.self, from: Data(Scene.session().utf8)))
  }

  private func waiting(_ loss: ConnectionLoss, for delay: Duration = .milliseconds(1_250)) -> ConnectionState {
    .waiting(loss, retryAfter: delay)
  }

  @Test func whereWhyAndWhenTheNextIsTried() throws {
    var report = try makeReport()
    #expect(report.line(for: .connecting) == nil)
    let loss = ConnectionLoss(1006, "chat.test:8080: Connection refused", error: TransportError.failed("refused"))
    #expect(
      report.line(for: waiting(loss))
        == "throng: not connected to ws://chat.test:8080/ws: chat.test:8080: Connection refused; next try in 1.3 s")
    let state = try online()
    #expect(report.line(for: state) == "throng: connected to ws://chat.test:8080/ws")
    #expect(report.line(for: state) == nil, "only behind a loss")
  }

  @Test func theFirstConnectionIsNoNews() throws {
    var report = try makeReport()
    let state = try online()
    #expect(report.line(for: .connecting) == nil)
    #expect(report.line(for: state) == nil)
  }

  @Test func theReasons() throws {
    var report = try makeReport("ws://chat.test/ws")
    let losses: [(ConnectionLoss, String)] = [
      (ConnectionLoss(4001, "the server restarts", didOpen: true), "the server restarts (4001)"),
      (ConnectionLoss(1006, "", didOpen: true), "the connection has ended"),
      (ConnectionLoss(0, "no token", error: NoToken()), "no token: the backend is away"),
      (ConnectionLoss(0, "no token", error: Unanswered(errorDescription: "no network")), "no token: no network"),
      (ConnectionLoss(0, "no token", error: Unanswered()), "no token: Unanswered(errorDescription: nil)"),
      (ConnectionLoss(0, "a frame", error: ClientError(.badAnswer, detail: "a binary message")), "a frame: a binary message"),
      (ConnectionLoss(1013, "later\r\n\u{1B}[2J\u{202E}text"), "later   [2J text (1013)"),
    ]
    for (loss, words) in losses {
      let line = report.line(for: waiting(loss, for: .milliseconds(100)))
      #expect(line == "throng: not connected to ws://chat.test/ws: \(words); next try in 0.1 s")
    }
  }

  @Test(arguments: ["ws://anna:secret@chat.test/ws?token=secret#secret", "ws://secret@secret@chat.test/ws?secret"])
  func theAddressHoldsNoSecret(address: String) throws {
    guard let url = URL(string: address) else { return }
    var report = ConnectionReport(url)
    let line = report.line(for: waiting(ConnectionLoss(1006, "refused")))
    #expect(line == "throng: not connected to ws://chat.test/ws: refused; next try in 1.3 s")
  }

  @Test func anEndThatTheServerMakes() throws {
    var report = try makeReport()
    let loss = ConnectionLoss(4502, "replaced", didOpen: true)
    #expect(report.line(for: .closed(loss)) == nil, "before the first sign-in connect throws it")
    _ = try report.line(for: online())
    #expect(
      report.line(for: .closed(loss))
        == "throng: the connection to ws://chat.test:8080/ws is closed for good: replaced (4502)")
  }

  @Test func anEndThatTheApplicationMakesIsNoNews() throws {
    var report = try makeReport()
    _ = try report.line(for: online())
    let loss = ConnectionLoss(1000, "closed by the application", error: ClientError(.closed))
    #expect(report.line(for: .closed(loss)) == nil)
  }

  @Test func errorsAreReadable() {
    let error = ThrongError(
      method: "joinGroup", code: .noSuchGroup, message: "There is no such group", isTemporary: false, field: nil,
      retryAfter: .zero)
    #expect("\(error)" == "joinGroup: There is no such group (10010)")
    #expect("\(ClientError(.queueFull))" == "QueueFull: too much waits for the connection already")
    #expect("\(ClientError(.closed))" == "Closed: the client is closed, and connects no more: make another one")
    #expect(
      "\(TransportError.badAddress("ftp://chat.test"))"
        == "not a WebSocket's address: ftp://chat.test; one is such as wss://chat.example/ws")
    #expect("\(TransportError.closed(code: 4502, reason: "replaced"))" == "replaced (4502)")
    #expect("\(ClientError(.badAnswer, detail: "no object"))" == "BadAnswer: no object")
    // What an app shows without a thought.
    let errors: [any Error] = [error, ClientError(.queueFull), TransportError.failed("refused")]
    for error in errors { #expect(error.localizedDescription == "\(error)") }
  }

  @Test(arguments: [
    ("https://chat.test:8/ws?x", "wss://chat.test:8/ws?x"), ("HTTP://chat.test", "ws://chat.test"), ("Https://a/", "wss://a/"),
    ("ws://chat.test/http", "ws://chat.test/http"), ("ftp://chat.test", "ftp://chat.test"),
  ])
  func theAddressOfHTTPStandsForThatOfTheWebSocket(given: String, taken: String) throws {
    let url = try #require(URL(string: given))
    #expect(url.webSocketAddress.absoluteString == taken)
  }

  /// A transport to nowhere.
  private struct Nowhere: Transport {
    func open(_ url: URL, subprotocol: String) async throws -> any TransportConnection {
      throw TransportError.failed("refused")
    }
  }

  @Test(.timeLimit(.minutes(1))) func theClientWritesThem() async throws {
    let (lines, log) = AsyncStream.makeStream(of: String.self)
    let url = try #require(URL(string: "ws://chat.test/ws"))
    let options = ClientOptions(transport: Nowhere(), log: { log.yield($0) })
    let client = ThrongClient(url: url, token: .fixed("token"), options: options)
    let session = Task { try await client.connect() }
    for await line in lines {
      #expect(line.hasPrefix("throng: not connected to ws://chat.test/ws: refused; next try in "))
      break
    }
    await client.close()
    await #expect(throws: ClientError.self) { try await session.value }
  }
}
