import GroupModel
import Testing
import WireProtocol

/// The parameters of sends and edits that most messages have not (Protocol.md, "Extension" and "Replies").
@Suite struct DecodingExtrasTests {
  private static let sends = [("sendGroupTextMessage", #""text":"t""#), ("sendGroupCustomMessage", #""data":"d""#)]

  private func extras(_ method: String, _ params: String) throws -> SendExtras? {
    switch try decoded(method, #"{"groupID":"g",\#(params)}"#) {
    case .group(_, .sendGroupTextMessage(let send)): send.options.extras
    case .group(_, .sendGroupCustomMessage(let send)): send.options.extras
    default: throw WireError(.methodNotFound)
    }
  }

  @Test(arguments: sends) func everySendTakesThem(method: String, content: String) throws {
    let all = #""extension":"e","replyTo":7,"isExcludedFromUnreadCount":true,"isExcludedFromLastMessage":true,"#
    let found = try extras(method, #"\#(content),\#(all)"toUserIDList":["b","a","b"]"#)
    #expect(
      found
        == SendExtras(
          extension: "e", replyTo: 7, isExcludedFromUnreadCount: true, isExcludedFromLastMessage: true,
          toUserIDList: [UserID("b"), UserID("a")].compactMap { $0 }), "each user once, as given")
    #expect(try extras(method, #"\#(content),"isExcludedFromLastMessage":true"#)?.isExcludedFromUnreadCount == false)
  }

  @Test(arguments: sends) func whatIsEmptyFalseOrNullIsAbsent(method: String, content: String) throws {
    for params in [
      "", #","extension":"""#, #","extension":null"#, #","replyTo":null"#, #","toUserIDList":null"#,
      #","isExcludedFromUnreadCount":false,"isExcludedFromLastMessage":null"#, #","unknown":5"#,
    ] {
      #expect(try extras(method, content + params) == nil, "\(params)")
    }
    #expect(try extras(method, #"\#(content),"priority":"Low","atUserIDList":["a"],"extension":"e""#)?.extension == "e")
    #expect(try extras(method, #""extension":"e",\#(content),"onlineUserOnly":true"#)?.extension == "e")
    #expect(try extras(method, #""extension":"e",\#(content),"extension":"f""#)?.extension == "e", "the first of a doubled one")
  }

  @Test(arguments: sends) func targetsExcludeMentionsAndOnlineUsers(method: String, content: String) throws {
    for other in [#""atUserIDList":["a"]"#, #""atUserIDList":["@all"]"#, #""onlineUserOnly":true"#] {
      let found = fault(method, #"{"groupID":"g",\#(content),\#(other),"toUserIDList":["a"]}"#)
      #expect(found?.code == .badValue && found?.field == "toUserIDList", "\(other)")
    }
    for other in [#""atUserIDList":[]"#, #""onlineUserOnly":false"#, #""needReadReceipt":true"#] {
      #expect(try extras(method, #"\#(content),\#(other),"toUserIDList":["a"]"#)?.toUserIDList.count == 1, "\(other)")
    }
    let reply = try extras(method, #"\#(content),"onlineUserOnly":true,"replyTo":1"#)
    #expect(reply?.replyTo == 1, "a reply may be for those online")
  }

  @Test(arguments: sends) func aMessageThatMayHaveBeenSentBeforeSaysWhen(method: String, content: String) throws {
    #expect(try extras(method, #"\#(content),"firstSentAt":7"#) == SendExtras(firstSentAt: WallInstant(milliseconds: 7)))
    #expect(try extras(method, #"\#(content),"firstSentAt":0"#)?.firstSentAt == .unset, "an instant long ago")
    #expect(try extras(method, #"\#(content),"firstSentAt":null"#) == nil)
    let before = fault(method, #"{"groupID":"g",\#(content),"firstSentAt":-1}"#)
    #expect(before?.code == .badValue && before?.field == "firstSentAt")
    #expect(fault(method, #"{"groupID":"g",\#(content),"firstSentAt":"now"}"#)?.code == .invalidParams)
  }

  @Test func aNewMessageIsTheSameWithoutThat() {
    let mary = UserID("mary").map { [$0] } ?? []
    let others = SendExtras(extension: "e", replyTo: 1, isExcludedFromLastMessage: true, toUserIDList: mary)
    let late = SendExtras(
      extension: "e", replyTo: 1, isExcludedFromLastMessage: true, toUserIDList: mary, firstSentAt: WallInstant(milliseconds: 7))
    #expect(late != others)
    let options = MessageOptions(priority: .high, clientMsgID: "c", atUserIDList: ["a"], extras: late)
    let expected = MessageOptions(priority: .high, clientMsgID: "c", atUserIDList: ["a"], extras: others)
    #expect(options.withoutFirstSentAt == expected && expected.withoutFirstSentAt == expected)
    let alone = MessageOptions(clientMsgID: "c", extras: SendExtras(firstSentAt: WallInstant(milliseconds: 7)))
    #expect(alone.withoutFirstSentAt == MessageOptions(clientMsgID: "c"))
  }

  @Test func textsAreComparedByteForByte() {
    #expect(SendExtras(extension: "\u{e9}") != SendExtras(extension: "e\u{301}"))
    #expect(SendExtras(extension: "\u{e9}") == SendExtras(extension: "\u{e9}"))
    #expect(SendExtras(extension: "") == nil && SendExtras(replyTo: 1) != SendExtras(replyTo: 2))
  }

  @Test func anEditTakesTheContentTheExtensionOrBoth() throws {
    func edit(_ params: String) throws -> ModifyGroupMessage {
      let request = try decoded("modifyGroupMessage", #"{"groupID":"g","seq":1,\#(params)}"#)
      guard case .group(_, .modifyGroupMessage(let edit)) = request else { throw WireError(.methodNotFound) }
      return edit
    }
    let text = try edit(#""text":"t""#)
    #expect(text.content == .text("t") && text.extension == nil)
    let both = try edit(#""data":"d","extension":"e""#)
    #expect(both.content == .custom("d") && both.extension == "e")
    let removal = try edit(#""extension":"""#)
    #expect(removal.content == nil && removal.extension == "")
    for params in ["", #","text":null,"data":null,"extension":null"#] {
      let none = fault("modifyGroupMessage", #"{"groupID":"g","seq":1\#(params)}"#)
      #expect(none?.code == .invalidParams && none?.field == "text")
    }
    let contents = fault("modifyGroupMessage", #"{"groupID":"g","seq":1,"text":"t","data":"d","extension":"e"}"#)
    #expect(contents?.code == .badValue && contents?.field == "data")
  }

  @Test func anImportedMessageTakesTheExtensionAlone() throws {
    let list = #"{"sender":"u","timestamp":1,"text":"t","extension":"e","replyTo":-1,"toUserIDList":5}"#
    guard
      case .group(_, .importGroupMessages(let imported)) = try decoded(
        "importGroupMessages", #"{"groupID":"g","messageList":[\#(list),{"sender":"u","timestamp":1,"data":"d"}]}"#)
    else { return fail("importGroupMessages") }
    #expect(imported.messageList.map { $0.extension } == ["e", nil])
  }

  @Test func messagesAndRepliesAreNamed() throws {
    guard
      case .group(_, .getGroupMessages(let some)) = try decoded("getGroupMessages", #"{"groupID":"g","seqList":[3,1,3]}"#),
      case .group(_, .getGroupMessageReplies(let first)) = try decoded("getGroupMessageReplies", #"{"groupID":"g","seq":5}"#),
      case .group(_, .getGroupMessageReplies(let next)) = try decoded(
        "getGroupMessageReplies", #"{"groupID":"g","seq":5,"nextSeq":9,"count":2}"#)
    else { return fail("reads") }
    #expect(some.seqs == [3, 1], "in the order of the list, each once")
    #expect(first.seq == 5 && first.nextSeq == 0 && first.count == 50 && next.nextSeq == 9 && next.count == 2)
  }
}
