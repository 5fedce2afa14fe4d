import Foundation
import Testing

@testable import ThrongClient

/// A client with a store: it shows what is stored, writes what it is told, and hands what is not sent to the next.
@Suite struct StoredClientTests {
  private let server = FakeServer()
  private let storage = TestStorage()
  private static let address = "ws://server.test/ws"
  private static let name = "ws://server.test/ws|alice"

  private func makeClient(storage: TestStorage? = nil, log: (@Sendable (String) -> Void)? = nil) throws -> ThrongClient {
    var environment = ThrongClient.Environment()
    environment.random = { 0 }
    let url = try #require(URL(string: StoredClientTests.address))
    let options = ClientOptions(userID: "alice", storage: storage ?? self.storage, transport: server, log: log)
    return ThrongClient(url: url, token: .fixed("token"), options: options, environment: environment)
  }

  /// Signs a client in, as a member of group g at seq 10.
  private func signIn(list: String = Scene.groups(Scene.info("g", lastSeq: 10))) async throws -> FakeConnection {
    let connection = try await server.accept()
    try await connection.answer("login", Scene.session())
    try await connection.answer("getJoinedGroupList", list)
    return connection
  }

  /// A client that is in step, and its connection.
  private func online(storage: TestStorage? = nil) async throws -> (ThrongClient, FakeConnection) {
    let client = try makeClient(storage: storage)
    async let session = client.connect()
    let connection = try await signIn()
    _ = try await session
    return (client, connection)
  }

  private func newMessage(_ seq: Int) -> String {
    "{\"jsonrpc\":\"2.0\",\"method\":\"onRecvNewMessage\",\"params\":{\"groupID\":\"g\",\"opTime\":1,"
      + "\"message\":\(Scene.message("g", seq: seq))}}"
  }

  /// Waits until the client has told of a conversation as a test says.
  private func wait(_ events: ClientEvents, for condition: (Conversation) -> Bool) async {
    for await event in events { if case .conversation(let told) = event, condition(told) { return } }
    Issue.record("the client has ended")
  }

  private func sync(_ seqs: ClosedRange<Int>, lastSeq: Int? = nil) -> String {
    let (list, last) = (seqs.map { Scene.message("g", seq: $0) }.joined(separator: ","), lastSeq ?? seqs.upperBound)
    return "{\"groups\":[{\"groupID\":\"g\",\"code\":0,\"epoch\":\"e\",\"lastSeq\":\(last),\"recovered\":true,"
      + "\"changeList\":[],\"changeSeq\":0,\"messageList\":[\(list)],\"more\":false}]}"
  }

  // MARK: Starts

  @Test func theNextClientShowsWhatThisOneKnew() async throws {
    var (client, connection) = try await online()
    let events = await client.events()
    for seq in 11...13 { connection.tell(newMessage(seq)) }
    await wait(events) { $0.info.lastSeq == 13 }
    await client.close()

    client = try makeClient()
    let next = await client.events()
    let session = Task { [client] in try await client.connect() }
    var told: [String] = []
    for await event in next {
      switch event {
      case .stored(let start):
        told.append("stored \(start.conversations.map { "\($0.groupID) \($0.info.lastSeq ?? 0) \($0.source)" })")
      case .state(.connecting): told.append("connecting")
      default: told.append("\(event)")
      }
      if told.count == 2 { break }
    }
    #expect(told == ["stored [\"g 13 stored\"]", "connecting"])
    let page = await client.messages(in: "g")
    #expect(page.messageList.map(\.seq) == [11, 12, 13] && page.source == .stored && !page.isFinished)
    connection = try await signIn(list: Scene.noGroups)
    try await connection.answer("syncGroups", sync(14...15))
    _ = try await session.value
    await wait(next) { $0.info.lastSeq == 15 }
    #expect(await client.conversation("g")?.info.selfInfo?.unreadCount == 5)
    #expect(await client.conversations().map(\.groupID) == ["g"])
    await client.close()
  }

  @Test func whatIsStoredIsReadBeforeThereIsAConnection() async throws {
    let (first, connection) = try await online()
    let events = await first.events()
    connection.tell(newMessage(11))
    await wait(events) { $0.info.lastSeq == 11 }
    await first.close()
    let client = try makeClient()
    #expect(await client.conversation("g")?.status == .member)
    #expect(await client.messages(in: "g").messageList.map(\.seq) == [11])
    #expect(await client.messages(in: "unknown").messageList.isEmpty)
    await client.close()
  }

