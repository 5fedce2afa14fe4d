import GroupModel
import Testing
import ThrongTestKit
import WireProtocol

@testable import Gateway

/// Read receipts over real sessions (Protocol.md, "Read receipts").
@Suite struct ReadReceiptTests {
  private let sent = #""groupID":"g","text":"x","needReadReceipt":true"#

  @Test(arguments: [1, 2]) func theSendersSessionsAloneAreTold(loops: Int) async throws {
    try await LiveGateway.with(loops: loops) { live in
      try await live.backend.create("g", "Public", memberList("mary", "adam"))
      let (mary, other) = (try await live.signIn("mary"), try await live.signIn("mary"))
      let (olga, adam) = (try await live.signIn("olga"), try await live.signIn("adam"))
      let message = try await mary.call("sendGroupTextMessage", "{\(sent)}")["result"]
      #expect(message["status"] == "Stored")
      #expect(try await olga.event("onRecvNewMessage")["message"]["needReadReceipt"] == true)
      for client in [olga, adam] {
        #expect(try await client.call("sendMessageReadReceipts", #"{"groupID":"g","seqList":[1]}"#)["result"] == [:])
      }
      for client in [mary, other] {
        var last: JSON = .null
        var count = 0
        while last["readCount"] != 2 {
          // The next round comes 250 ms after the first.
          if count > 0 { await live.advance(by: 250) }
          let params = try await client.event("onRecvMessageReadReceipts")
          #expect(params["groupID"] == "g" && params["receiptList"].elements.count == 1)
          last = params["receiptList"][0]
          count += 1
        }
        #expect(last == ["seq": 1, "readCount": 2, "unreadCount": 0] && count <= 2)
      }
      try await live.heard(of: "g", by: mary, other, olga, adam)
      for client in [olga, adam] { #expect(await client.heard("onRecvMessageReadReceipts") == []) }
    }
  }

  @Test func aSenderBehindTheApplicationIsToldToo() async throws {
    try await LiveGateway.with { live in
      try await live.backend.create("g", "Work", memberList("mary"))
      let mary = try await live.signIn("mary")
      _ = try await live.backend.result("sendGroupTextMessage", as: "mary", sent)
      _ = try await live.backend.result("sendMessageReadReceipts", as: "olga", #""groupID":"g","seqList":[1]"#)
      let params = try await mary.event("onRecvMessageReadReceipts")
      #expect(params["receiptList"] == [["seq": 1, "readCount": 1, "unreadCount": 0]])
      let counts = try await live.backend.result("getMessageReadReceipts", as: "mary", #""groupID":"g","seqList":[1]"#)
      #expect(counts["receiptList"] == params["receiptList"])
    }
  }

  @Test func theRowsOfAListHaveProfiles() async throws {
    try await LiveGateway.with { live in
      try await live.backend.create("g", "Work", memberList("mary"))
      _ = try await live.backend.result("setUserInfo", #""userID":"olga","nickName":"Olga Ö""#)
      _ = try await live.backend.result("sendGroupTextMessage", as: "mary", sent)
      let list = try await live.backend.result(
        "getGroupMessageReadMemberList", as: "mary", #""groupID":"g","seq":1,"filter":"Unread""#)
      #expect(list["memberList"].elements.map { $0["userID"] } == ["olga"])
      #expect(list["memberList"][0]["nickName"] == "Olga Ö" && list["nextSeq"] == 0)
    }
  }
}
