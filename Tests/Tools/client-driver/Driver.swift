import Foundation
import Synchronization
import ThrongClient

/// Drives ThrongClient for the scenarios of test_clients.py, see harness/driven.py.
actor Driver {
  private var client: ThrongClient?
  private var messages: [String: LocalMessage] = [:]
  private var tokenAsked: CheckedContinuation<String, any Error>?
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
  }

  /// Carries a command out, and tells its result. Commands that wait for the server do so beside
  /// others.
  func run(_ command: Command) async {
    if ["call", "logout", "signal"].contains(command.do) {
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
    case "logout": try await (try opened).logout()
    case "close": await (try opened).close()
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
    let options = ClientOptions(
      platform: command.platform.map(Platform.init), deviceID: command.deviceID, positions: command.positions ?? [],
      queueLimit: command.queueLimit ?? 1_000, log: { Output.tell(event: "log", .object(["line": .string($0)])) })
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
      tokenAsked = continuation
      Output.tell(event: "tokenWanted", .object([:]))
    }
  }

  private func giveToken(_ token: String?) {
    defer { tokenAsked = nil }
    guard let token else { tokenAsked?.resume(throwing: DriverError(description: "no token today")); return }
    tokenAsked?.resume(returning: token)
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
      "replyTo": message.options.replyTo.map(JSONValue.integer) ?? .null,
    ])
  }

  private func report(_ event: ClientEvent) throws {
    switch event {
    case .server(let event): Output.tell(event: event.name, try event.params)
    case .state(let state): Output.tell(event: "state", .object(state.members))
    case .message(let message): Output.tell(event: "message", show(message))
    case .sync(let sync): Output.tell(event: "sync", try sync.json)
    case .ready(let ready): Output.tell(event: "ready", try ready.json)
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
