import Foundation
import Synchronization
import Testing

@testable import OutgoingHTTP

/// The client against a receiver of this process.
@Suite(.timeLimit(.minutes(10))) struct HTTPClientTests {
  private func client(_ change: (inout HTTPClient.Configuration) -> Void = { _ in }) throws -> HTTPClient {
    var configuration = HTTPClient.Configuration()
    // Longer than any test: only those about time depend on it.
    configuration.timeout = .seconds(1000)
    configuration.maxWait = .seconds(1000)
    // Nor does a machine that is busy elsewhere stand still.
    configuration.pauseLimit = .seconds(1000)
    change(&configuration)
    return try HTTPClient(configuration)
  }

  private func post(_ body: String = "{}", to url: String, by client: HTTPClient) async -> Result<HTTPResponse, HTTPError> {
    await client.post(Array(body.utf8), to: url, headers: [HTTPHeader("content-type", "application/json")])
  }

  private func code(_ result: Result<HTTPResponse, HTTPError>) -> HTTPError.Code? {
    if case .failure(let error) = result { error.code } else { nil }
  }

  /// A port where nothing listens: the kernel gave it to a socket that has never listened.
  private func withUnusedPort(_ body: (UInt16) async throws -> Void) async rethrows {
    let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(socket) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, length) == 0 && getsockname(socket, $0, &length) == 0
      }
    }
    precondition(isBound)
    try await body(UInt16(bigEndian: address.sin_port))
  }

  // MARK: - Requests and answers

  @Test func aPostCarriesHeadersAndBody() async throws {
    try await Receiver.run(reply: { _ in .answer(#"{"action":"Drop"}"#, status: "202 Accepted") }) { receiver in
      let result = try await client().post(
        Array("{\"text\":\"é\0\"}".utf8), to: receiver.url + "?a=b",
        headers: [HTTPHeader("content-type", "application/json"), HTTPHeader("webhook-id", "msg_1")])
      #expect(try result.get() == HTTPResponse(status: 202, body: Array(#"{"action":"Drop"}"#.utf8)))
      let request = try #require(receiver.log.requests.first)
      #expect(request.line == "POST /hook?a=b HTTP/1.1")
      #expect(request.headers["content-type"] == "application/json")
      #expect(request.headers["webhook-id"] == "msg_1")
      #expect(request.headers["host"] == "localhost:\(receiver.port)")
      #expect(request.headers["expect"] == nil && request.headers["accept-encoding"] == nil)
      #expect(request.body == Array("{\"text\":\"é\0\"}".utf8))
    }
  }

  @Test(arguments: ["", String(repeating: "a", count: 2_000_000)])
  func bodiesOfAnySizeArrive(body: String) async throws {
    try await Receiver.run { receiver in
      let client = try client()
      #expect(try await post(body, to: receiver.url, by: client).get().isSuccess)
      #expect(receiver.log.requests.first?.body.count == body.utf8.count)
      #expect(receiver.log.requests.first?.headers["content-length"] == "\(body.utf8.count)")
    }
  }

  @Test(arguments: ["204 No Content", "404 Not Found", "410 Gone", "503 Service Unavailable"])
  func everyStatusIsAnAnswer(status: String) async throws {
    try await Receiver.run(reply: { _ in .bytes("HTTP/1.1 \(status)\r\nContent-Length: 0\r\n\r\n") }) { receiver in
      let client = try client()
      let response = try await post(to: receiver.url, by: client).get()
      #expect(status.hasPrefix("\(response.status) ") && response.body.isEmpty)
      #expect(response.isSuccess == (response.status == 204))
    }
  }

  @Test func redirectsAreNotFollowed() async throws {
    try await Receiver.run(reply: { _ in .answer("", status: "307 Temporary Redirect", headers: "Location: /elsewhere\r\n") }) {
      receiver in
      let client = try client()
      #expect(try await post(to: receiver.url, by: client).get().status == 307)
      #expect(receiver.log.requests.count == 1)
    }
  }

  @Test func aChunkedAnswerIsPutTogether() async throws {
    let answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{\"a\r\n4\r\n\":1}\r\n0\r\n\r\n"
    try await Receiver.run(reply: { _ in .bytes(answer) }) { receiver in
      let client = try client()
      for _ in 0..<2 { #expect(try await post(to: receiver.url, by: client).get().body == Array(#"{"a":1}"#.utf8)) }
      #expect(receiver.log.connections == 1)
    }
  }

  @Test func anAnswerMayEndWithTheConnection() async throws {
    try await Receiver.run(reply: { _ in .lastBytes("HTTP/1.1 200 OK\r\n\r\n{}") }) { receiver in
      let client = try client()
      for _ in 0..<2 { #expect(try await post(to: receiver.url, by: client).get().body == Array("{}".utf8)) }
      #expect(receiver.log.connections == 2)
    }
  }

  @Test func anAnswerOverTheLimitIsAnError() async throws {
    let limit = 64 * 1024
    try await Receiver.run(reply: { .answer(String(repeating: "x", count: Int(String(decoding: $0.body, as: UTF8.self)) ?? 0)) })
    {
      receiver in
      let client = try client()
      #expect(try await post("\(limit)", to: receiver.url, by: client).get().body.count == limit)
      #expect(await code(post("\(limit + 1)", to: receiver.url, by: client)) == .tooLarge)
      #expect(await code(post("10000000", to: receiver.url, by: client)) == .tooLarge)
      // The slot serves the next one.
      #expect(try await post("2", to: receiver.url, by: client).get().body.count == 2)
    }
  }

  @Test func headersOverTheLimitAreAnError() async throws {
    let headers = (0..<1000).map { "x-\($0): \(String(repeating: "y", count: 100))\r\n" }.joined()
    try await Receiver.run(reply: { _ in .answer(headers: headers) }) { receiver in
      let client = try client()
      #expect(await code(post(to: receiver.url, by: client)) == .tooLarge)
    }
  }

  @Test(arguments: ["gibberish\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{}", ""])
  func aBrokenAnswerIsAnError(bytes: String) async throws {
    try await Receiver.run(reply: { _ in .lastBytes(bytes) }) { receiver in
      let client = try client()
      #expect(await code(post(to: receiver.url, by: client)) == .broken)
    }
  }

  @Test(arguments: [
    "", "localhost:no", "ftp://localhost/", "file:///etc/passwd", "http://", "http://local host/", "http://a\0b/",
  ])
  func onlyHTTPIsSpoken(url: String) async throws {
    let client = try client()
    #expect(await code(post(to: url, by: client)) == .badRequest)
  }

  @Test(arguments: ["a\r\nb: c", "a\nb", "a\0", "\u{7f}"])
  func aHeaderCannotSmuggleAnother(value: String) async throws {
    try await Receiver.run { receiver in
      let result = try await client().post([], to: receiver.url, headers: [HTTPHeader("x", value)])
      #expect(code(result) == .badRequest && receiver.log.connections == 0)
    }
  }

  // MARK: - Connections

  @Test func aConnectionIsUsedAgain() async throws {
    try await Receiver.run { receiver in
      let client = try client()
      for _ in 0..<20 { #expect(try await post(to: receiver.url, by: client).get().isSuccess) }
      #expect(receiver.log.connections == 1)
    }
  }

  @Test func aConnectionThatTheReceiverHasClosedIsReplaced() async throws {
    try await Receiver.run(reply: { _ in .lastBytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}") }) { receiver in
      let client = try client()
      for _ in 0..<20 { #expect(try await post(to: receiver.url, by: client).get().isSuccess) }
      #expect(receiver.log.requests.count == 20)
    }
  }

  @Test func noMoreThanTheConnectionsRunAtOnce() async throws {
    // A request is answered when eight are there: fewer at once would hang, and more are counted.
    let gate = Gate(8)
    try await Receiver.run(reply: { _ in
      gate.pass()
      return .answer()
    }) { receiver in
      let client = try client()
      try await withThrowingTaskGroup(of: Bool.self) { group in
        for _ in 0..<80 { group.addTask { try await post(to: receiver.url, by: client).get().isSuccess } }
        for try await isSuccess in group { #expect(isSuccess) }
      }
      #expect(receiver.log.mostOpen == 8 && receiver.log.connections == 8 && receiver.log.requests.count == 80)
    }
  }

  @Test func manyRequestsAtOnceAllGetTheirOwnAnswer() async throws {
    try await Receiver.run(reply: { .answer(String(decoding: $0.body, as: UTF8.self)) }) { receiver in
      let client = try client { $0.maxWaiting = 5000 }
      try await withThrowingTaskGroup(of: Bool.self) { group in
        for number in 0..<5000 {
          group.addTask { try await post("\(number)", to: receiver.url, by: client).get().body == Array("\(number)".utf8) }
        }
        for try await isOwn in group { #expect(isOwn) }
      }
      #expect(receiver.log.connections <= 8)
    }
  }

  @Test func moreThanMayWaitAreRefusedAtOnce() async throws {
    try await Receiver.run(reply: { _ in .nothing }) { receiver in
      let client = try client {
        $0.connections = 2
        $0.maxWaiting = 3
      }
      await withTaskGroup(of: HTTPError.Code?.self) { group in
        for _ in 0..<20 { group.addTask { await code(post(to: receiver.url, by: client)) } }
        // Nothing is answered: only refused ones have a result.
        for _ in 0..<15 { #expect(await group.next() == .queueFull) }
        await client.shutDown()
        for await code in group { #expect(code == .shutDown) }
      }
    }
  }

  // MARK: - Failures of the network

  @Test func aReceiverThatHangsTimesOutAndItsConnectionIsClosed() async throws {
    try await Receiver.run(reply: { _ in .nothing }) { receiver in
      // Long enough for a connection on a machine that is busy elsewhere.
      let client = try client { $0.timeout = .seconds(2) }
      #expect(await code(post(to: receiver.url, by: client)) == .timedOut)
      await receiver.wait { $0.closed == 1 }
    }
  }

  @Test func aHalfAnswerTimesOut() async throws {
    try await Receiver.run(reply: { _ in .bytes("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{") }) { receiver in
      let client = try client { $0.timeout = .milliseconds(100) }
      #expect(await code(post(to: receiver.url, by: client)) == .timedOut)
    }
  }

  /// SIGSTOP, `docker pause`: the answer may have come meanwhile, so nobody can say that there was none.
  @Test func aTimeLimitThatIsNoticedLateSaysNothingOfTheReceiver() {
    let limit = Duration.seconds(2), pauseLimit = Duration.seconds(1)
    let error = HTTPError(.timedOut, "")
    #expect(error.judged(after: .seconds(3), of: limit, pauseLimit: pauseLimit) == error)
    let late = error.judged(after: .milliseconds(3001), of: limit, pauseLimit: pauseLimit)
    #expect(late.code == .paused && !late.code.isReceivers)
    let other = HTTPError(.broken, "")
    #expect(other.judged(after: .seconds(60), of: limit, pauseLimit: pauseLimit) == other)
  }

  /// The receiver answers at once; the thread that would read it stands still until the time is up.
  @Test func anAnswerThatNobodyReadInTimeIsNoSilence() async throws {
    // Long enough for a thread to begin on a machine that is busy elsewhere: no task is waited for meanwhile.
    let limit = Duration.seconds(5), pauseLimit = Duration.milliseconds(100)
    let client = try client {
      $0.timeout = limit
      $0.pauseLimit = pauseLimit
    }
    try await Receiver.run(reply: { _ in
      let standsStill = DispatchSemaphore(value: 0)
      client.perform {
        let end = ContinuousClock.now + limit + pauseLimit + pauseLimit
        standsStill.signal()
        while .now < end { usleep(10_000) }
      }
      standsStill.wait()
      return .answer()
    }) { receiver in
      #expect(await code(post(to: receiver.url, by: client)) == .paused)
    }
  }

  @Test func theWaitForAConnectionHasABoundOfItsOwn() async throws {
    try await Receiver.run(reply: { _ in .nothing }) { receiver in
      let client = try client {
        $0.connections = 1
        $0.maxWait = .milliseconds(50)
      }
      await withTaskGroup(of: HTTPError.Code?.self) { group in
        for _ in 0..<10 { group.addTask { await code(post(to: receiver.url, by: client)) } }
        // The one that has left goes on.
        for _ in 0..<9 { #expect(await group.next() == .waitedTooLong) }
        await client.shutDown()
        #expect(await group.next() == .shutDown)
      }
    }
  }

  @Test func theTimeoutBeginsWhenTheRequestLeaves() async throws {
    try await Receiver.run(reply: { $0.body == Array("hang".utf8) ? .nothing : .answer() }) { receiver in
      let client = try client {
        $0.connections = 1
        $0.maxWait = .seconds(100)
        // Long enough for an answer on a machine that is busy elsewhere.
        $0.timeout = .seconds(2)
      }
      async let first = post("hang", to: receiver.url, by: client)
      await receiver.wait { $0.open == 1 }
      // By then it has waited for as long as an answer may take.
      #expect(try await post("next", to: receiver.url, by: client).get().isSuccess)
      #expect(code(await first) == .timedOut)
    }
  }

  @Test func aUserWaitsBehindNobodyElsesMany() async throws {
    let gate = DispatchSemaphore(value: 0)
    try await Receiver.run(reply: { _ in
      gate.wait()
      return .answer()
    }) { receiver in
      let client = try client {
        $0.connections = 1
        $0.maxWaitingOfUser = 20
      }
      await withTaskGroup(of: HTTPError.Code?.self) { group in
        for _ in 0..<50 { group.addTask { await code(client.post([1], to: receiver.url, headers: [], for: "flooder")) } }
        // One runs and twenty wait; on its way, one more may have had a place.
        for _ in 0..<29 { #expect(await group.next() == .queueFull) }
        let other = Task { await code(client.post([2], to: receiver.url, headers: [], for: "ann")) }
        for _ in 0..<50 { gate.signal() }
        #expect(await other.value == nil)
        for await code in group { #expect(code == nil || code == .queueFull) }
      }
      let users = receiver.log.requests.map { $0.body[0] }
      #expect(users.firstIndex(of: 2).map { $0 <= 22 } == true)
    }
  }

  @Test func nobodyListening() async throws {
    try await withUnusedPort { port in
      let client = try client()
      #expect(await code(post(to: "http://127.0.0.1:\(port)/", by: client)) == .unreachable)
    }
  }

  @Test func aNameWithoutAddress() async throws {
    // RFC 6761: .invalid never has one.
    let client = try client { $0.timeout = .seconds(5) }
    #expect([.unresolved, .timedOut].contains(code(await post(to: "http://throng.invalid/", by: client))))
  }

  // MARK: - TLS

  @Test func aCertificateOfAnUnknownAuthorityIsRefused() async throws {
    try await Receiver.run(tls: try Receiver.TLS(name: "localhost")) { receiver in
      let client = try client()
      #expect(await code(post(to: receiver.url, by: client)) == .untrusted)
      #expect(receiver.log.requests.isEmpty)
    }
  }

  @Test func aCertificateOfTheFileIsAccepted() async throws {
    let tls = try Receiver.TLS(name: "localhost")
    try await Receiver.run(tls: tls) { receiver in
      let client = try client { $0.authoritiesFile = tls.certificateFile }
      for _ in 0..<5 { #expect(try await post(to: receiver.url, by: client).get().isSuccess) }
      #expect(receiver.log.connections == 1)
    }
  }

  @Test func aCertificateForAnotherNameIsRefused() async throws {
    let tls = try Receiver.TLS(name: "elsewhere.example")
    try await Receiver.run(tls: tls) { receiver in
      let client = try client { $0.authoritiesFile = tls.certificateFile }
      #expect(await code(post(to: receiver.url, by: client)) == .untrusted)
    }
  }

  @Test func aMissingFileOfAuthoritiesTrustsNobody() async throws {
    try await Receiver.run(tls: try Receiver.TLS(name: "localhost")) { receiver in
      let client = try client { $0.authoritiesFile = "/nowhere.pem" }
      #expect(await code(post(to: receiver.url, by: client)) == .untrusted)
    }
  }

  @Test func aServerWithoutTLSIsAFailureOfTLS() async throws {
    try await Receiver.run(greeting: "HTTP/1.1 400 Bad Request\r\n\r\n") { receiver in
      let client = try client()
      #expect(await code(post(to: "https://localhost:\(receiver.port)/", by: client)) == .tls)
    }
  }

  // MARK: - Ends

  @Test func cancellingATaskClosesItsConnection() async throws {
    try await Receiver.run(reply: { $0.body == Array("hang".utf8) ? .nothing : .answer() }) { receiver in
      let client = try client { $0.connections = 1 }
      let running = Task { await post("hang", to: receiver.url, by: client) }
      await receiver.wait { $0.open == 1 }
      let waiting = Task { await post("never", to: receiver.url, by: client) }
      waiting.cancel()
      #expect(code(await waiting.value) == .cancelled)
      running.cancel()
      #expect(code(await running.value) == .cancelled)
      await receiver.wait { $0.closed == 1 }
      #expect(try await post("next", to: receiver.url, by: client).get().isSuccess)
      #expect(receiver.log.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["hang", "next"])
    }
  }

  @Test func aTaskThatWasCancelledBeforeSendsNothing() async throws {
    try await Receiver.run(reply: { _ in .nothing }) { receiver in
      let client = try client()
      let task = Task {
        await withUnsafeContinuation { continuation in
          withUnsafeCurrentTask { $0?.cancel() }
          continuation.resume()
        }
        return await post(to: receiver.url, by: client)
      }
      #expect(code(await task.value) == .cancelled)
    }
  }

  @Test func shutDownEndsWhatRunsAndWhatWaits() async throws {
    try await Receiver.run(reply: { _ in .nothing }) { receiver in
      let client = try client { $0.connections = 2 }
      let tasks = (0..<10).map { _ in Task { await post(to: receiver.url, by: client) } }
      await receiver.wait { $0.open == 2 }
      await client.shutDown()
      for task in tasks { #expect(code(await task.value) == .shutDown) }
      #expect(code(await post(to: receiver.url, by: client)) == .shutDown)
      await receiver.wait { $0.closed == 2 }
      await client.shutDown()
    }
  }

  @Test func getsAndPostsShareAConnection() async throws {
    try await Receiver.run { receiver in
      let client = try client { $0.connections = 1 }
      for _ in 0..<2 {
        #expect(try await client.get(receiver.url, headers: [HTTPHeader("accept", "application/json")]).get().isSuccess)
        #expect(try await post(to: receiver.url, by: client).get().isSuccess)
      }
      let log = receiver.log
      #expect(log.requests.map { $0.line.prefix { $0 != "/" } } == ["GET ", "POST ", "GET ", "POST "] && log.connections == 1)
      #expect(log.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["", "{}", "", "{}"])
      #expect(log.requests[2].headers["accept"] == "application/json" && log.requests[2].headers["content-type"] == nil)
    }
  }

  @Test func aGetFollowsNoRedirect() async throws {
    try await Receiver.run(reply: { _ in .answer(status: "302 Found", headers: "Location: /elsewhere\r\n") }) { receiver in
      let status = try await client().get(receiver.url, headers: []).get().status
      #expect(status == 302)
      #expect(receiver.log.requests.count == 1)
    }
  }

  @Test func aClientThatNobodyHoldsClosesItsConnections() async throws {
    try await Receiver.run { receiver in
      do {
        let client = try client()
        #expect(try await post(to: receiver.url, by: client).get().isSuccess)
      }
      await receiver.wait { $0.closed == 1 }
    }
  }
}

/// Lets threads pass a number at a time.
private final class Gate: Sendable {
  private let size: Int
  private let arrived = Mutex(0)
  private let opened = DispatchSemaphore(value: 0)

  init(_ size: Int) { self.size = size }

  func pass() {
    let isLast = arrived.withLock { arrived in
      arrived += 1
      return arrived.isMultiple(of: size)
    }
    if isLast { for _ in 1..<size { opened.signal() } } else { opened.wait() }
  }
}
