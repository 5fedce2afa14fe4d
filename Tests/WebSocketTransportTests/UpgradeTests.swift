import Testing
import WebSocketTransport

@Suite struct UpgradeTests {
  @Test func theDelegateSeesTheHeadAndCanRefuse() async throws {
    let behaviour = TestServer.Behaviour(decideUpgrade: { head in
      switch head.path {
      case "/ws": .accept
      case "/busy": .refuse(status: 503, reason: "come back later")
      default: .refuse(status: 404)
      }
    })
    try await TestServer.with(behaviour: behaviour) { running in
      for (path, status) in [("/busy", "503 Service Unavailable"), ("/other?token=x", "404 Not Found")] {
        let client = try WebSocketClient(port: running.port, path: path)
        #expect(client.answer.hasPrefix("HTTP/1.1 \(status)\r\n"))
        #expect(client.answer.contains("Connection: close"))
      }
      let body = try SocketClient(port: running.port)
      try body.send(
        "GET /busy HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
          + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: a\r\n\r\n")
      #expect(try body.receive(through: "later\n").hasSuffix("\r\n\r\n503: come back later\n"))
      let token = String(repeating: "aB3-_.", count: 1300)
      let client = try WebSocketClient(
        port: running.port, path: "/ws?token=\(token)&deviceID=a%20b%26c+d%2B",
        headers: ["Origin: https://example.org", "Authorization: Bearer \(token)", "X-Forwarded-For: 10.0.0.1, 10.0.0.2"])
      #expect(client.answer.hasPrefix("HTTP/1.1 101 "))
      let head = try running.server.opened.next().head
      #expect(head.method == "GET" && head.path == "/ws")
      #expect(head.query == "token=\(token)&deviceID=a%20b%26c%20d%2B")
      #expect(head.host == "example.org:1" && head.origin == "https://example.org")
      #expect(head.authorization == "Bearer \(token)")
      #expect(head.forwardedFor == "10.0.0.1, 10.0.0.2")
      #expect(head.peerAddress == "127.0.0.1" && !head.isTLS && !head.isInternal)
      #expect(head.subprotocols == nil)
    }
  }

  /// A long query without escapes does not travel by the library, and others do.
  @Test(arguments: [
    ("/ws?token=T", "/ws", "token=T"), ("/?a=1&token=T", "/", "a=1&token=T"), ("//a/?T", "/a/", "T"),
    ("/ws?token=T%2E", "/ws", "token=T."), ("/ws?token=T+", "/ws", "token=T%20"), ("/a/../ws?T&a=b", "/ws", "T&a=b"),
    ("/ws?T&&a=b~", "/ws", "T&&a=b~"), ("/ws", "/ws", ""),
  ])
  func theHeadIsTheSameHoweverItsQueryTravels(target: String, path: String, query: String) async throws {
    let token = String(repeating: "aB3-_.", count: 50)
    try await TestServer.with { running in
      let client = try SocketClient(port: running.port)
      let request = WebSocketClient.request(path: target.replacing("T", with: token))
      // The first frame comes with the head.
      try client.send(Array(request.utf8) + WebSocketClient.frame(.text, Array("hello".utf8)))
      #expect(try client.receive(through: "\r\n").hasPrefix("HTTP/1.1 101 "))
      let head = try running.server.opened.next().head
      #expect(head.path == path && head.query == query.replacing("T", with: token))
      #expect(try running.server.messages.next().text == "hello")
    }
  }

  /// It goes with a request that is refused, and with one that is no upgrade after all.
  @Test func aRefusedHeadHasItsQueryToo() async throws {
    let query = "token=" + String(repeating: "aB3-_.", count: 50)
    let behaviour = TestServer.Behaviour(
      decideUpgrade: { $0.query == query ? .refuse(status: 503) : .accept },
      request: { request, exchange in
        exchange.respond(status: request.head.query == query ? 200 : 404, contentType: nil, body: [])
      })
    try await TestServer.with(behaviour: behaviour) { running in
      for (upgrade, status) in [("websocket", "503"), ("h2c", "200")] {
        let client = try SocketClient(port: running.port)
        try client.send(
          "GET /ws?\(query) HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: \(upgrade)\r\n"
            + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: a\r\n\r\n")
        #expect(try client.receive(through: "\r\n").hasPrefix("HTTP/1.1 \(status) "))
      }
    }
  }

  @Test(arguments: [
    (offer: "throng.v1.json", selected: true), ("chat, throng.v1.json", true), ("throng.v1.json,chat", true),
    ("chat", false), ("chat, soap", false), ("u", false), ("throng.v1.json.bak", false),
  ])
  func selectsOnlyItsSubprotocol(offer: String, selected: Bool) async throws {
    try await TestServer.with { running in
      let client = try WebSocketClient(port: running.port, headers: ["Sec-WebSocket-Protocol: \(offer)"])
      #expect(client.answer.hasPrefix("HTTP/1.1 101 "))
      #expect(client.answer.contains("Sec-WebSocket-Protocol: throng.v1.json\r\n") == selected)
      #expect(client.answer.contains("Sec-WebSocket-Protocol") == selected)
      #expect(try running.server.opened.next().head.subprotocols == offer)
    }
  }

  @Test func selectsNothingWithoutAnOffer() async throws {
    try await TestServer.with { running in
      let client = try WebSocketClient(port: running.port, headers: ["Sec-WebSocket-Extensions: permessage-deflate"])
      #expect(client.answer.hasPrefix("HTTP/1.1 101 "))
      #expect(!client.answer.contains("Sec-WebSocket-Protocol") && !client.answer.contains("Extensions"))
    }
  }

  @Test(arguments: [
    ("POST /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: a", 405),
    ("GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 8\r\nSec-WebSocket-Key: a", 426),
    ("GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13", 400),
    ("GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: chess", 403),
  ])
  func anInvalidUpgradeGetsAnAnswer(request: String, status: Int) async throws {
    try await TestServer.with { running in
      let client = try SocketClient(port: running.port)
      try client.send(request + "\r\nConnection: Upgrade\r\n\r\n")
      #expect(try client.receive(through: "\r\n").contains(" \(status) "))
      try client.waitForEnd()
      // The library does not report an upgrade to another protocol.
      guard status != 403 else { return }
      #expect(try running.server.refused.next() == .init(path: "/ws", status: status, isUpgrade: true))
    }
  }

  /// The library takes a field whose name is the beginning of a known one, and the next line, for one field.
  @Test(arguments: ["X-Forwarded", "Auth", "Sec", "A", "Origin "], [true, false])
  func aHeadWithAFieldThatTheLibraryMisreadsIsRefused(name: String, isUpgrade: Bool) async throws {
    try await TestServer.with(behaviour: .init(request: { $1.respond(status: 200, contentType: nil, body: []) })) { running in
      let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: a\r\n"
      let origin = "Origin: https://evil.example\r\n"
      for field in ["\(name): 1\r\n\(origin)", "\(name): 1\r\nPragma: a\r\n\(origin)", "\(name)-Other: 1\r\n\(origin)"] {
        let client = try SocketClient(port: running.port)
        try client.send("GET /ws HTTP/1.1\r\nHost: a\r\n\(isUpgrade ? upgrade : "")\(field)Accept: */*\r\n\r\n")
        let isMisread = field.hasPrefix("\(name): 1\r\nO") || name.hasSuffix(" ")
        let expected = isMisread ? "400" : isUpgrade ? "101" : "200"
        #expect(try client.receive(through: "\r\n").contains(" \(expected) "), "\(field)")
        if isMisread { #expect(try running.server.refused.next() == .init(path: "/ws", status: 400, isUpgrade: isUpgrade)) }
      }
    }
  }

  @Test(arguments: [16, 19, 21, 24, 32, 38]) func headersThatAreTooLongAreAnswered(kilobytes: Int) async throws {
    try await TestServer.with(behaviour: .init(request: { $1.respond(status: 200, contentType: nil, body: []) })) { running in
      let text = String(repeating: "x", count: kilobytes * 1024)
      for upgrade in ["", "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: a\r\n"] {
        for (query, field) in [("?token=\(text)", ""), ("", "Authorization: Bearer \(text)\r\n"), ("", "Cookie: \(text)\r\n")] {
          let client = try SocketClient(port: running.port)
          try client.send("GET /ws\(query) HTTP/1.1\r\nHost: a\r\n\(upgrade)\(field)\r\n")
          let status = try client.receive(through: "\r\n").split(separator: " ")[1]
          #expect(status == (kilobytes > 19 ? "431" : upgrade.isEmpty ? "200" : "101"))
        }
      }
      if kilobytes > 19 { #expect(try running.server.refused.next() == .init(path: "/ws", status: 431, isUpgrade: false)) }
    }
  }

  @Test func theHandlerLearnsWhichSideClosed() async throws {
    try await TestServer.with { running in
      let (client, _) = try running.connect()
      try client.sendClose(4003)
      #expect(try running.server.closed.next() == 4003)
      #expect(try running.server.closedByPeer.next())
      let (other, connection) = try running.connect()
      try running.onLoop { connection.close(code: 4003, reason: "") }
      #expect(try other.receiveClose().code == 4003)
      try other.sendClose(4003)
      #expect(try running.server.closed.next() == 4003)
      #expect(try running.server.closedByPeer.next() == false)
    }
  }

  @Test func http2UpgradeIsAnsweredAsPlainHTTP() async throws {
    let behaviour = TestServer.Behaviour(request: { $1.respond(status: 200, contentType: nil, body: Array("plain".utf8)) })
    try await TestServer.with(behaviour: behaviour) { running in
      let client = try HTTPClient(port: running.port)
      let response = try client.ask(
        "GET", "/", headers: ["Upgrade: h2c", "Connection: Upgrade, HTTP2-Settings", "HTTP2-Settings: AAMAAABkAAQAAP__"])
      #expect(response.status == 200 && response.text == "plain")
    }
  }

  @Test func aClientThatNeverAsksIsCut() async throws {
    try await TestServer.with({ $0.handshakeTimeout = 1 }) { running in
      let silent = try SocketClient(port: running.port)
      let halfway = try SocketClient(port: running.port)
      try halfway.send("GET /ws HTTP/1.1\r\nHost:")
      try silent.waitForEnd()
      try halfway.waitForEnd()
    }
  }
}
