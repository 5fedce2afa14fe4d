import Testing
import ThrongTestKit

@testable import Gateway

/// getGroupUnreadCount and the methods that set it (Protocol.md, "Unread counts").
@Suite struct UnreadCountTests {
  private let backend = Backend()

  /// Mary has 2 unread in "w", 1 in "p", and none where the type counts none.
  init() async throws {
    for (name, type) in [("w", "Work"), ("p", "Public"), ("m", "Meeting")] {
      try await backend.create(name, type, memberList("mary"))
    }
    try await backend.create("r", "AVChatRoom")
    _ = try await backend.result("joinGroup", as: "mary", #""groupID":"r""#)
    for group in ["w", "w", "p", "m", "r"] {
      _ = try await backend.result("sendGroupTextMessage", as: "olga", #""groupID":"\#(group)","text":"x""#)
    }
  }

  private func counts(_ members: String = "", of user: String = "mary") async throws -> JSON {
    try await backend.result("getGroupUnreadCount", as: user, members)
  }

  private func rows(_ counts: KeyValuePairs<String, Int>) -> JSON {
    .array(counts.map { ["groupID": .string($0.key), "unreadCount": .number(Double($0.value))] })
  }

  @Test func withoutNamesAllListedGroupsAreCounted() async throws {
    for members in ["", #""groupIDList":[]"#, #""groupIDList":null"#] {
      #expect(try await counts(members) == ["totalCount": 3, "groups": rows(["w": 2, "p": 1, "m": 0])], "\(members)")
    }
    #expect(try await counts(of: "nobody") == ["totalCount": 0, "groups": []])
    #expect(try await counts(of: "olga")["totalCount"] == 0, "nobody has own messages to read")
  }

  @Test func namedGroupsAreCountedInTheirOrderOnce() async throws {
    #expect(
      try await counts(#""groupIDList":["p","r","w","p","m"]"#)
        == ["totalCount": 3, "groups": rows(["p": 1, "r": 0, "w": 2, "m": 0])])
  }

  @Test(arguments: [(#""none""#, 10010), (#""é""#, 10015), (#""alien""#, 10007), (#""w","none""#, 10010)] as [(String, Int64)])
  func anErrorIsOneOfTheWholeCall(names: String, code: Int64) async throws {
    try await backend.create("alien", "Public")
    #expect(try await backend.code("getGroupUnreadCount", as: "mary", #""groupIDList":[\#(names)]"#) == code)
  }

  @Test func moreThan200AreTooMany() async throws {
    let names = (0...200).map { "\"x\($0)\"" }.joined(separator: ",")
    #expect(try await backend.code("getGroupUnreadCount", as: "mary", #""groupIDList":[\#(names)]"#) == 10004)
  }

  @Test func readingAndTheApplicationChangeIt() async throws {
    _ = try await backend.result("markGroupMessageAsRead", as: "mary", #""groupID":"w","seq":1"#)
    #expect(try await counts()["groups"] == rows(["w": 1, "p": 1, "m": 0]))
    _ = try await backend.result("setUnreadCount", #""groupID":"w","userID":"mary","unreadCount":40"#)
    _ = try await backend.result("sendGroupTextMessage", as: "olga", #""groupID":"w","text":"x""#)
    #expect(try await counts()["groups"] == rows(["w": 41, "p": 1, "m": 0]))
    _ = try await backend.result("markGroupMessageAsRead", as: "mary", #""groupID":"w""#)
    _ = try await backend.result("setGroupReceiveMessageOpt", as: "mary", #""groupID":"p","opt":"NotReceive""#)
    #expect(try await counts() == ["totalCount": 0, "groups": rows(["w": 0, "p": 0, "m": 0])])
    #expect(try await backend.code("setUnreadCount", #""groupID":"m","userID":"mary","unreadCount":1"#) == 10007)
    #expect(try await backend.code("setUnreadCount", #""groupID":"w","userID":"alien","unreadCount":1"#) == 10007)
  }

  @Test func aGroupThatIsLeftDoesNotCount() async throws {
    _ = try await backend.result("quitGroup", as: "mary", #""groupID":"w""#)
    #expect(try await counts() == ["totalCount": 1, "groups": rows(["p": 1, "m": 0])])
  }
}
