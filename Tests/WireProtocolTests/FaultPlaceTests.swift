import Testing
import WireProtocol

/// -32700 says where a text stops being JSON, and -32601 names the nearest method (Protocol.md,
/// "Errors").
@Suite struct FaultPlaceTests {
  private func message(_ text: String) -> String? { message(Array(text.utf8)) }

  private func message(_ bytes: [UInt8]) -> String? {
    if case .notJSON(let error) = read(bytes) { error.message } else { nil }
  }

  @Test(
    arguments: [
      (#"{"a":1,}"#, 7), ("[1,]", 3), ("[,1]", 1), ("{'a':1}", 1), (#"{"a" 1}"#, 5), (#"{"a":01}"#, 6), (#"{"a":tru}"#, 8),
      ("+1", 0), ("1.e5", 2), ("[1 2]", 3), ("{} x", 3), ("[}", 1), ("{\"a\":\"\n\"}", 6), (#"{"a":"\x"}"#, 7),
      (#"{"a":"\u12g4"}"#, 10), (" nope", 2), ("// c", 0), ("\u{feff}{}", 0), (#"{"é":é}"#, 6),
    ] as [(String, Int)])
  func theByteThatCannotStandThereIsNamed(text: String, position: Int) {
    #expect(message(text) == "The text is not JSON: the fault is at byte \(position), counted from 0", "\(text)")
  }

  @Test(arguments: ["", " ", "{", "[1", #"{"a""#, #"{"a":"#, #""abc"#, "tr", "-", "1.", "1e", #""\"#, #""\u12"#, #""\ud800\"#])
  func aTextThatEndsTooEarlySaysSo(text: String) {
    #expect(message(text) == "The text is not JSON: it ends too early, after \(text.utf8.count) bytes", "\(text)")
  }

  @Test(arguments: [#"["\ud800"]"#, #"["\udc00"]"#, #"["\ud83d\u0041"]"#, #"["\ud83d\n"]"#, #"["\ud83d \ude00"]"#])
  func halfOfAPairIsNamed(text: String) {
    #expect(message(text) == "The text is not JSON: the escape at byte 2, counted from 0, is half of a surrogate pair", "\(text)")
  }

  @Test func theLevelThatIsTooDeepIsNamed() {
    let nested = "  " + String(repeating: "[", count: 33) + String(repeating: "]", count: 33)
    #expect(message(nested) == "The text is nested deeper than 32 levels, from byte 34 on, counted from 0")
  }

  @Test(arguments: [[0x80], [0xc0, 0x80], [0xc3], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xff]] as [[UInt8]])
  func bytesThatAreNotUTF8AreNamed(bytes: [UInt8]) {
    let text = Array(#"["é"#.utf8) + bytes + Array(#""]"#.utf8)
    #expect(message(text) == "The text is not JSON: the fault is at byte 4, counted from 0")
  }

  @Test func theCodeStaysTheSame() {
    guard case .notJSON(let error) = read("{") else { return fail("a text that is no JSON") }
    #expect(error.code == .parseError && !error.isTemporary && error.field == nil)
  }

  private func unknown(_ method: String, servesApplication: Bool = false) -> String? {
    guard case .single(let call) = read(request(method, "{}"), servesApplication: servesApplication) else { return nil }
    guard case .unknownMethod(let error, sent: _) = call.content, error.code == .methodNotFound else { return nil }
    return error.message
  }

  @Test(arguments: [
    ("joinGroups", "joinGroup"), ("JoinGroup", "joinGroup"), ("sendTextMessage", "sendGroupTextMessage"), ("logn", "login"),
    ("markAsRead", "markGroupMessageAsRead"), ("ping ", "ping"), ("sendMessage", "sendGroupTextMessage"),
    ("getGroupMemberRole", "getGroupMemberRoles"), ("getUserInfo", "getUsersInfo"), ("getHistory", "getGroupHistoryMessageList"),
    ("kickMember", "kickGroupMember"), ("inviteUser", "inviteUserToGroup"), ("addReaction", "addMessageReaction"),
    ("getMessages", "getGroupMessages"), ("clearHistory", "clearGroupHistory"),
  ])
  func theNearestMethodIsNamed(method: String, nearest: String) {
    #expect(unknown(method) == "No such method; the nearest is \(nearest)")
  }

  /// The last two lines differ from a method by few letters, or lack a word, and mean something else.
  @Test(arguments: [
    "", "noSuchMethod", "bananas", String(repeating: "joinGroup", count: 10),
    "setGroupName", "setGroupMute", "unmuteGroup", "banGroupMember", "unpinGroupMessage", "getSelfInfo",
    "getGroupReceiveMessageOpt", "deleteGroup", "getGroupMute", "setGroupUnreadCount", "removeGroupMember",
  ])
  func nothingIsNear(method: String) {
    #expect(unknown(method) == "No such method")
  }

  /// For the log: the label of metrics stays bounded.
  @Test(arguments: [
    ("joinGroups", "joinGroups"), ("", ""), ("kickUser", "kickUser"), ("a\u{1}b", "a\u{1}b"),
    (String(repeating: "é", count: 40), String(repeating: "é", count: 32)),
    (String(repeating: "€", count: 40), String(repeating: "€", count: 21)),
  ])
  func theNameThatWasSentIsKept(method: String, kept: String) {
    let escaped = method.replacing("\u{1}", with: "\\u0001")
    guard case .single(let call) = read(request(escaped, "{}")) else { return fail("no request") }
    #expect(call.sentMethodName?.text == kept && call.methodName == "unknown")
  }

  @Test func aKnownNameIsNotKept() {
    for text in [request("joinGroup", "{}"), #"{"jsonrpc":"2.0","id":1}"#] {
      guard case .single(let call) = read(text) else { return fail("no request") }
      #expect(call.sentMethodName == nil)
    }
  }

  @Test func eachInterfaceNamesItsOwnMethods() {
    #expect(unknown("listGroups") == "This method is for the application's backend, at POST /rpc")
    #expect(unknown("listSession", servesApplication: true) == "No such method; the nearest is listSessions")
    #expect(unknown("listSession") == "No such method", "a client cannot call it")
    #expect(unknown("logn", servesApplication: true) == "No such method", "a backend does not sign in")
  }
}
