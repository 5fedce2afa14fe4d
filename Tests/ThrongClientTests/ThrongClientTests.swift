import Foundation
import Testing

@testable import ThrongClient

/// The actor: it does what the state decides, and wakes those who wait. StoredClientTests has its store.
@Suite struct ThrongClientTests {
  private let server = FakeServer()

  private func makeClient(token: TokenSource = .fixed("token"), queueLimit: Int = 1_000) throws -> ThrongClient {
    var environment = ThrongClient.Environment()
    environment.random = { 0 }
    let url = try #require(URL(string: "ws://server.test/ws"))
    let options = ClientOptions(queueLimit: queueLimit, transport: server)
    return ThrongClient(url: url, token: token, options: options, environment: environment)
  }

  /// A client that is signed in, and its connection.
  private func online() async throws -> (ThrongClient, FakeConnection) {
    let client = try makeClient()
    async let session = client.connect()
    let connection = try await server.signIn()
    #expect(try await session.userID == "alice")
    return (client, connection)
  }

  @Test func callsAndEvents() async throws {
    let client = try makeClient()
    let events = await client.events()
    async let session = client.connect()
    let connection = try await server.signIn()
    _ = try await session
    async let joined = client.joinGroup(groupID: "g")
    try await connection.answer("joinGroup", "{\"status\":\"Joined\"}")
    #expect(try await joined.status == .joined)
    connection.tell("{\"jsonrpc\":\"2.0\",\"method\":\"onKickedOffline\",\"params\":{\"reason\":\"OtherDevice\"}}")
    connection.close(4502, "replaced")
    var told: [String] = []
    for await event in events {
      switch event {
      case .state(.connecting): told.append("connecting")
      case .state(.online): told.append("online")
      case .state(.closed(let loss)): told.append("closed \(loss.code.rawValue)")
      case .ready: told.append("ready")
      case .server(.onKickedOffline(let event)): told.append("kicked \(event.reason)")
      default: told.append("\(event)")
      }
    }
    #expect(told == ["connecting", "online", "ready", "kicked OtherDevice", "closed 4502"])
    await #expect(throws: ClientError(.closed)) { try await client.ping() }
  }

  @Test func aConnectionThatIsLostIsMadeAgain() async throws {
    let (client, first) = try await online()
    first.close(1006)
    async let answer = client.ping()
    let second = try await server.signIn2(afterCall: "ping", result: "{\"serverTime\":5}")
    #expect(try await answer.serverTime == 5)
    await client.close()
    second.close(1000)
  }

  @Test func connectThrowsWhatClosesTheClient() async throws {
    let client = try makeClient()
    let session = Task { try await client.connect() }
    let connection = try await server.accept()
    let request = try await connection.request("login")
    connection.tell(
      "{\"jsonrpc\":\"2.0\",\"id\":\(request.id),\"error\":{\"code\":70003,\"message\":\"no token\",\"data\":{\"temporary\":false}}}"
    )
    await #expect(throws: ThrongError.self) { try await session.value }
    await #expect(throws: ThrongError.self) { try await client.connect() }
  }

  @Test func theTokenFunctionIsAsked() async throws {
    let client = try makeClient(token: .renewable { "asked" })
    let session = Task { try await client.connect() }
    let connection = try await server.accept()
    #expect(try await connection.request("login").params == ["token": "asked"])
    await client.close()
    await #expect(throws: ClientError.self) { try await session.value }
  }

  @Test func aCallThatIsCancelled() async throws {
    let (client, connection) = try await online()
    let call = Task { try await client.ping() }
    let request = try await connection.request("ping")
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
    // A late answer is of no interest.
    connection.tell("{\"jsonrpc\":\"2.0\",\"id\":\(request.id),\"result\":{\"serverTime\":5}}")
    async let answer = client.ping()
    try await connection.answer("ping", "{\"serverTime\":6}")
    #expect(try await answer.serverTime == 6)
    await client.close()
  }

  @Test func aWaitForTheSessionThatIsCancelled() async throws {
    let client = try makeClient()
    let wait = Task { try await client.connect() }
    _ = try await server.accept()
    wait.cancel()
    await #expect(throws: CancellationError.self) { try await wait.value }
    await client.close()
  }

