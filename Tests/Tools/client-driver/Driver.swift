import Foundation
import Synchronization
import ThrongClient

/// Drives ThrongClient for the scenarios of test_clients.py, see harness/driven.py.
actor Driver {
  private var client: ThrongClient?
  private var storage: (any Storage)?
  private var messages: [String: LocalMessage] = [:]
  /// Those who wait for a token, the last one last: the client has given the others up.
  private var tokensAsked: [CheckedContinuation<String, any Error>] = []
  private let clock = Clock()

  /// A clock that goes on as a test says.
  private final class Clock: Sendable {
    private let passed = Mutex(Duration.zero)
    var now: ContinuousClock.Instant { ContinuousClock.now + passed.withLock { $0 } }
    func pass(_ duration: Duration) { passed.withLock { $0 += duration } }
  }

  /// A failure that a test has asked for, or a command that makes no sense.
  struct DriverError: Error, CustomStringConvertible {
    let description: String
  }

  struct Command: Decodable {
    let id: Int
    let `do`: String
    var url: String?
    var token: String?
    var platform: String?
    var deviceID: String?
    var queueLimit: Int?
    var positions: [GroupPosition]?
    var random: Double?
    var method: String?
    var params: JSONValue?
    var queue: Bool?
    var groupID: String?
    var text: String?
    var data: String?
    var clientMsgID: String?
    var priority: String?
    var atUserIDList: [String]?
    var onlineUserOnly: Bool?
    var needReadReceipt: Bool?
    var `extension`: String?
    var replyTo: Int?
    var isExcludedFromUnreadCount: Bool?
    var isExcludedFromLastMessage: Bool?
    var toUserIDList: [String]?
    var seconds: Double?
    var userIDList: [String]?
    var userID: String?
    var name: String?
    var storage: String?
    var directory: String?
    var limits: Limits?
    var tokenTimeout: Double?
    var hidden: Bool?
    var before: Int?
    var count: Int?
    var forget: Bool?
    var key: String?
    var value: String?
  }

  struct Limits: Decodable {
    var messagesPerGroup: Int?
    var groups: Int?
    var bytes: Int?
  }

  /// Carries a command out, and tells its result. Commands that wait for the server do so beside
  /// others.
  func run(_ command: Command) async {
    if ["call", "close", "flush", "logout", "messages", "signal"].contains(command.do) {
      Task { await answer(command) }
    } else {
      await answer(command)
    }
  }

  private func answer(_ command: Command) async {
    do {
      Output.tell(["id": .integer(command.id), "result": try await result(of: command)])
    } catch {
      Output.tell(["id": .integer(command.id), "error": JSONValue(error: error)])
    }
  }

  func close() async { await client?.close() }

  private func result(of command: Command) async throws -> JSONValue {
    switch command.do {
    case "open": try await open(command)
    case "token": giveToken(command.token)
    case "call":
      return try await opened.call(command.method ?? "", command.params ?? .object([:]), waits: command.queue ?? true)
    case "send": return show(try await send(command))
    case "resend":
      guard let message = messages[command.clientMsgID ?? ""] else { throw DriverError(description: "no such message") }
      return show(await (try opened).resend(message))
    case "watch": try await (try opened).watchUsers(command.userIDList ?? [])
    case "unwatch": await (try opened).unwatchUsers(command.userIDList)
    case "statusOf": return try await (try opened).status(of: command.userID ?? "").map(JSONValue.init(encoding:)) ?? .null
    case "signal":
      try await (try opened).sendSignal(command.name ?? "", to: command.groupID ?? "", data: command.data)
    case "typing": await (try opened).sendTyping(in: command.groupID ?? "")
    case "mayWrite": return .boolean(await (try opened).writeDelay(in: command.groupID ?? "") == .zero)
    case "pass": clock.pass(.seconds(command.seconds ?? 0))
    case "connect": try await (try opened).connect()
    case "reconnectNow": await (try opened).reconnectNow()
    case "positions": return try JSONValue(encoding: await (try opened).positions())
    case "logout": try await (try opened).logout(forget: command.forget ?? false)
    case "close": await (try opened).close()
    case "flush": await (try opened).flush()
    case "conversations":
      let conversations = await (try opened).conversations(hidden: command.hidden ?? false)
      return .array(try conversations.map { try $0.json })
    case "conversation": return try await (try opened).conversation(command.groupID ?? "")?.json ?? .null
    case "messages":
      return try await (try opened).messages(in: command.groupID ?? "", before: command.before, count: command.count ?? 50).json
    case "members": return try JSONValue(encoding: await (try opened).storedMembers(of: command.groupID ?? ""))
    case "profile": return try await (try opened).storedProfile(of: command.userID ?? "").map(JSONValue.init(encoding:)) ?? .null
    case "outbox":
      let messages = await (try opened).outbox()
      return .array(messages.map { show($0) })
    case "discard":
      guard let message = messages[command.clientMsgID ?? ""] else { throw DriverError(description: "no such message") }
      await (try opened).discard(message)
    case "dump": return try await dump()
    case "poke": try await poke(command.key ?? "", command.value ?? "")
    default: throw DriverError(description: "no such command")
    }
    return .null
  }

  private var opened: ThrongClient {
    get throws {
      guard let client else { throw DriverError(description: "nothing is open") }
      return client
    }
  }

  private func open(_ command: Command) async throws {
    guard let url = URL(string: command.url ?? "") else { throw DriverError(description: "no address") }
    storage = try makeStorage(command)
    let options = ClientOptions(
      platform: command.platform.map(Platform.init), deviceID: command.deviceID, userID: command.userID,
      positions: command.positions ?? [], queueLimit: command.queueLimit ?? 1_000,
      tokenTimeout: .seconds(command.tokenTimeout ?? 30), storage: storage, storageLimits: StorageLimits(command.limits),
      log: { Output.tell(event: "log", .object(["line": .string($0)])) })
    var environment = ThrongClient.Environment()
    environment.now = { [clock] in clock.now }
    if let random = command.random { environment.random = { random } }
    let source = command.token.map(TokenSource.fixed) ?? .renewable { [self] in try await askForToken() }
    let client = ThrongClient(url: url, token: source, options: options, environment: environment)
    self.client = client
    let events = await client.events()
    Task {
      do {
        for await event in events { try report(event) }
      } catch {
        // Without its events a driver is of no use: the test sees its end.
        fatalError("\(error)")
      }
    }
    // The state tells how it goes.
    Task { try await client.connect() }
  }

  private func askForToken() async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
      tokensAsked.append(continuation)
      Output.tell(event: "tokenWanted", .object([:]))
    }
  }

  private func giveToken(_ token: String?) {
    let asked = tokensAsked.popLast()
    guard let token else { asked?.resume(throwing: DriverError(description: "no token today")); return }
    asked?.resume(returning: token)
  }

  // MARK: The store

  /// Nil = the client's own memory.
  private func makeStorage(_ command: Command) throws -> (any Storage)? {
    let kind = command.storage ?? "memory"
    if kind == "memory" { return nil }
    let files = SQLiteStorage(directory: URL(filePath: command.directory ?? "."))
    if kind == "disk" { return files }
    if kind == "refused" { return FailingStorage(files, from: nil) }
    guard kind.hasPrefix("full:"), let number = Int(kind.dropFirst(5)) else { throw DriverError(description: "no such storage") }
    return FailingStorage(files, from: number)
  }

  private var opening: any Storage {
    get throws {
      guard let storage else { throw DriverError(description: "there is no storage") }
      return storage
    }
  }

  /// The whole store.
  private func dump() async throws -> JSONValue {
    let rows = try await opening.rows(from: "", to: "\u{7f}", limit: nil, isDescending: false)
    return .object(
      try Dictionary(
        rows.map { ($0.key, try JSONDecoder().decode(JSONValue.self, from: Data($0.value.utf8))) },
        uniquingKeysWith: { first, _ in first }))
  }

  private func poke(_ key: String, _ value: String) async throws {
    try await opening.update([key]) { _ in [.put(key, value: value)] }
  }

  private func send(_ command: Command) async throws -> LocalMessage {
    let options = SendOptions(
      priority: command.priority.map(MessagePriority.init), atUserIDList: command.atUserIDList,
      onlineUserOnly: command.onlineUserOnly, needReadReceipt: command.needReadReceipt, extension: command.extension,
      replyTo: command.replyTo, isExcludedFromUnreadCount: command.isExcludedFromUnreadCount,
      isExcludedFromLastMessage: command.isExcludedFromLastMessage, toUserIDList: command.toUserIDList,
      clientMsgID: command.clientMsgID)
    let groupID = command.groupID ?? ""
    if let text = command.text { return await (try opened).sendText(text, to: groupID, options: options) }
    return await (try opened).sendCustom(command.data ?? "", to: groupID, options: options)
  }

  private func show(_ message: LocalMessage) -> JSONValue {
    messages[message.clientMsgID] = message
    return .object([
      "clientMsgID": .string(message.clientMsgID), "groupID": .string(message.groupID), "state": .string(message.state.rawValue),
      "seq": message.seq.map(JSONValue.integer) ?? .null, "msgID": message.msgID.map(JSONValue.string) ?? .null,
      "error": message.error.map(JSONValue.init(error:)) ?? .null,
      "extension": message.options.extension.map(JSONValue.string) ?? .null,
      "replyTo": message.options.replyTo.map(JSONValue.integer) ?? .null, "createdAt": .integer(message.createdAt),
    ])
  }

  private func report(_ event: ClientEvent) throws {
    switch event {
    case .server(let event): Output.tell(event: event.name, try event.params)
    case .state(let state): Output.tell(event: "state", .object(state.members))
    case .message(let message): Output.tell(event: "message", show(message))
    case .sync(let sync): Output.tell(event: "sync", try sync.json)
    case .ready(let ready): Output.tell(event: "ready", try ready.json)
    case .stored(let start):
      Output.tell(
        event: "stored",
        .object([
          "conversations": .array(try start.conversations.map { try $0.json }),
          "outbox": .array(start.outbox.map { show($0) }),
          "source": "stored",
        ]))
    case .conversation(let conversation):
      Output.tell(event: "conversation", .object(["conversation": try conversation.json, "source": "server"]))
    case .storageFailed(let failure):
      Output.tell(
        event: "storageFailed",
        .object([
          "reason": .string(failure.reason.rawValue), "message": .string(failure.message),
          "lostOutbox": .boolean(failure.lostOutbox),
        ]))
    case .renewed(let session): Output.tell(event: "renewed", try JSONValue(encoding: session))
    case .renewalFailed(let error): Output.tell(event: "renewalFailed", JSONValue(error: error))
    case .resumeFailed(let error): Output.tell(event: "resumeFailed", JSONValue(error: error))
    case .status(let news):
      Output.tell(
        event: "status",
        .object([
          "userList": try JSONValue(encoding: news.userList), "unknownUserIDList": try JSONValue(encoding: news.unknownUserIDs),
        ]))
    case .watchFailed(let failure):
      Output.tell(
        event: "watchFailed",
        .object(["userIDList": try JSONValue(encoding: failure.userIDs), "error": JSONValue(error: failure.error)]))
    case .lost(let lost): Output.tell(event: "lost", .object(["count": .integer(lost.count)]))
    }
  }
}

extension StorageLimits {
  init(_ limits: Driver.Limits?) {
    self.init()
    messagesPerGroup = limits?.messagesPerGroup ?? messagesPerGroup
    groups = limits?.groups ?? groups
    bytes = limits?.bytes ?? bytes
  }
}