  @Test func withoutAStorageNothingIsShownAtTheStart() async throws {
    let url = try #require(URL(string: StoredClientTests.address))
    let client = ThrongClient(url: url, token: .fixed("token"), options: ClientOptions(transport: server, log: nil))
    let events = await client.events()
    async let session = client.connect()
    let connection = try await signIn()
    _ = try await session
    connection.tell(newMessage(11))
    var told: [String] = []
    for await event in events {
      switch event {
      case .stored: told.append("stored")
      case .conversation(let conversation): told.append("\(conversation.info.lastSeq ?? 0)")
      default: break
      }
      if told.last == "11" { break }
    }
    #expect(!told.contains("stored"))
    #expect(await client.messages(in: "g", count: 1).messageList.map(\.seq) == [11], "it is kept in memory")
    await client.close()
  }

  // MARK: Messages

  @Test func whatTheStoreDoesNotHoldIsReadFromTheServer() async throws {
    let (client, connection) = try await online()
    let events = await client.events()
    connection.tell(newMessage(11))
    await wait(events) { $0.info.lastSeq == 11 }
    let page = Task { await client.messages(in: "g", count: 4) }
    let request = try await connection.request("getGroupHistoryMessageList")
    #expect(request.params == ["groupID": "g", "count": 3, "fromSeq": 11])
    let list = [10, 9, 8].map { Scene.message("g", seq: $0) }.joined(separator: ",")
    connection.tell(
      "{\"jsonrpc\":\"2.0\",\"id\":\(request.id),\"result\":{\"messageList\":[\(list)],\"isFinished\":false}}")
    #expect(await page.value.messageList.map(\.seq) == [8, 9, 10, 11])
    #expect(await page.value.source == .both)
    // It is stored now.
    await client.flush()
    let again = await client.messages(in: "g", count: 4)
    #expect(again.messageList.map(\.seq) == [8, 9, 10, 11] && again.source == .stored)
    // Where the server refuses, the store is all there is.
    let older = Task { await client.messages(in: "g", before: 8, count: 5) }
    let refused = try await connection.request("getGroupHistoryMessageList")
    #expect(refused.params == ["groupID": "g", "count": 5, "fromSeq": 8])
    connection.tell(
      "{\"jsonrpc\":\"2.0\",\"id\":\(refused.id),\"error\":{\"code\":10002,\"message\":\"no\",\"data\":{\"temporary\":true}}}")
    #expect(await older.value.messageList.isEmpty)
    #expect(await !older.value.isFinished)
    await client.close()
  }

  @Test func whatAnEventHasToldIsReadBehindIt() async throws {
    let (client, connection) = try await online()
    let events = await client.events()
    await client.flush()
    await storage.hold()
    connection.tell(newMessage(11))
    for await event in events { if case .server(.onRecvNewMessage) = event { break } }
    let page = Task { await client.messages(in: "g", count: 1) }
    let conversation = Task { await client.conversation("g") }
    await storage.release()
    #expect(await page.value.messageList.map(\.seq) == [11])
    #expect(await conversation.value?.info.lastSeq == 11)
    await client.close()
  }

  @Test func peopleAreStoredWhenTheApplicationReadsThem() async throws {
    let (client, connection) = try await online()
    let members = Task { try await client.getGroupMemberList(groupID: "g") }
    try await connection.answer(
      "getGroupMemberList", "{\"memberList\":[{\"userID\":\"bob\",\"nameCard\":\"card\"},{\"userID\":\"ann\"}],\"nextSeq\":0}")
    _ = try await members.value
    let users = Task { try await client.getUsersInfo(userIDList: ["bob"]) }
    try await connection.answer(
      "getUsersInfo", "{\"userList\":[{\"userID\":\"bob\",\"nickName\":\"B\",\"faceURL\":\"\",\"customInfo\":{}}]}")
    _ = try await users.value
    await client.flush()
    #expect(await client.storedMembers(of: "g").map(\.userID) == ["ann", "bob"])
    #expect(await client.storedMember("bob", of: "g")?.nameCard == "card")
    #expect(await client.storedProfile(of: "bob")?.nickName == "B")
    #expect(await client.storedProfile(of: "ann") == nil)
    await client.close()
  }

