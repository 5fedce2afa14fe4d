import Logging
import Testing
import ThrongTestKit
import WireProtocol

@testable import Gateway

/// The log tells of the changes that the backend has made or tried to make, and of no message.
@Suite(.serialized) struct AuditTests {
  private let log: RecordingLog
  private let backend: Backend

  init() {
    log = RecordingLog()
    backend = Backend(logger: log.logger)
  }

  private static func changes(_ method: String) -> Bool {
    !["get", "list", "search", "sync"].contains { method.hasPrefix($0) }
      && !["ping", "rpc.discover", "login", "logout"].contains(method)
  }

  @Test(arguments: MethodTable().entries.map(\.name), ["olga", nil]) func writesAreNotedOnceAndReadsAreNot(
    method: String, user: String?
  ) async throws {
    let params = try #require(sampleCalls[method])
    let code = try await backend.code(method, as: user, params)
    let lines = log.audit
    #expect(lines.count == (Self.changes(method) ? 1 : 0))
    for line in lines {
      #expect(line["method"] == method && line["by"] == "test" && line["code"] == "\(code)")
      #expect(line["asUser"] == user)
      if params.contains(#""groupID":"g""#) { #expect(line["groupID"] == "g") }
      if params.contains(#""userID":"mary""#), !params.contains("List") { #expect(line["userID"] == "mary") }
      if params.contains(#""applicationID":"a""#) { #expect(line["applicationID"] == "a") }
    }
  }

  /// A message is what a backend sends by the thousands.
  @Test(arguments: MethodTable().entries.map(\.name).filter { AuditTests.changes($0) }) func onlyMessagesAreForDebugging(
    method: String
  ) async throws {
    let params = try #require(sampleCalls[method])
    _ = try await backend.code(method, params)
    let levels = log.lines.filter { $0.message == "audit" }.map(\.level)
    #expect(levels == [method.hasPrefix("sendGroup") ? .debug : .info])
  }

  @Test func aLineNamesWhatWasDone() async throws {
    try await backend.create("g", "Public", by: "olga", memberList("mary"))
    _ = try await backend.result("setGroupMemberRole", #""groupID":"g","userID":"mary","role":"Admin""#)
    #expect(
      log.audit == [
        ["method": "createGroup", "by": "test", "code": "0", "asUser": "olga", "groupID": "g"],
        ["method": "setGroupMemberRole", "by": "test", "code": "0", "groupID": "g", "userID": "mary"],
      ])
    #expect(log.lines.allSatisfy { $0.level == .info })
  }

  @Test func refusedCallsAreNotedWithTheirCode() async throws {
    _ = try await backend.rpc("dismissGroup", #"{"groupID":"none"}"#)
    _ = try await backend.rpc("kickUser", as: "olga", #""userID":"mary""#)
    #expect(log.audit.map { $0["code"] } == ["10010", "10007"])
  }

  @Test(arguments: ["createGroup", "importGroup"]) func aGroupThatIsMadeIsNamed(method: String) async throws {
    let made = try await backend.result(method, #""groupType":"Public","groupName":"g","ownerUserID":"olga""#)["groupID"]
    #expect(made.string?.hasPrefix("@TGS#") == true)
    #expect(log.audit.map { $0["groupID"] } == [made.string])
  }

  @Test func callsWithBadParametersAreNoted() async throws {
    var codes: [String] = []
    for params in ["{}", #"{"groupID":"g","userIDList":[]}"#, #"{"groupID":5,"userIDList":["mary"]}"#, "[]"] {
      let code = try #require(try await backend.rpc("kickGroupMember", params)["error"]["code"].integer)
      codes.append("\(code)")
    }
    #expect(try await backend.rpc("kickGroupMember", #"{"groupID":"g","asUser":"a b"}"#)["error"]["code"] == 10004)
    #expect(try await backend.rpc("kickGroupMember", #"{"asUser":"olga"}"#)["error"]["code"] == -32602)
    #expect(log.audit.map { $0["code"] } == codes + ["10004", "-32602"])
    #expect(codes.contains("-32602"))
    #expect(log.audit.allSatisfy { $0["method"] == "kickGroupMember" && $0["by"] == "test" })
    #expect(log.audit.map { $0["asUser"] } == [nil, nil, nil, nil, nil, "olga"])
    #expect(try await backend.code("getGroupMemberList", #""groupID":5"#) == -32602)
    #expect(log.audit.count == 6, "a method that changes nothing")
  }

  @Test func invalidRequestsAreNotNoted() async throws {
    #expect(try await backend.rpc("noSuch")["error"]["code"] == -32601)
    _ = try await backend.post("{")
    _ = try await backend.post("[]")
    _ = try await backend.post("5")
    #expect(log.audit == [])
  }

  @Test func eachCallOfABatchIsNotedAlsoWithoutAnID() async throws {
    _ = try await backend.post(
      """
      [{"jsonrpc":"2.0","method":"dismissGroup","params":{"groupID":"a"}},
       {"jsonrpc":"2.0","id":1,"method":"ping"},
       {"jsonrpc":"2.0","id":2,"method":"dismissGroup","params":{"groupID":"b"}}]
      """)
    #expect(log.audit.map { $0["groupID"] } == ["a", "b"])
  }

  @Test func nothingOfWhatWasSaidIsLogged() async throws {
    try await backend.create("g", "Public", by: "olga", #""introduction":"SECRET","customInfo":{"k":"SECRET"}"#)
    try await backend.create("r", "AVChatRoom", by: "olga")
    let calls = [
      ("sendGroupTextMessage", #""text":"SECRET","clientMsgID":"SECRET""#), ("sendGroupCustomMessage", #""data":"SECRET""#),
      ("setGroupInfo", #""notification":"SECRET""#), ("inviteUserToGroup", #""userIDList":["mary"],"message":"SECRET""#),
      ("setGroupMemberInfo", #""userID":"mary","nameCard":"SECRET""#),
      ("kickGroupMember", #""userIDList":["mary"],"reason":"SECRET""#), ("sendGroupSystemNotification", #""content":"SECRET""#),
    ]
    for (method, params) in calls { _ = try await backend.result(method, #""groupID":"g",\#(params)"#) }
    _ = try await backend.result("setGroupAttributes", #""groupID":"r","attributes":{"SECRET":"SECRET"}"#)
    _ = try await backend.result("kickUser", #""userID":"mary","reason":"SECRET""#)
    #expect(
      try await backend.code(
        "importGroupMessages", #""groupID":"g","messageList":[{"sender":"olga","timestamp":1,"text":"SECRET"}]"#) == 10007)
    #expect(log.audit.count == 2 + calls.count + 3)
    #expect(!log.lines.contains { "\($0)".contains("SECRET") })
  }

  /// A name that is none may be anything, and of any length.
  @Test(arguments: ["x", "e\u{301}\u{301}\u{301}\u{301}\u{301}", "\u{1f468}\u{200d}"])
  func aLineIsShortWhateverIsGivenForAName(piece: String) async throws {
    let name = String(repeating: piece, count: 5000)
    #expect(try await backend.code("refuseGroupApplication", #""applicationID":"\#(name)""#) == 10004)
    #expect(try await backend.code("acceptGroupApplication", #""applicationID":"a","groupID":"\#(name)""#) == 10004)
    #expect(log.audit.count == 2)
    for line in log.audit { #expect(line.values.allSatisfy { $0.utf8.count <= 256 }) }
  }
}
