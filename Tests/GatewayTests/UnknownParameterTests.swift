import Logging
import Testing
import ThrongTestKit
import WireProtocol

@testable import Gateway

/// Unknown parameters in the log, in traces, and on a strict server (Protocol.md, "Unknown
/// parameters").
@Suite struct UnknownParameterTests {
  private let log = RecordingLog()

  private var lines: [RecordingLog.Line] { log.lines.filter { $0.message == "unknown parameters" } }

  @Test func nobodyLooksForThemUnlessSomebodyWantsToKnow() async throws {
    let backend = Backend()
    let policy = backend.services.unknownParameters
    #expect(policy.current == .ignored && !policy.isLogged)
    let trace = try await backend.result("trace", #""userID":"olga""#)["traceID"].string ?? ""
    #expect(policy.current == .noted && !policy.isLogged)
    _ = try await backend.result("endTrace", #""traceID":"\#(trace)""#)
    #expect(policy.current == .ignored)
    let strict = Backend { $0.refusesUnknownParameters = true }
    #expect(strict.services.unknownParameters.current == .refused)
  }

  @Test func theLogNamesThemAtDebugAndTheRequestGoesOn() async throws {
    try await LiveGateway.with(log: log) { live in
      let alice = try await live.signIn("alice")
      let made = try await alice.call("createGroup", #"{"groupType":"Public","groupName":"g","members":["bob"]}"#)
      #expect(made["result"]["groupID"].string != nil)
      let line = try #require(lines.first)
      #expect(lines.count == 1 && line.level == .debug)
      #expect(
        line.metadata == [
          "method": "createGroup", "parameters": "members (the nearest is memberList)", "address": "127.0.0.1",
          "userID": "alice",
        ])
    }
  }

  @Test func theLogNamesThoseOfTheBackend() async throws {
    let backend = Backend(logger: log.logger)
    _ = try await backend.rpc("ping", #"{"asUser":"olga","x":1,"secret":"never"}"#)
    #expect(lines.map(\.metadata) == [["method": "ping", "parameters": "x, secret", "userID": "olga"]])
    #expect(!log.lines.contains { "\($0)".contains("never") }, "their values are no matter of the log")
  }

  @Test func aTraceNamesThem() async throws {
    let backend = Backend()
    try await backend.create("g")
    let trace = try await backend.result("trace", #""groupID":"g""#)["traceID"].string ?? ""
    _ = try await backend.result("setGroupInfo", #""groupID":"g","name":"n""#)
    _ = try await backend.result("setGroupInfo", #""groupID":"g","groupName":"n""#)
    let entries = try await backend.result("getTrace", #""traceID":"\#(trace)""#)["entryList"].elements
    let requests = entries.filter { $0["name"] == "setGroupInfo" }
    #expect(requests.map { $0["unknownParameters"] } == ["name (the nearest is groupName)", .null])
  }

  @Test func aTraceNamesThoseOfASession() async throws {
    try await LiveGateway.with { live in
      let alice = try await live.signIn("alice")
      let trace = try await live.backend.result("trace", #""userID":"alice""#)["traceID"].string ?? ""
      _ = try await alice.call("ping", #"{"x":1}"#)
      let entries = try await live.backend.result("getTrace", #""traceID":"\#(trace)""#)["entryList"].elements
      #expect(entries.filter { $0["name"] == "ping" }.map { $0["unknownParameters"] } == ["x"])
    }
  }

  @Test func theLogAndATraceNameMembersOfARequest() async throws {
    try await LiveGateway.with(log: log) { live in
      let alice = try await live.signIn("alice")
      let trace = try await live.backend.result("trace", #""userID":"alice""#)["traceID"].string ?? ""
      try await alice.send(#"{"jsonrpc":"2.0","id":"own","method":"ping","parms":{}}"#)
      let answer = try await alice.reply { $0["id"] == "own" }
      #expect(answer["result"]["serverTime"].integer != nil)
      let told = "parms of the request (the nearest is params)"
      #expect(lines.map { $0.metadata["parameters"] } == [told])
      let entries = try await live.backend.result("getTrace", #""traceID":"\#(trace)""#)["entryList"].elements
      #expect(entries.filter { $0["name"] == "ping" }.map { $0["unknownParameters"] } == [.string(told)])
    }
  }

  @Test func aStrictServerRefusesThemAndChangesNothing() async throws {
    try await LiveGateway.with(log: log, { $0.refusesUnknownParameters = true }) { live in
      let alice = try await live.signIn("alice")
      let error = try await alice.call(
        "createGroup", #"{"groupType":"Public","groupName":"g","groupID":"g","members":[]}"#)["error"]
      #expect(error["code"] == -32602 && error["data"]["field"] == "members" && error["data"]["temporary"] == false)
      #expect(error["message"] == "members is no parameter of createGroup; the nearest is memberList")
      let rows = try await alice.call("getGroupsInfo", #"{"groupIDList":["g"]}"#)["result"]["resultList"]
      #expect(rows[0]["code"] == 10010)
      #expect(lines.isEmpty, "its refusal has a line")
      #expect(log.lines.filter { $0.message == "request refused" }.map { $0.metadata["field"] } == ["members"])
    }
  }

  @Test func aStrictServerAsksTheBackendForAUserFirst() async throws {
    let backend = Backend { $0.refusesUnknownParameters = true }
    #expect(try await backend.rpc("joinGroup", #"{"groupID":"g","x":1}"#)["error"]["data"]["field"] == "asUser")
    #expect(try await backend.rpc("joinGroup", #"{"groupID":"g","x":1,"asUser":"olga"}"#)["error"]["data"]["field"] == "x")
    #expect(try await backend.rpc("login", #"{"token":"t","x":1}"#)["error"]["code"] == -32601)
  }
}