  @Test func aMessageAndItsEnd() async throws {
    let (client, connection) = try await online()
    let events = await client.events()
    let message = await client.sendText("hello", to: "g")
    #expect(message.state == .sending && message.error == nil)
    async let outcome = client.outcome(of: message)
    try await connection.answer("sendGroupTextMessage", "{\"msgID\":\"m\",\"seq\":7,\"timestamp\":5,\"status\":\"Stored\"}")
    #expect(try await outcome.seq == 7)
    #expect(try await client.outcome(of: message).state == .stored)
    await client.close()
    var states: [LocalMessage.State] = []
    for await event in events { if case .message(let message) = event { states.append(message.state) } }
    #expect(states == [.sending, .stored])
  }

  /// More messages end with the client than are remembered.
  @Test func theEndOfAMessageThatIsForgottenAtOnce() async throws {
    let client = try makeClient(queueLimit: 2 * Outbox.remembered)
    var messages: [LocalMessage] = []
    for _ in 0..<(Outbox.remembered + 100) { messages.append(await client.sendText("hello", to: "g")) }
    let first = messages[0]
    async let outcome = client.outcome(of: first)
    await client.close()
    do {
      #expect(try await outcome.state == .failed)
    } catch let error as ClientError {
      // It was asked for behind the end.
      #expect(error.reason == .outcomeUnknown)
    }
  }

  @Test func manyMessagesLeaveInTheirOrder() async throws {
    let (client, connection) = try await online()
    for number in 0..<100 { await client.sendText("\(number)", to: "g") }
    for number in 0..<100 {
      let request = try await connection.request("sendGroupTextMessage")
      guard case .object(let params) = request.params else { Issue.record("no params"); return }
      #expect(params["text"] == .string("\(number)"))
      connection.tell(
        "{\"jsonrpc\":\"2.0\",\"id\":\(request.id),\"result\":{\"msgID\":\"m\",\"timestamp\":5,\"status\":\"Delivered\"}}")
    }
    await client.close()
  }

  @Test func aSlowReaderIsToldWhatIsLostAndOthersAreNot() async throws {
    let client = try makeClient()
    let early = await client.events()
    async let session = client.connect()
    let connection = try await server.signIn()
    _ = try await session
    // The events of the sign-in are told before the readers begin.
    for await event in early { if case .ready = event { break } }
    let (slow, quick) = (await client.events(limit: 2), await client.events())
    for number in 0..<5 {
      connection.tell(
        "{\"jsonrpc\":\"2.0\",\"method\":\"onQuitFromGroup\",\"params\":{\"groupID\":\"g\(number)\",\"opTime\":1,\"platform\":\"Web\"}}"
      )
    }
    connection.close(4503)
    var told: [String] = []
    for await event in quick { if let groupID = event.groupID { told.append(groupID) } }
    #expect(told == ["g0", "g1", "g2", "g3", "g4"])
    told = []
    for await event in slow {
      if let groupID = event.groupID { told.append(groupID) }
      if case .lost(let lost) = event { told.append("\(lost.count): \(lost.groupIDs.sorted())") }
    }
    // The end of the client is one more event.
    #expect(told == ["g0", "g1", "4: [\"g2\", \"g3\", \"g4\"]"])
    _ = client
  }

  @Test func aReaderThatIsCancelledEnds() async throws {
    let (client, _) = try await online()
    let events = await client.events()
    let reader = Task {
      for await _ in events {}
      return true
    }
    reader.cancel()
    #expect(await reader.value)
    await client.close()
  }

  @Test func logout() async throws {
    let (client, connection) = try await online()
    async let done: Void = client.logout()
    try await connection.answer("logout", "{}")
    try await done
    guard case .closed = await client.currentState else { Issue.record("not closed"); return }
  }

  @Test func aMethodOfALaterServer() async throws {
    let (client, connection) = try await online()
    async let answer = client.call("countStars", ["sky": "north"])
    let request = try await connection.request("countStars")
    #expect(request.params == ["sky": "north"])
    connection.tell("{\"jsonrpc\":\"2.0\",\"id\":\(request.id),\"result\":{\"stars\":[1,null]}}")
    #expect(try await answer == ["stars": [1, .null]])
    await client.close()
  }
}

extension FakeServer {
  /// Signs in a client that has a call waiting, which is sent before the groups are asked for.
  fileprivate func signIn2(afterCall method: String, result: String) async throws -> FakeConnection {
    let connection = try await accept()
    try await connection.answer("login", Scene.session())
    try await connection.answer(method, result)
    try await connection.answer("getJoinedGroupList", Scene.noGroups)
    return connection
  }
}
