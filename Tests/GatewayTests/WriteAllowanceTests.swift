import GroupModel
import Testing
import ThrongTestKit
import WebSocketTransport
import WireProtocol

@testable import Gateway

/// The write rate of a user: the allowance as a value, and on real connections.
@Suite struct WriteAllowanceTests {
  // MARK: The value

  private let rate = Int(WriteAllowance.leastBytesPerMillisecond)
  private let burst = Int(WriteAllowance.burst)

  @Test func overFourSecondsNobodyFillsMoreThanAMegabyteASecond() {
    #expect(burst + 4000 * rate < 4_000_000)
  }

  /// Bytes a row, as measured on the schema with the longest names.
  @Test func aRowIsChargedWithAtLeastWhatItTakes() {
    let notifications = [0: 376, 500: 1335, 700: 4874, 1024: 4837]
    let messages = [1: 98, 400: 587, 700: 823, 1000: 4680, 4000: 4683, 4500: 4678, 8000: 8779, 12_288: 12_876]
    var costs: [(charged: Int, measured: Int)] = [
      (RowCost.member, 225 + 377 + 376), (RowCost.formerMember(), 183), (RowCost.group(textBytes: 0), 295),
      (RowCost.counter, 56), (RowCost.application(), 374), (RowCost.application(textBytes: 1024), 1589),
    ]
    costs += notifications.map { (RowCost.notification(textBytes: $0), $1) }
    costs += messages.map { (RowCost.message(textBytes: $0), $1) }
    for cost in costs { #expect(cost.charged >= cost.measured && cost.charged < cost.measured * 3 / 2 + 200) }
  }

  @Test(arguments: ["createGroup", "inviteUserToGroup", "kickGroupMember"])
  func aRequestThatNamesManyUsersRunsAtOnceAfterAPause(_ method: String) throws {
    // The longest userIDs, and the longest texts: 512 characters of four bytes.
    let users = (0..<(method == "kickGroupMember" ? 50 : 100)).map { "\($0)".padding(with: "u", to: 32) }
    let text = String(repeating: "😀", count: 512)
    let rows = users.map { #"{"userID":"\#($0)"}"# }.joined(separator: ",")
    let names = users.map { #""\#($0)""# }.joined(separator: ",")
    let texts = ["message", "attach", "reason"].map { #""\#($0)":"\#(text)""# }.joined(separator: ",")
    let params =
      method == "createGroup"
      ? #"{"groupType":"Work","groupName":"g","beInviteMode":"Auth","inviteMessage":"\#(text)","memberList":[\#(rows)]}"#
      : #"{"groupID":"g","userIDList":[\#(names)],\#(texts)}"#
    let cost = try #require(call(method, params)).writeCost()
    #expect(cost.isHeavy)
    var allowance = WriteAllowance(requestsPerSecond: 50, now: 0)
    #expect(allowance.charge(cost.bytes, at: 0) == 0)
  }

  @Test func textsThatAreStoredAsJSONCountAsLongAsTheyAreThere() throws {
    func bytes(_ character: String) throws -> Int {
      let text = String(repeating: character, count: 512)
      return try #require(call("setGroupInfo", #"{"groupID":"g","customInfo":{"key":"\#(text)"}}"#)).writeCost().bytes
    }
    #expect(try bytes(#"\u0001"#) > bytes("x") + 4000)
  }

  @Test func aConsentedInvitationIsChargedForEachOfItsTexts() throws {
    func bytes(_ texts: String) throws -> Int {
      try #require(call("inviteUserToGroup", #"{"groupID":"g","userIDList":["u1","u2"]\#(texts)}"#)).writeCost().bytes
    }
    let text = String(repeating: "x", count: 500)
    #expect(
      try bytes(#","message":"\#(text)","attach":"\#(text)""#) == 2
        * (RowCost.application(textBytes: 1000) + RowCost.notification(textBytes: 1000 + RowCost.profile)))
    #expect(try bytes("") == 2 * (RowCost.member + RowCost.notification(textBytes: RowCost.profile)) + RowCost.tip(members: 2))
  }

  /// 512 characters of four bytes, as long as 2,048 letters would be.
  @Test func aReasonIsChargedByItsBytesInTheNotificationAndTheApplication() throws {
    func bytes(_ method: String, _ reason: String) throws -> Int {
      try #require(call(method, #"{"applicationID":"a","reason":"\#(reason)"}"#)).writeCost().bytes
    }
    let longest = String(repeating: "😀", count: 512)
    for method in ["acceptGroupApplication", "refuseGroupApplication"] {
      let reason =
        RowCost.notification(textBytes: RowCost.profile + 2048) - RowCost.notification(textBytes: RowCost.profile)
        + RowCost.text(bytes: 2048)
      #expect(try bytes(method, longest) - bytes(method, "") == reason)
    }
  }

  /// With `history.creationTip` it is stored.
  @Test func aNewGroupIsChargedForTheTipThatNamesItsMembers() throws {
    let rows = (0..<100).map { #"{"userID":"u\#($0)"}"# }.joined(separator: ",")
    let bytes = try bytes("createGroup", #"{"groupType":"Work","groupName":"g","memberList":[\#(rows)]}"#)
    // They may be asked.
    let member = max(RowCost.member, RowCost.application() + RowCost.notification(textBytes: RowCost.profile))
    let group = RowCost.group(textBytes: 1) + RowCost.notification(textBytes: RowCost.profile) + RowCost.member
    #expect(bytes == group + 100 * member + RowCost.tip(members: 100))
    // As its members stand there: each with a userID and a nameCard that is empty.
    #expect(RowCost.tip(members: 100) > 100 * (32 + #"{"userID":"","nameCard":"","role":"2147483647"},"#.utf8.count))
  }

  /// The row has the message, whatever its length, and the reporter's own words.
  @Test func aReportIsChargedForTheLongestMessage() throws {
    let bare = try #require(call("reportMessage", #"{"groupID":"g","seq":1}"#)).writeCost().bytes
    let full = try #require(call("reportMessage", #"{"groupID":"g","seq":1,"category":"spam","text":"0123456789"}"#))
    #expect(bare == RowCost.report(textBytes: 0) && bare > RowCost.longestMessage)
    #expect(full.writeCost().bytes - bare == RowCost.text(bytes: 14) - RowCost.text(bytes: 0))
  }

  @Test func aChangeOfCountersIsChargedForEachOfThem() throws {
    func bytes(_ method: String, _ params: String) throws -> Int {
      try #require(call(method, #"{"groupID":"g",\#(params)}"#)).writeCost().bytes
    }
    #expect(try bytes("increaseGroupCounter", #""key":"k","value":1"#) == RowCost.counter)
    #expect(try bytes("decreaseGroupCounter", #""key":"k","value":1"#) == RowCost.counter)
    #expect(try bytes("setGroupCounters", #""counters":{"a":1,"b":null,"c":3}"#) == 3 * RowCost.counter)
    #expect(try bytes("getGroupCounters", #""keys":["a"]"#) == 0)
  }

  @Test(arguments: [
    ("sendGroupTextMessage", #""text":"0123456789""#, 10), ("modifyGroupMessage", #""seq":1,"text":"0123456789""#, 10),
    ("sendGroupTextMessage", #""text":"0123456789","onlineUserOnly":true"#, 0),
    ("sendGroupCustomMessage", #""data":"0123456789""#, 0), ("modifyGroupMessage", #""seq":1,"data":"0123456789""#, 0),
  ])
  func aTextThatCanBeSearchedIsChargedForTheIndex(_ method: String, _ params: String, indexed: Int) throws {
    let call = try #require(self.call(method, #"{"groupID":"g",\#(params)}"#))
    #expect(call.writeCost(indexesTexts: true).bytes - call.writeCost().bytes == RowCost.indexedText(bytes: indexed))
    // As measured with 12,288 random bytes.
    #expect(RowCost.indexedText(bytes: 12_288) > 57_000 + 60_000)
  }

  private func bytes(_ method: String, _ params: String) throws -> Int {
    try #require(call(method, params)).writeCost().bytes
  }

  @Test func aReaderIsChargedForEachBlockOfMessages() throws {
    let one = try bytes("sendMessageReadReceipts", #"{"groupID":"g","seqList":[1,2,3,1023]}"#)
    #expect(one == RowCost.readReceipt)
    // The longest userID and a whole block.
    #expect(one >= 128 + 32 + 16 && one < 512)
    #expect(try bytes("sendMessageReadReceipts", #"{"groupID":"g","seqList":[1,1024,5000,5001]}"#) == 3 * one)
    #expect(try bytes("getMessageReadReceipts", #"{"groupID":"g","seqList":[1]}"#) == 0)
    #expect(try bytes("getGroupMessageReadMemberList", #"{"groupID":"g","seq":1}"#) == 0)
  }

  @Test func aMessageWithReceiptsIsChargedForTheListOfMembers() throws {
    let plain = try bytes("sendGroupTextMessage", #"{"groupID":"g","text":"x"}"#)
    #expect(plain == RowCost.message(textBytes: 1))
    let withReceipts = try bytes("sendGroupTextMessage", #"{"groupID":"g","text":"x","needReadReceipt":true}"#)
    #expect(withReceipts == plain + RowCost.receiptMembers && RowCost.receiptMembers >= 500 * 33)
  }

  @Test func whatMostMessagesHaveNotIsChargedAsARowOfItsOwn() throws {
    func charged(_ members: String) throws -> Int { try bytes("sendGroupTextMessage", #"{"groupID":"g","text":"x"\#(members)}"#) }
    let plain = try charged("")
    #expect(try charged(#","extension":"","isExcludedFromUnreadCount":false"#) == plain)
    #expect(try charged(#","isExcludedFromUnreadCount":true"#) == plain + RowCost.messageExtras(textBytes: 0))
    let longest = String(repeating: "e", count: 4096)
    #expect(try charged(#","extension":"\#(longest)","replyTo":1"#) == plain + RowCost.messageExtras(textBytes: 4096))
    let reply = try charged(#","replyTo":1,"toUserIDList":["a"]"#)
    #expect(reply == plain + RowCost.messageExtras(textBytes: 66), "the index of replies names them, too")
    let receipts = try charged(#","toUserIDList":["a"],"needReadReceipt":true"#)
    #expect(receipts == plain + RowCost.messageExtras(textBytes: 33), "it has the list of its readers in itself")
    // Its event carries the whole message.
    let edit = try bytes("modifyGroupMessage", #"{"groupID":"g","seq":1,"extension":"e"}"#)
    #expect(edit == RowCost.longestMessage + RowCost.change + RowCost.messageExtras(textBytes: 1))
  }

  @Test func aStockIsThereAtOnceAndTheRestComesWithTime() {
    var allowance = WriteAllowance(requestsPerSecond: 50, now: 1000)
    // Waiting requests come first.
    let takes: [(Int, at: MonotonicInstant)] = [(burst, 1000), (rate, 1000), (rate * 99, 1000), (0, 1100), (1, 1100)]
    let waits = takes.map { allowance.charge($0.0, at: $0.at) }
    #expect(waits == [0, 1, 100, 0, 1])
    let isFull = ([1100, 1102] as [MonotonicInstant]).map { allowance.isFull(at: $0 + Int64(burst / rate)) }
    #expect(isFull == [false, true])
  }

  @Test func aHigherRequestRateFillsAsMuchMore() {
    // The longest texts of one second, behind the burst.
    for (requestsPerSecond, wait) in [(1, 20), (50, 1000), (1000, 1000), (1_000_000, 1000)] {
      var allowance = WriteAllowance(requestsPerSecond: requestsPerSecond, now: 0)
      #expect(allowance.charge(burst, at: 0) == 0)
      #expect(allowance.charge(requestsPerSecond * 13_600, at: 0) == wait)
    }
  }

  @Test func anEarlierInstantFillsNothing() {
    var allowance = WriteAllowance(requestsPerSecond: 50, now: 1000)
    let waits = [
      allowance.charge(burst + rate * 50, at: 2000), allowance.charge(0, at: 1000), allowance.charge(0, at: 2050),
    ]
    #expect(waits == [50, 50, 0])
  }

  @Test func theLongestMessagesAtTheRequestRateDoNotWait() throws {
    let request = try #require(
      call("sendGroupTextMessage", #"{"groupID":"g","text":"\#(String(repeating: "x", count: 12_288))"}"#))
    var allowance = WriteAllowance(requestsPerSecond: 50, now: 0)
    var waits: Set<Int64> = []
    // The burst, and then 50 a second for a minute.
    for _ in 0..<50 { waits.insert(allowance.charge(request.writeCost().bytes, at: 0)) }
    for second in 0..<60 {
      for part in 0..<50 {
        waits.insert(allowance.charge(request.writeCost().bytes, at: MonotonicInstant(milliseconds: second * 1000 + part * 20)))
      }
    }
    #expect(waits == [0])
  }

  @Test(arguments: [
    ("getGroupsInfo", #"{"groupIDList":["g"]}"#, 0, false), ("ping", "{}", 0, false),
    ("quitGroup", #"{"groupID":"g"}"#, 0, false),
    ("inviteUserToGroup", #"{"groupID":"g","userIDList":["u1","u2","u3","u4","u5","u6","u7","u8","u9"]}"#, 9, false),
    ("inviteUserToGroup", #"{"groupID":"g","userIDList":["u1","u2","u3","u4","u5","u6","u7","u8","u9","u10"]}"#, 10, true),
  ])
  func aRequestSaysBeforeItRunsWhatItMayWrite(_ method: String, _ params: String, targets: Int, isHeavy: Bool) throws {
    let call = try #require(self.call(method, params))
    #expect(call.writeCost().targets == targets && call.writeCost().isHeavy == isHeavy)
    #expect((call.writeCost() == .none) == (call.method?.writes == false))
  }

  private func call(_ method: String, _ params: String) -> Call? {
    let text = #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#
    let padded = Array(text.utf8) + [UInt8](repeating: 0, count: JSONParser.padding)
    return padded.withUnsafeBytes { bytes in
      let text = UnsafeRawBufferPointer(rebasing: bytes.dropLast(JSONParser.padding))
      guard case .single(let call) = Envelope(padded: text, parser: JSONParser(), methods: MethodTable()) else { return nil }
      return call
    }
  }

  // MARK: On connections

  private func invitation(_ id: Int, of count: Int, message: Int = 0) -> String {
    let users = (0..<count).map { #""guest-\#(id)-\#($0)""# }.joined(separator: ",")
    let text = String(repeating: "m", count: message)
    return
      #"{"jsonrpc":"2.0","id":\#(id),"method":"inviteUserToGroup","params":{"groupID":"g","userIDList":[\#(users)],"message":"\#(text)"}}"#
  }

  private let create = #"{"groupType":"Work","groupName":"g","groupID":"g"}"#
  private let own = #"{"groupType":"Work","groupName":"b","groupID":"b"}"#

  @Test func writesThatNameManyUsersGoOneAtATimeForEachUserAndHoldUpNobodyElse() async throws {
    try await LiveGateway.with { live in
      let (first, second) = (try await live.signIn("alice"), try await live.signIn("alice"))
      _ = try await first.call("createGroup", create)
      live.store.inner.hold()
      try await first.send([invitation(1, of: 20), invitation(2, of: 20)])
      try await live.waitForCommits(1)
      try await second.send(invitation(3, of: 20))
      let bob = try await live.signIn("bob")
      try await bob.send(#"{"jsonrpc":"2.0","id":"b","method":"createGroup","params":\#(own)}"#)
      try await live.waitForCommits(2)
      for loop in live.transport.loops { await live.on(loop) {} }
      #expect(live.store.inner.pendingCount == 2, "one of alice's, and bob's")
      live.store.inner.release()
      #expect(try await bob.reply { $0["id"] == "b" }["result"]["groupID"] == "b")
      for id in [1, 2] as [JSON] {
        let reply = try await first.reply { $0["id"] == id }
        #expect(reply["result"]["memberList"].elements.allSatisfy { $0["result"] == "Success" })
      }
      #expect(try await second.reply { $0["id"] == 3 }["result"]["memberList"].elements.count == 20)
    }
  }

  @Test func requestsBeyondTheRateWaitInOrder() async throws {
    try await LiveGateway.with { live in
      let alice = try await live.signIn("alice")
      _ = try await alice.call("createGroup", create)
      // Two are more than the burst, and a second fills less than two.
      try await alice.send(
        (1...50).map { invitation($0, of: 100, message: 500) } + [#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#])
      let loop = live.transport.loops[0]
      try await waitUntil("alice's second request waits") {
        await live.on(loop) { [gateway = live.gateway] in
          gateway.context(of: loop).open.values.contains { $0.assumeIsolated { $0.deadlines[.writing] != nil } }
        }
      }
      #expect(try await live.signIn("bob").call("createGroup", own)["result"]["groupID"] == "b", "nobody else waits")
      for id in 1...4 {
        if id > 1 { await live.advance(by: 1000) }
        #expect(try await alice.reply { $0["id"] != nil }["id"].integer == Int64(id))
      }
    }
  }
}

extension String {
  fileprivate func padding(with character: Character, to count: Int) -> String {
    String(repeating: character, count: count - self.count) + self
  }
}