  // MARK: The outbox

  @Test func nothingLeavesBeforeTheDiskHasIt() async throws {
    let (client, connection) = try await online()
    await client.flush()
    await storage.hold()
    let message = await client.sendText("once", to: "g")
    #expect(message.state == .sending)
    // A request of a later time overtakes it.
    async let ping = client.ping()
    try await connection.answer("ping", "{\"serverTime\":5}")
    _ = try await ping
    await storage.release()
    try await connection.answer("sendGroupTextMessage", "{\"msgID\":\"m\",\"seq\":11,\"timestamp\":5,\"status\":\"Stored\"}")
    #expect(try await client.outcome(of: message).seq == 11)
    await client.close()
    let rows = try await storage.dump(StoredClientTests.name)
    #expect(!rows.keys.contains { $0.hasPrefix("o/") } && rows[StoreKeys.message(11, in: "g")] != nil)
  }

  /// The process ends with the request on its way: the next client looks for the message, and sends it again.
  @Test(arguments: [true, false]) func aProcessThatEndsInTheMiddleOfASend(isStored: Bool) async throws {
    var (client, connection) = try await online()
    let message = await client.sendText("once", to: "g")
    _ = try await connection.request("sendGroupTextMessage")
    await storage.kill()

    client = try makeClient()
    let events = await client.events()
    let session = Task { [client] in try await client.connect() }
    for await event in events {
      guard case .stored(let start) = event else { continue }
      #expect(start.outbox.map(\.clientMsgID) == [message.clientMsgID] && start.outbox.map(\.state) == [.sending])
      #expect(start.outbox.map(\.createdAt) == [message.createdAt])
      break
    }
    connection = try await signIn(list: Scene.noGroups)
    let own = Scene.message("g", seq: 11, sender: "alice", clientMsgID: message.clientMsgID)
    try await connection.answer(
      "syncGroups",
      "{\"groups\":[{\"groupID\":\"g\",\"code\":0,\"epoch\":\"e\",\"lastSeq\":11,\"recovered\":true,\"changeList\":[],"
        + "\"changeSeq\":0,\"messageList\":[\(isStored ? own : "")],\"more\":false}]}")
    _ = try await session.value
    if !isStored {
      let request = try await connection.request("sendGroupTextMessage")
      #expect(request.params == ["groupID": "g", "text": "once", "clientMsgID": .string(message.clientMsgID)])
      let result = "{\"msgID\":\"m\",\"seq\":12,\"timestamp\":5,\"status\":\"Stored\"}"
      connection.tell("{\"jsonrpc\":\"2.0\",\"id\":\(request.id),\"result\":\(result)}")
    }
    #expect(try await client.outcome(of: message).state == .stored)
    #expect(await client.outbox().isEmpty)
    await client.close()
  }

  @Test func theEndOfAClientKeepsWhatIsNotSent() async throws {
    let (first, _) = try await online()
    let message = await first.sendText("later", to: "g")
    let outcome = Task { try await first.outcome(of: message) }
    await first.close()
    #expect(try await outcome.value.state == .sending, "the next client sends it")
    #expect(try await first.outcome(of: message).state == .sending)
    #expect(await first.sendText("too late", to: "g").error as? ClientError == ClientError(.closed))
    let client = try makeClient()
    _ = await client.conversations()
    #expect(await client.outbox().map(\.clientMsgID) == [message.clientMsgID])
    await client.close()
  }

  @Test func aMessageMayBeSentAtOnceToAGroupThatWasJoinedAgain() async throws {
    let (client, connection) = try await online()
    let params = "{\"groupID\":\"g\",\"opTime\":9,\"platform\":\"Web\"}"
    connection.tell("{\"jsonrpc\":\"2.0\",\"method\":\"onQuitFromGroup\",\"params\":\(params)}")
    async let ping = client.ping()
    try await connection.answer("ping", "{\"serverTime\":5}")
    _ = try await ping
    #expect(await client.sendText("nobody hears it", to: "g").error as? ClientError == ClientError(.conversationEnded))
    async let joined = client.joinGroup(groupID: "g")
    try await connection.answer("joinGroup", "{\"status\":\"Joined\"}")
    _ = try await joined
    #expect(await client.sendText("back", to: "g").state == .sending)
    await client.flush()
    #expect(await client.conversation("g")?.canSend == false, "its event is still on its way")
    await client.close()
  }

