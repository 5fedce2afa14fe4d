import GroupRuntime
import Testing
import ThrongTestKit

@testable import Gateway

/// searchGroupMessages (Protocol.md, "Search of messages").
@Suite struct SearchGroupMessagesTests {
  private let backend = Backend { $0.searchesMessages = true }

  /// A Work group of olga and mary, a Public group of olga alone.
  init() async throws {
    try await backend.create("work", "Work", memberList("mary"))
    try await backend.create("open")
    for (group, text) in [("work", "Good morning"), ("open", "good night"), ("work", "早上好，世界")] {
      _ = try await backend.result("sendGroupTextMessage", as: "olga", #""groupID":"\#(group)","text":"\#(text)""#)
    }
  }

  private func texts(_ params: String, as user: String? = "mary") async throws -> [JSON] {
    try await backend.result("searchGroupMessages", as: user, params)["messageList"].column("text")
  }

  @Test func messagesOfJoinedGroupsAreFound() async throws {
    #expect(try await texts(#""keywordList":["GOOD"]"#) == ["Good morning"])
    #expect(try await texts(#""keywordList":["good"]"#, as: "olga") == ["Good morning", "good night"])
    #expect(try await texts(#""keywordList":["世界","night"]"#, as: "olga") == ["早上好，世界", "good night"])
    #expect(try await texts(#""keywordList":["good"]"#, as: "stranger") == [])
    #expect(try await texts(#""keywordList":["good"]"#, as: nil) == ["Good morning", "good night"], "the application sees all")
  }

  @Test func aSearchIsNarrowed() async throws {
    #expect(try await texts(#""keywordList":["o"],"groupIDList":["open"]"#, as: "olga") == ["good night"])
    #expect(try await texts(#""keywordList":["o"],"groupIDList":["open","nowhere"]"#) == [])
    #expect(try await texts(#""keywordList":["o"],"senderUserIDList":["mary"]"#, as: "olga") == [])
    #expect(try await texts(#""keywordList":["o"],"to":1"#, as: "olga") == [])
    #expect(try await texts(#""keywordList":["o"],"from":1"#, as: "olga").count == 2)
  }

  @Test func aMessageLooksAsInTheHistory() async throws {
    _ = try await backend.result("setSelfInfo", as: "olga", #""nickName":"Olga""#)
    let found = try await backend.result("searchGroupMessages", as: "mary", #""keywordList":["morning"]"#)
    let history = try await backend.result(
      "getGroupHistoryMessageList", as: "mary", #""groupID":"work","direction":"Newer","count":1"#)
    #expect(found["messageList"] == history["messageList"] && found["nextSeq"] == 0)
    #expect(found["messageList"][0]["nickName"] == "Olga")
  }

  @Test func pagesGoOnBehindTheLast() async throws {
    var found: [JSON] = []
    var next: Int64 = 0
    repeat {
      let page = try await backend.result(
        "searchGroupMessages", as: "olga", #""keywordList":["g","世"],"count":1,"nextSeq":\#(next)"#)
      #expect(page["messageList"].elements.count <= 1)
      found += page["messageList"].column("text")
      next = try #require(page["nextSeq"].integer)
    } while next != 0 && found.count < 9
    #expect(found == ["早上好，世界", "Good morning", "good night"])
  }

  @Test func aPageEndsBeforeItIsTooLarge() async throws {
    let small = Backend(rules: .pages(of: 10)) { $0.searchesMessages = true }
    try await small.create("g")
    for _ in 0..<3 { _ = try await small.result("sendGroupTextMessage", as: "olga", #""groupID":"g","text":"word""#) }
    var seqs: [JSON] = []
    var next: Int64 = 0
    repeat {
      let page = try await small.result("searchGroupMessages", as: "olga", #""keywordList":["word"],"nextSeq":\#(next)"#)
      seqs += page["messageList"].column("seq")
      next = try #require(page["nextSeq"].integer)
    } while next != 0 && seqs.count < 9
    #expect(seqs == [3, 2, 1])
  }

  @Test func itIsRefusedWhereItIsOff() async throws {
    let off = Backend()
    #expect(try await off.code("searchGroupMessages", as: "olga", #""keywordList":["x"]"#) == 10007)
    #expect(try await off.code("searchGroupMessages", as: "olga", #""keywordList":[]"#) == 10004, "parameters come first")
  }

  @Test(arguments: [
    (#""keywordList":[]"#, 10004), (#""keywordList":[""]"#, 10004), ("", -32602),
    (#""keywordList":["a"],"groupIDList":["ä"]"#, 10015), (#""keywordList":["a"],"count":51"#, 10004),
    (#""keywordList":["a"],"from":-1"#, 10004), (#""keywordList":["a"],"senderUserIDList":[""]"#, 10004),
  ]) func badParametersAreRefused(params: String, code: Int) async throws {
    #expect(try await backend.code("searchGroupMessages", as: "olga", params) == code)
  }
}
