import Foundation
import GroupModel
import GroupRuntime
import Synchronization
import Testing
import ThrongTestKit
import Webhooks
import WireProtocol

@testable import Gateway

/// The bodies of webhooks that Sources/ThrongServer/Documentation.docc/Backend.md shows: the server
/// posts them for the requests of `Story`, and each type is shown.
@Suite struct WebhookPageTests {
  private static let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Sources/ThrongServer/Documentation.docc/Backend.md")

  @Test func theBodiesOfThePageAreThoseOfTheServer() async throws {
    let text = try String(contentsOf: WebhookPageTests.page, encoding: .utf8)
    let shown = try text.matches(of: /```json\n([^`]+)```/).map { try JSON(String($0.1)).masked() }
    #expect(Set(shown.compactMap { $0["type"].string }) == Set(WebhookType.allCases.map(\.rawValue)))
    let posted = try await Story().posted().map { try JSON($0).masked() }
    for body in shown {
      let type = body["type"].string
      #expect(posted.contains(body), "not as shown: \(posted.filter { $0["type"].string == type })")
    }
  }
}

/// What a group and a live room see, from their beginning to the group's end.
private struct Story {
  /// 10:00 on 22 November 2026, UTC.
  private static let start: WallInstant = 1_795_341_600_000

  private let notes: Notes
  private let backend: Backend

  init() {
    let world = World()
    world.clocks.moveWall(by: Story.start.milliseconds(since: world.clocks.wall))
    notes = Notes(world.clocks)
    backend = Backend(
      world: world, rules: GroupRules(webhooks: WebhookTypes(WebhookType.notices)),
      webhooks: WebhookServices(poster: notes, asking: notes))
  }

  /// The bodies of all requests to the application.
  func posted() async throws -> [[UInt8]] {
    try await ask(
      "createGroup",
      #""groupType":"Public","groupName":"Book club","groupID":"books","maxMemberNum":4,"inviteMode":"Any","#
        + #""memberList":[{"userID":"bob"}]"#, by: "alice", on: .iOS)
    try await ask("joinGroup", #""groupID":"books","message":"I read a lot""#, by: "carol", on: .android)
    let application = try notes.applicationID()
    try await ask(
      "acceptGroupApplication", #""applicationID":"\#(application)","reason":"Welcome""#, by: "alice", on: .iOS)
    try await ask(
      "inviteUserToGroup", #""groupID":"books","userIDList":["dave"],"message":"Come and read""#, by: "alice", on: .iOS)
    try await ask(
      "sendGroupTextMessage",
      #""groupID":"books","text":"Who has read it?","clientMsgID":"bob-1","atUserIDList":["carol"]"#, by: "bob", on: .web)
    try await ask(
      "sendGroupTextMessage",
      #""groupID":"books","text":"I have","replyTo":3,"toUserIDList":["bob"],"extension":"{\"page\":112}""#, by: "alice",
      on: .iOS)
    try await ask(
      "modifyGroupMessage", #""groupID":"books","seq":3,"text":"Who has read all of it?""#, by: "bob", on: .web)
    try await ask("revokeGroupMessage", #""groupID":"books","seq":3"#, by: "bob", on: .web)
    try await ask(
      "reportMessage", #""groupID":"books","seq":4,"category":"rude","text":"Not the first time""#, by: "bob", on: .web,
      passing: 0)
    try await ask("sendGroupTextMessage", #""groupID":"books","text":"Come to my casino""#, by: "dave", on: .android)
    try await ask(
      "setGroupMemberInfo", #""groupID":"books","userID":"carol","nameCard":"Caro""#, by: "carol", on: .android)
    try await ask("setGroupInfo", #""groupID":"books","groupName":"Readers""#, by: "alice", on: .iOS)
    try await ask(
      "kickGroupMember", #""groupID":"books","userIDList":["dave"],"reason":"advertising""#, by: "alice", on: .iOS)
    try await ask("dismissGroup", #""groupID":"books""#, by: "alice", on: .iOS)
    try await ask(
      "createGroup", #""groupType":"AVChatRoom","groupName":"Lounge","groupID":"lounge""#, by: "alice", on: .iOS)
    try await ask("setGroupAttributes", #""groupID":"lounge","attributes":{"seat1":"alice"}"#, by: "alice", on: .iOS)
    try await ask("increaseGroupCounter", #""groupID":"lounge","key":"likes","value":12"#, by: "alice", on: .iOS)
    try await ask("setSelfInfo", #""nickName":"Alice""#, by: "alice", on: .iOS, passing: 0)
    let presence = PresenceRecorder(
      WebhookTypes(WebhookType.notices), users: backend.store.inner, groups: backend.store, clocks: backend.clocks, poster: notes)
    presence.note("alice", on: .iOS, isHere: true)
    backend.clocks.advance(by: 1000)
    presence.note("alice", on: .iOS, isHere: false)
    try await waitUntil("every type is posted") { notes.types == Set(WebhookType.allCases) }
    return notes.bodies
  }

  /// One request of a user, who has no session; then time passes.
  /// - Parameters:
  ///   - members: of the params, without braces.
  ///   - milliseconds: a second, as a rule.
  private func ask(
    _ method: String, _ members: String, by user: UserID, on platform: Platform, passing milliseconds: Int64 = 1000
  ) async throws {
    let request = try parsed(method, members)
    let reply: Reply = await withCheckedContinuation { continuation in
      backend.services.dispatcher.dispatch(request, by: .user(user, platform: platform, session: nil)) {
        continuation.resume(returning: $0)
      }
    }
    if case .failure(let error) = reply { Issue.record("\(method): \(error)") }
    backend.clocks.advance(by: milliseconds)
  }

  private func parsed(_ method: String, _ members: String) throws -> Request {
    let text = Array(#"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":{\#(members)}}"#.utf8)
    let padded = text + [UInt8](repeating: 0, count: JSONParser.padding)
    let envelope = padded.withUnsafeBytes {
      Envelope(
        padded: UnsafeRawBufferPointer(rebasing: $0.dropLast(JSONParser.padding)), parser: JSONParser(), methods: MethodTable(),
        servesApplication: false)
    }
    guard case .single(let call) = envelope else { throw WireError(.parseError, method) }
    switch call.content {
    case .request(let request): return request
    case .badParameters(let error): throw error
    case .unknownMethod, .invalid: throw WireError(.invalidRequest, method)
    }
  }
}

/// An application that notes what it is told and asked. It drops what advertises, and allows all else.
private final class Notes: WebhookPoster, WebhookAsking {
  private struct Note {
    let type: WebhookType
    let body: [UInt8]
  }

  private let clocks: ManualClocks
  private let notes = Mutex<[Note]>([])

  init(_ clocks: ManualClocks) { self.clocks = clocks }

  var types: Set<WebhookType> { Set(notes.withLock { $0.map(\.type) }) }
  var bodies: [[UInt8]] { notes.withLock { $0.map(\.body) } }
  var pendingCount: Int { 0 }

  func searchStore() {}
  func retryFailures() async throws(StoreError) -> Int { 0 }

  func post(_ entry: WebhookEntry) { note(entry.type, at: entry.timestamp, entry.data) }

  func asks(_ type: WebhookType) -> Bool { type.isQuestion }

  func verdict(on question: WebhookQuestion) async -> WebhookVerdict {
    note(question.type, at: clocks.wall, question.data)
    return String(decoding: question.data, as: UTF8.self).contains("casino") ? .drop : .allow(replacement: nil)
  }

  /// The ID of the application that was made last.
  func applicationID() throws -> String {
    let made = try notes.withLock { try $0.last { $0.type == .applicationMade }.map { try JSON($0.body) } }
    return try #require(made?["data"]["application"]["applicationID"].string)
  }

  private func note(_ type: WebhookType, at time: WallInstant, _ data: [UInt8]) {
    let body = WebhookRequest(id: "id", type, at: time, data: data).body
    notes.withLock { $0.append(Note(type: type, body: body)) }
  }
}

extension JSON {
  /// The same with stars in place of what is drawn by lot: the epoch in each msgID, the mark of the run
  /// in that of a message that is not stored, and an applicationID.
  /// - Parameter name: of the member that it is.
  fileprivate func masked(as name: String = "") throws -> JSON {
    switch self {
    case .array(let elements): return .array(try elements.map { try $0.masked() })
    case .object(var members):
      for (name, value) in members { members[name] = try value.masked(as: name) }
      return .object(members)
    case .string(let text) where name == "applicationID":
      try #require(text.wholeMatch(of: /[0-9a-z]+/) != nil, "\(text)")
      return "*"
    case .string(let text) where name == "msgID":
      let parts = try #require(text.wholeMatch(of: /[0-9a-z]+(-[0-9a-z]+)?-([0-9]+)/), "\(text)")
      return .string("*\(parts.1 == nil ? "" : "-*")-\(parts.2)")
    case .string(let text) where name == "reportID":
      let parts = try #require(text.wholeMatch(of: /([a-z]+)\/[0-9a-z]+-([0-9]+)/), "\(text)")
      return .string("\(parts.1)/*-\(parts.2)")
    case .null, .bool, .number, .string: return self
    }
  }
}
