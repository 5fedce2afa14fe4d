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
    !["get", "list", "search", "sync", "subscribe", "unsubscribe"].contains { method.hasPrefix($0) }
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

  /// A message is what a backend sends by the thousands, and a report is one of a user.
  @Test(arguments: MethodTable().entries.map(\.name).filter { AuditTests.changes($0) }) func onlyMessagesAreForDebugging(
    method: String
  ) async throws {
    let params = try #require(sampleCalls[method])
    _ = try await backend.code(method, params)
    let levels = log.lines.filter { $0.message == "audit" }.map(\.level)
    #expect(levels == [method.hasPrefix("sendGroup") || method == "reportMessage" ? .debug : .info])
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

  /// Who was removed and why, in the line and in the list; of many users the line has the first ten.
  @Test func usersOfAListAndTheReasonAreNamed() async throws {
    try await backend.create("g", "Public", by: "olga", memberList("mary", "mike"))
    let ban = #""userIDList":["mary","mike","mary"],"reason":"spam\nagain","banTime":60"#
    _ = try await backend.result("kickGroupMember", #""groupID":"g",\#(ban)"#)
    let crowd = (1...100).map { "u\($0)" }
    let list = crowd.map { #""\#($0)""# }.joined(separator: ",")
    _ = try await backend.result("importUsers", #""userIDList":[\#(list)]"#)
    _ = try await backend.result("getUsersInfo", #""userIDList":["mary"]"#)
    let lines = log.audit.suffix(2)
    #expect(
      lines.first == [
        "method": "kickGroupMember", "by": "test", "code": "0", "groupID": "g",
        "userIDList": #"["mary", "mike", "mary"]"#, "userCount": "3", "reason": "spam\nagain",
      ])
    #expect(lines.last?["userIDList"] == "\(crowd.prefix(10).map { $0 })" && lines.last?["userCount"] == "100")
    let actions = try await backend.result("listAdministratorActions")["actionList"].elements
    #expect(actions.map { $0["method"] } == ["importUsers", "kickGroupMember", "createGroup"])
    #expect(actions[0]["userIDList"] == .array(crowd.map { .string($0) }) && actions[0]["userCount"] == 100)
    #expect(actions[1]["userIDList"] == ["mary", "mike", "mary"] && actions[1]["userCount"] == 3)
    #expect(actions[1]["reason"] == "spam\nagain" && actions[2]["userIDList"] == .null && actions[2]["userCount"] == .null)
  }

  /// A list may be longer, and members that a method does not have may hold anything.
  @Test func aLongListAndALongReasonAreCut() async throws {
    try await backend.create("g", "Public", by: "olga")
    let list = (1...500).map { #""u\#($0)""# }.joined(separator: ",")
    _ = try await backend.result("sendGroupSystemNotification", #""groupID":"g","content":"c","userIDList":[\#(list)]"#)
    let text = String(repeating: "x", count: 5000)
    let unknown = #""userIDList":["\#(text)",5],"reason":"\#(text)""#
    _ = try await backend.result("setGroupInfo", #""groupID":"g","groupName":"n",\#(unknown)"#)
    let lines = log.audit.suffix(2)
    #expect(lines.first?["userCount"] == "500" && lines.last?["userCount"] == "1")
    #expect(lines.allSatisfy { $0.values.allSatisfy { $0.utf8.count <= 1024 } })
    let actions = try await backend.result("listAdministratorActions")["actionList"].elements
    #expect(actions[1]["userIDList"].elements.count == 100 && actions[1]["userCount"] == 500)
    #expect(actions[0]["reason"].string?.count == 512 && actions[0]["userIDList"].elements[0].string?.count == 64)
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
      ("sendGroupSignal", #""name":"SECRET","data":"SECRET""#),
      ("setGroupInfo", #""notification":"SECRET""#), ("inviteUserToGroup", #""userIDList":["mary"],"message":"SECRET""#),
      ("setGroupMemberInfo", #""userID":"mary","nameCard":"SECRET""#),
      ("kickGroupMember", #""userIDList":["mary"]"#), ("sendGroupSystemNotification", #""content":"SECRET""#),
    ]
    for (method, params) in calls { _ = try await backend.result(method, #""groupID":"g",\#(params)"#) }
    _ = try await backend.result("setGroupAttributes", #""groupID":"r","attributes":{"SECRET":"SECRET"}"#)
    _ = try await backend.result("kickUser", #""userID":"mary""#)
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