  // MARK: Storages that fail

  @Test func aStorageThatFailsIsSaidOnceAndNoMoreThanThat() async throws {
    let lines = AsyncStream.makeStream(of: String.self)
    let full = TestStorage { done, count in done == .update && count > 2 ? StorageError(.full, "no room") : nil }
    let client = try makeClient(storage: full, log: { lines.continuation.yield($0) })
    let events = await client.events()
    async let session = client.connect()
    let connection = try await signIn()
    _ = try await session
    for seq in 11...12 { connection.tell(newMessage(seq)) }
    let message = await client.sendText("from memory", to: "g")
    try await connection.answer("sendGroupTextMessage", "{\"msgID\":\"m\",\"seq\":13,\"timestamp\":5,\"status\":\"Stored\"}")
    #expect(try await client.outcome(of: message).state == .stored)
    await client.flush()
    await client.close()
    var failures: [StorageFailure] = []
    for await event in events { if case .storageFailed(let failure) = event { failures.append(failure) } }
    #expect(failures == [StorageFailure(reason: .full, message: "no room", lostOutbox: false)])
    lines.continuation.finish()
    var said: [String] = []
    for await line in lines.stream { said.append(line) }
    #expect(said == ["throng: the storage has failed (Full), and the client goes on: no room"])
  }

  @Test func aStorageThatIsSlowHoldsNoEventUp() async throws {
    let (client, connection) = try await online()
    let events = await client.events()
    await client.flush()
    await storage.hold()
    for seq in 11...400 { connection.tell(newMessage(seq)) }
    for await event in events { if case .server(.onRecvNewMessage(let told)) = event, told.message.seq == 400 { break } }
    await storage.release()
    await wait(events) { $0.info.lastSeq == 400 }
    #expect(await client.conversation("g")?.info.selfInfo?.unreadCount == 390)
    await client.close()
  }

  // MARK: Signing out

  @Test(arguments: [true, false]) func nothingIsLeftOfAUserWhoIsForgotten(isOnline: Bool) async throws {
    let (client, connection) = try await online()
    connection.tell(newMessage(11))
    if !isOnline {
      connection.close(1006)
      let events = await client.events()
      if case .online = await client.currentState {
        for await event in events { if case .state(.waiting) = event { break } }
      }
    }
    await client.sendText("never sent", to: "g")
    if isOnline { _ = try await connection.request("sendGroupTextMessage") }
    let end = Task { try await client.logout(forget: true) }
    if isOnline {
      try await connection.answer("logout", "{}")
      try await end.value
    } else {
      await #expect(throws: ClientError(.notConnected)) { try await end.value }
    }
    #expect(try await storage.dump(StoredClientTests.name).isEmpty)
    #expect(await client.conversations().isEmpty)
    #expect(await client.outbox().map(\.state) == [.failed])
  }

  @Test func aClientThatWasClosedMayForget() async throws {
    let (client, _) = try await online()
    await client.close()
    await #expect(throws: ClientError.self) { try await client.logout(forget: true) }
    #expect(try await storage.dump(StoredClientTests.name).isEmpty)
  }

  @Test func signingOutForgetsNothingByItself() async throws {
    let (client, connection) = try await online()
    async let done: Void = client.logout()
    try await connection.answer("logout", "{}")
    try await done
    #expect(try await storage.dump(StoredClientTests.name)["g/g"] != nil)
  }

  // MARK: Names

  @Test(arguments: [
    ("wss://chat.example/ws", "wss://chat.example/ws|ann"),
    ("WSS://user:secret@Chat.Example:8443/Ws?token=secret#part", "wss://chat.example:8443/Ws|ann"),
    ("ws://[::1]:8080/ws", "ws://[::1]:8080/ws|ann"), ("ws://chat.example", "ws://chat.example|ann"),
  ]) func theNameOfAStoreHasNothingThatIsSecret(address: String, name: String) throws {
    let url = try #require(URL(string: address))
    #expect(ThrongClient.storeName(url, userID: "ann") == name)
    #expect(ThrongClient.storeName(url, userID: nil) == "memory")
  }
}
