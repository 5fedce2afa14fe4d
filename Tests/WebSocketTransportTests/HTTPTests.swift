import Testing
import WebSocketTransport

@Suite struct HTTPTests {
  /// Answers with the parts of the request.
  private static let describe = TestServer.Behaviour(request: { request, exchange in
    let text =
      "\(request.head.method) \(request.head.path) \(request.head.query) \(request.body.count) \(request.bodyTooLarge)"
      + " \(request.isInternal)"
    exchange.respond(
      status: request.bodyTooLarge ? 413 : 200, contentType: "text/plain", headers: [("Allow", "GET\r\nEvil: yes")],
      body: Array(text.utf8))
  })

  @Test(arguments: ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
  func everyMethodArrives(method: String) async throws {
    try await TestServer.with(behaviour: Self.describe) { running in
      for body in [[], [UInt8](repeating: 0x61, count: 5), [UInt8](repeating: 0x61, count: 200_000)] {
        let client = try HTTPClient(port: running.internalPort)
        let headers = body.isEmpty ? ["Content-Length: 0"] : []
        let response = try client.ask(method, "/a%20b/../c?x=1", headers: headers, body: body)
        #expect(response.status == 200)
        #expect(response.text == "\(method) /c x=1 \(body.count) false true")
        #expect(response.head.contains("Content-Type: text/plain\r\n"))
        #expect(response.head.contains("Allow: GETEvil: yes\r\n"))
      }
    }
  }

  @Test func headHasNoBody() async throws {
    try await TestServer.with(behaviour: Self.describe) { running in
      let client = try HTTPClient(port: running.port)
      let response = try client.ask("HEAD", "/")
      #expect(response.status == 200 && response.head.contains("Content-Length: 21\r\n"))
      try client.socket.waitForEnd()
    }
  }

  @Test func aBodyOverTheLimitIsDroppedAndTold() async throws {
    try await TestServer.with({ $0.maxBodyBytes = 1000 }, behaviour: Self.describe) { running in
      let within = try HTTPClient(port: running.internalPort).ask("POST", "/", body: [UInt8](repeating: 0x61, count: 1000))
      #expect(within.text == "POST /  1000 false true")
      let over = try HTTPClient(port: running.internalPort).ask("POST", "/", body: [UInt8](repeating: 0x61, count: 1001))
      #expect(over.status == 413 && over.text == "POST /  0 true true")
    }
  }

  @Test func bodiesToThePublicListenerAreDropped() async throws {
    try await TestServer.with(behaviour: Self.describe) { running in
      let response = try HTTPClient(port: running.port).ask("POST", "/", body: [UInt8](repeating: 0x61, count: 100_000))
      #expect(response.text == "POST /  0 false false")
    }
  }

  @Test func onePathOfThePublicListenerHasBodies() async throws {
    let configure = { (configuration: inout TransportConfiguration) in configuration.publicBody = ("/rpc", 1000) }
    try await TestServer.with(configure, behaviour: Self.describe) { running throws in
      func ask(_ path: String, _ count: Int, port: Int) throws -> String {
        try HTTPClient(port: port).ask("POST", path, body: [UInt8](repeating: 0x61, count: count)).text
      }
      #expect(try ask("/rpc", 1000, port: running.port) == "POST /rpc  1000 false false")
      #expect(try ask("/rpc", 1001, port: running.port) == "POST /rpc  0 true false")
      #expect(try ask("/a/../rpc", 7, port: running.port) == "POST /rpc  7 false false", "as it is resolved")
      #expect(try ask("/rpc/", 1001, port: running.port) == "POST /rpc/  0 false false")
      #expect(try ask("/rpc", 1001, port: running.internalPort) == "POST /rpc  1001 false true", "another listener")
    }
  }

  /// Requests that a session has taken give way to nobody, and their end is told, whatever it is.
  @Test func theEndOfAServedExchangeIsTold() async throws {
    let ended = EventQueue<String>()
    let serve = TestServer.Behaviour(request: { request, exchange in
      let path = request.head.path
      let isServed = exchange.serve { ended.add(path) }
      #expect(isServed)
      if path == "/now" { exchange.respond(status: 204, contentType: nil, body: []) }
    })
    try await TestServer.with(behaviour: serve) { running in
      #expect(try HTTPClient(port: running.port).ask("GET", "/now").status == 204)
      #expect(try ended.next() == "/now")
      #expect(try running.server.left.next() == "127.0.0.1")
      _ = try running.server.requests.next()
      let late = try HTTPClient(port: running.port)
      try late.send("GET", "/late")
      let exchange = try running.server.requests.next().exchange
      #expect(ended.isEmpty)
      exchange.respond(status: 200, contentType: nil, body: Array("late".utf8))
      #expect(try late.receive().text == "late")
      #expect(try ended.next() == "/late")
      let isServed = try running.onLoop { exchange.serve { ended.add("again") } }
      #expect(!isServed)
      try HTTPClient(port: running.port).send("GET", "/never")
      _ = try running.server.requests.next()
    }
    #expect(try ended.next() == "/never", "at the end of the loop at the latest")
    #expect(ended.isEmpty)
  }

  @Test func chunkedBodiesAreRefused() async throws {
    try await TestServer.with(behaviour: Self.describe) { running in
      let client = try HTTPClient(port: running.internalPort)
      try client.send("POST", "/", headers: ["Transfer-Encoding: chunked"])
      let response = try client.receive()
      #expect(response.status == 411 && response.text == "411: a body needs a Content-Length, and no Transfer-Encoding\n")
      #expect(try running.server.refused.next() == .init(path: "/", status: 411, isUpgrade: false))
    }
  }

  @Test(arguments: ["abc", "-1", "1 2", "99999999999999999999"])
  func anInvalidLengthIsRefused(length: String) async throws {
    try await TestServer.with(behaviour: Self.describe) { running in
      let client = try HTTPClient(port: running.internalPort)
      try client.send("POST", "/", headers: ["Content-Length: \(length)"])
      let response = try client.receive()
      #expect(response.status == 400 && response.text == "400: the Content-Length is not one number\n")
      #expect(try running.server.refused.next() == .init(path: "/", status: 400, isUpgrade: false))
    }
  }

  @Test func aPostWithoutLengthHasNoBody() async throws {
    try await TestServer.with(behaviour: Self.describe) { running in
      let client = try HTTPClient(port: running.internalPort)
      let response = try client.ask("POST", "/")
      #expect(response.text == "POST /  0 false true" && response.head.contains("Connection: close"))
      try client.socket.waitForEnd()
    }
  }

  @Test func expectIsAnsweredBeforeTheBody() async throws {
    try await TestServer.with(behaviour: Self.describe) { running in
      let client = try HTTPClient(port: running.internalPort)
      try client.socket.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
      #expect(try client.socket.receive(through: "\r\n\r\n").hasPrefix("HTTP/1.1 100 "))
      try client.socket.send("abc")
      #expect(try client.receive().text == "POST /  3 false true")
    }
  }

  @Test func anAnswerMayComeLaterAndFromAnywhere() async throws {
    try await TestServer.with { running in
      let client = try HTTPClient(port: running.internalPort)
      let gone = try HTTPClient(port: running.internalPort)
      try gone.send("GET", "/gone")
      let lost = try running.server.requests.next()
      gone.socket.shutdownSending()
      try client.send("GET", "/kept", headers: ["Connection: close"])
      let kept = try running.server.requests.next()
      #expect(kept.request.head.path == "/kept")
      kept.exchange.respond(status: 204, contentType: nil, body: [])
      #expect(try client.receive().status == 204)
      kept.exchange.respond(status: 500, contentType: nil, body: [])
      lost.exchange.respond(status: 200, contentType: nil, body: [])
      try client.socket.waitForEnd()
      let next = try HTTPClient(port: running.internalPort)
      try next.send("GET", "/again")
      let again = try running.server.requests.next()
      lost.exchange.respond(status: 500, contentType: nil, body: [])
      again.exchange.respond(status: 200, contentType: nil, body: Array("ok".utf8))
      #expect(try next.receive().text == "ok")
    }
  }

  @Test func theInternalListenerKeepsAConnection() async throws {
    try await TestServer.with(behaviour: Self.describe) { running in
      let client = try HTTPClient(port: running.internalPort)
      for number in 1...1000 {
        let method = ["GET", "POST", "DELETE"][number % 3]
        let response = try client.ask(method, "/\(number)", body: method == "POST" ? [UInt8](repeating: 0x61, count: number) : [])
        #expect(response.text == "\(method) /\(number)  \(method == "POST" ? number : 0) false true")
        #expect(response.head.contains("Keep-Alive: timeout=120\r\n") && !response.head.contains("Connection: "))
      }
      let head = try client.ask("HEAD", "/")
      #expect(head.status == 200 && head.head.contains("Content-Length: 20\r\n"))
      #expect(try client.ask("GET", "/behind").status == 200)
    }
  }

  /// The body was read to its end, and the next head is found.
  @Test func aConnectionIsKeptBehindABodyOverTheLimit() async throws {
    try await TestServer.with({ $0.maxBodyBytes = 1000 }, behaviour: Self.describe) { running in
      let client = try HTTPClient(port: running.internalPort)
      #expect(try client.ask("POST", "/", body: [UInt8](repeating: 0x61, count: 200_000)).status == 413)
      #expect(try client.ask("POST", "/", body: [UInt8](repeating: 0x61, count: 3)).text == "POST /  3 false true")
    }
  }

  @Test func alsoALargeAnswerLeavesItsConnectionOpen() async throws {
    let behaviour = TestServer.Behaviour(request: { _, exchange in
      exchange.respond(status: 200, contentType: nil, body: [UInt8](repeating: 0x61, count: 5_000_000))
    })
    try await TestServer.with(behaviour: behaviour) { running in
      let client = try HTTPClient(port: running.internalPort)
      for _ in 0..<3 { #expect(try client.ask("POST", "/", body: [0x61]).body.count == 5_000_000) }
    }
  }

  @Test func aRefusalEndsItsConnection() async throws {
    try await TestServer.with(behaviour: Self.describe) { running in
      let client = try HTTPClient(port: running.internalPort)
      #expect(try client.ask("GET", "/").status == 200)
      try client.send("POST", "/", headers: ["Transfer-Encoding: chunked"])
      #expect(try client.receive().status == 411)
      try client.socket.waitForEnd()
    }
  }

  @Test(arguments: [
    ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
    ("  padded ", "padded"), ("a\r\nTraceparent: b", "a,b"),
  ])
  func traceparentArrivesAsItWasSent(sent: String, arrived: String) async throws {
    let behaviour = TestServer.Behaviour(request: { request, exchange in
      exchange.respond(status: 200, contentType: nil, body: Array((request.head.traceparent ?? "none").utf8))
    })
    try await TestServer.with(behaviour: behaviour) { running throws in
      for port in [running.port, running.internalPort] {
        #expect(try HTTPClient(port: port).ask("GET", "/", headers: ["traceparent: \(sent)"]).text == arrived)
        #expect(try HTTPClient(port: port).ask("GET", "/").text == "none")
      }
    }
  }

  /// A second request with a body, queued behind the first, once made libwebsockets loop for ever.
  @Test(arguments: ["GET", "POST"], ["GET", "POST"])
  func theFirstOfPipelinedRequestsIsAnsweredAndEndsTheConnection(first: String, second: String) async throws {
    try await TestServer.with(behaviour: Self.describe) { running in
      let client = try HTTPClient(port: running.internalPort)
      let body = { (method: String) in method == "GET" ? "" : "abcd" }
      let texts = [(first, 1), (second, 2)].map { method, number in
        "\(method) /\(number) HTTP/1.1\r\nHost: a\r\nContent-Length: \(body(method).utf8.count)\r\n\r\n\(body(method))"
      }
      try client.socket.send(texts.joined())
      #expect(try client.receive().text == "\(first) /1  \(body(first).utf8.count) false true")
      try client.socket.waitForEnd()
      #expect(try HTTPClient(port: running.internalPort).ask("GET", "/").status == 200)
    }
  }

  @Test func aLargeAnswerArrivesWhole() async throws {
    let size = 5_000_000
    let behaviour = TestServer.Behaviour(request: { _, exchange in
      exchange.respond(status: 200, contentType: nil, body: (0..<size).map { UInt8(truncatingIfNeeded: $0 / 7) })
    })
    try await TestServer.with(behaviour: behaviour) { running in
      let body = try HTTPClient(port: running.port).ask("GET", "/").body
      #expect(body.count == size && body.indices.allSatisfy { body[$0] == UInt8(truncatingIfNeeded: $0 / 7) })
    }
  }

  @Test func connectionCloseIsKept() async throws {
    try await TestServer.with(behaviour: Self.describe) { running in
      let requests = [
        "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n",
        "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
      ]
      for (port, request) in [running.port, running.internalPort].flatMap({ port in requests.map { (port, $0) } }) {
        let client = try HTTPClient(port: port)
        try client.socket.send(request)
        let response = try client.receive()
        #expect(response.status == 200 && response.head.contains("Connection: close"))
        try client.socket.waitForEnd()
      }
      let plain = try HTTPClient(port: running.port)
      #expect(try plain.ask("GET", "/").head.contains("Connection: close"))
      try plain.socket.waitForEnd()
    }
  }

  @Test func theInternalListenerTakesUpgradesOnlyIfAsked() async throws {
    let behaviour = TestServer.Behaviour(decideUpgrade: { $0.isInternal ? .refuse(status: 404) : .accept })
    try await TestServer.with(behaviour: behaviour) { running in
      let refused = try WebSocketClient(port: running.internalPort)
      let accepted = try WebSocketClient(port: running.port)
      #expect(refused.answer.hasPrefix("HTTP/1.1 404 ") && accepted.answer.hasPrefix("HTTP/1.1 101 "))
    }
  }
}
