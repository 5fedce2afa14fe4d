import Testing
import ThrongTestKit

@testable import Gateway

/// onReceiveMessageOptChanged, onConversationRead and onConversationChanged go to the user's other
/// sessions (Protocol.md, "Recipients").
@Suite struct OtherSessionsTests {
  /// Two sessions of mary, one of olga, and a group of both with three messages of olga's.
  private func with(
    _ type: String = "Public", loops: Int = 1,
    _ body: (LiveGateway, _ mary: Client, _ other: Client, _ olga: Client) async throws -> Void
  ) async throws {
    try await LiveGateway.with(loops: loops) { live in
      try await live.backend.create("g", type, memberList("mary"))
      for number in 1...3 { try await live.say("\(number)", in: "g", as: "olga") }
      let mary = try await live.signIn("mary", "platform=Web")
      try await body(live, mary, try await live.signIn("mary", "platform=Web"), try await live.signIn("olga"))
    }
  }

  @Test(arguments: [1, 2]) func anOptionIsToldToTheOthersOnly(loops: Int) async throws {
    try await with(loops: loops) { live, mary, other, olga in
      for option in ["NotReceive", "NotReceive", "Receive"] {
        #expect(try await mary.call("setGroupReceiveMessageOpt", #"{"groupID":"g","opt":"\#(option)"}"#)["result"] == [:])
      }
      try await live.heard(of: "g", by: mary, other, olga)
      let told = await other.heard("onReceiveMessageOptChanged")
      #expect(told.map { $0["opt"] } == ["NotReceive", "Receive"], "the same again is no change")
      #expect(told.allSatisfy { $0["groupID"] == "g" && $0["opTime"] == 1_700_000_000_000 })
      for client in [mary, other, olga] { #expect(await client.events == []) }
    }
  }

  @Test(arguments: ["Public", "Meeting"]) func aReadMarkIsToldToTheOthersWhereItMoved(type: String) async throws {
    try await with(type, loops: 2) { live, mary, other, olga in
      for params in [#","seq":1"#, #","seq":1"#, "", #","seq":1"#, #","seq":99"#] {
        #expect(try await mary.call("markGroupMessageAsRead", #"{"groupID":"g"\#(params)}"#)["result"] == [:])
      }
      try await live.heard(of: "g", by: mary, other, olga)
      let told = await other.heard("onConversationRead")
      #expect(told.map { $0["readSeq"] } == [1, 3], "forward only, and at most to the newest")
      #expect(told.allSatisfy { $0["groupID"] == "g" && $0["opTime"] == 1_700_000_000_000 })
      for client in [mary, other, olga] { #expect(await client.events == []) }
    }
  }

  @Test(arguments: [1, 2]) func aConversationIsToldToTheOthersAndItsEndByAMessageToAll(loops: Int) async throws {
    try await with(loops: loops) { live, mary, other, olga in
      for params in [#""isHidden":true,"marks":["m"]"#, #""isHidden":true,"marks":["m"]"#] {
        #expect(try await mary.call("setConversation", #"{"groupID":"g",\#(params)}"#)["result"] == [:])
      }
      #expect(try await mary.call("clearGroupHistory", #"{"groupID":"g"}"#)["result"] == ["clearedSeq": 3])
      try await live.heard(of: "g", by: mary, other, olga)
      let told = await other.heard("onConversationChanged")
      #expect(told.map { $0["isHidden"] } == [true, nil] && told.map { $0["clearedSeq"] } == [nil, 3])
      #expect(told[0]["marks"] == ["m"])
      for client in [mary, olga] { #expect(await client.heard("onConversationChanged").isEmpty) }
      try await live.say("4", in: "g", as: "olga")
      try await live.heard(of: "g", by: mary, other, olga)
      for client in [mary, other] {
        #expect(await client.heard("onConversationChanged").map { $0["isHidden"] } == [false])
      }
      #expect(await olga.heard("onConversationChanged").isEmpty)
    }
  }

  @Test func aRequestOfTheApplicationExcludesNoSession() async throws {
    try await with { live, mary, other, olga in
      _ = try await live.backend.result("markGroupMessageAsRead", as: "mary", #""groupID":"g","seq":2"#)
      _ = try await live.backend.result("setGroupReceiveMessageOpt", as: "mary", #""groupID":"g","opt":"NotReceive""#)
      _ = try await live.backend.result("setConversation", as: "mary", #""groupID":"g","isPinned":true"#)
      try await live.heard(of: "g", by: mary, other, olga)
      for client in [mary, other] {
        #expect(await client.heard("onConversationRead").map { $0["readSeq"] } == [2])
        #expect(await client.heard("onReceiveMessageOptChanged").map { $0["opt"] } == ["NotReceive"])
        #expect(await client.heard("onConversationChanged").map { $0["isPinned"] } == [true])
      }
      #expect(await olga.events == [])
    }
  }
}
