import GroupModel
import Testing
import ThrongTestKit
import WireProtocol

@testable import Gateway

/// Read receipts over real sessions, and what they may write (Protocol.md, "Read receipts").
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

  // MARK: What is charged

  private func cost(_ method: String, _ params: String) throws -> Int {
    try #require(call(method, "{\(params)}")).writeCost.bytes
  }

  @Test func aReaderIsChargedForEachBlockOfMessages() throws {
    let one = try cost("sendMessageReadReceipts", #""groupID":"g","seqList":[1,2,3,1023]"#)
    #expect(one == RowCost.readReceipt)
    // The longest userID, a whole block, and the free part of the pages.
    #expect(one >= 128 + 32 + 16 && one < 512)
    #expect(try cost("sendMessageReadReceipts", #""groupID":"g","seqList":[1,1024,5000,5001]"#) == 3 * one)
    #expect(try cost("getMessageReadReceipts", #""groupID":"g","seqList":[1]"#) == 0)
    #expect(try cost("getGroupMessageReadMemberList", #""groupID":"g","seq":1"#) == 0)
  }

  @Test func aMessageWithReceiptsIsChargedForTheListOfMembers() throws {
    let plain = try cost("sendGroupTextMessage", #""groupID":"g","text":"x""#)
    #expect(plain == RowCost.message(textBytes: 1))
    #expect(try cost("sendGroupTextMessage", sent) == plain + RowCost.receiptMembers)
    #expect(RowCost.receiptMembers >= 500 * 33)
  }
}
