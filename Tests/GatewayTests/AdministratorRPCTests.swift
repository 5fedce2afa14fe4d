import GroupModel
import Testing
import ThrongTestKit
import WireProtocol

@testable import Gateway

/// The application interface (Protocol.md, "Application interface").
@Suite struct AdministratorRPCTests {
  private let backend = Backend()

  private func code(_ method: String, _ params: String = "{}") async throws -> Int64 {
    try await backend.rpc(method, params)["error"]["code"].integer ?? 0
  }

  @Test func theAdministratorCreatesForAnOwner() async throws {
    let missing = try await backend.rpc("createGroup", #"{"groupType":"Public","groupName":"g"}"#)["error"]
    #expect(missing["code"] == -32602 && missing["data"]["field"] == "ownerUserID")
    #expect(try await code("createGroup", #"{"groupType":"BChatRoom","groupName":"g","groupID":"b","ownerUserID":"olga"}"#) == 0)
    let info = try await backend.rpc("getGroupsInfo", #"{"groupIDList":["b"]}"#)["result"]["resultList"][0]["info"]
    #expect(info["owner"] == "olga")
  }

  @Test func asUserHasThatUsersRights() async throws {
    let create = #""groupType":"BChatRoom","groupName":"g""#
    #expect(try await code("createGroup", #"{"asUser":"olga",\#(create)}"#) == 10007)
    #expect(
      try await code("createGroup", #"{"asUser":"olga","ownerUserID":"other","groupType":"Work","groupName":"g","groupID":"w"}"#)
        == 0)
    #expect(try await code("setGroupInfo", #"{"groupID":"w","groupName":"n","asUser":"other"}"#) == 10007, "olga owns it")
    #expect(try await code("setGroupInfo", #"{"groupID":"w","groupName":"n","asUser":null}"#) == 0, "null counts as absent")
  }

  @Test(arguments: ["", "@x", "administrator", "a b", String(repeating: "x", count: 33)])
  func asUserOutsideItsDomainRunsNothing(name: String) async throws {
    let error = try await backend.rpc(
      "createGroup", #"{"groupType":"Work","groupName":"g","ownerUserID":"o","asUser":"\#(name)"}"#)["error"]
    #expect(error["code"] == 10004 && error["data"]["field"] == "asUser")
    #expect(try await code("ping", #"{"asUser":5}"#) == -32602)
  }

  @Test func aBatchIsAnsweredInOrderWithoutItsNotifications() async throws {
    let answer = try await backend.post(
      """
      [{"jsonrpc":"2.0","id":"a","method":"createGroup","params":{"groupType":"Meeting","groupName":"g","groupID":"g","asUser":"olga"}},
       {"jsonrpc":"2.0","method":"sendGroupTextMessage","params":{"groupID":"g","text":"x","asUser":"olga"}},
       {"jsonrpc":"1.0","id":"b","method":"ping"},
       {"jsonrpc":"2.0","id":"c","method":"getGroupHistoryMessageList","params":{"groupID":"g","asUser":"olga"}}]
      """)
    let rows = try #require(answer).elements
    #expect(rows.map { $0["id"] } == ["a", nil, "c"])
    #expect(rows[1]["error"]["code"] == -32600)
    #expect(rows[2]["result"]["messageList"].elements.count == 1, "the request without id ran")
  }

  @Test func aRequestWithoutAnIDHasNoReply() async throws {
    #expect(try await backend.post(#"{"jsonrpc":"2.0","method":"ping"}"#) == nil)
    #expect(try await backend.post(#"[{"jsonrpc":"2.0","method":"ping"},{"jsonrpc":"2.0","method":"noSuch"}]"#) == nil)
  }

  @Test(
    arguments: [("", -32700), ("{", -32700), ("[]", -32600), ("5", -32600), (#"{"jsonrpc":"2.0","id":1}"#, -32600)]
      as [(String, Int64)])
  func anInvalidRequestIsAnsweredWithoutAnID(body: String, code: Int64) async throws {
    let answer = try #require(try await backend.post(body))
    #expect(answer["error"]["code"].integer == code && answer["id"] == nil && answer.names.contains("id"))
  }

  @Test func aBatchOfMoreThanTwentyIsRefusedWhole() async throws {
    func batch(_ count: Int) -> String {
      "[" + Array(repeating: #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, count: count).joined(separator: ",") + "]"
    }
    #expect(try await backend.post(batch(20))?.elements.count == 20)
    #expect(try await backend.post(batch(21))?["error"]["code"] == -32600)
  }

  @Test func thereIsNoSessionRate() async throws {
    for _ in 0..<300 { #expect(try await code("ping") == 0) }
  }
}
