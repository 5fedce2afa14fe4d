import GroupModel
import Testing
import WireProtocol

/// The parameters of the methods that set, find and read groups, as the server reads them.
@Suite struct DecodingGroupTests {
  @Test func searchGroupsTakesWhatIsGiven() throws {
    let params = #"""
      {"keywordList":["é","E\u0301"],"matchFields":["memberNameCard","groupID"],"ignoreCase":false,"count":50,"nextSeq":7}
      """#
    guard case .searchGroups(let search) = try decoded("searchGroups", params) else { return fail("searchGroups") }
    #expect(search.keywords.map { Array($0.utf8) } == [Array("é".utf8), Array("E\u{301}".utf8)])
    #expect(search.fields == [.memberNameCard, .groupID] && !search.ignoresCase)
    #expect(search.count == 50 && search.nextSeq == 7)
  }

  @Test(arguments: ["", #","matchFields":[]"#, #","matchFields":null,"ignoreCase":null,"count":null,"nextSeq":null"#])
  func searchGroupsHasTheDefaultsOfThePage(rest: String) throws {
    guard case .searchGroups(let search) = try decoded("searchGroups", #"{"keywordList":["a"]\#(rest)}"#) else {
      return fail("searchGroups")
    }
    #expect(search.fields == [.groupID, .groupName] && search.ignoresCase)
    #expect(search.count == 20 && search.nextSeq == 0)
  }

  /// "createGroup and importGroup take groupID:"" and maxMemberNum:0 as absent, setGroupInfo takes
  /// maxMemberNum 0 as the type's default."
  @Test func nothingAndNoneAreAbsentForANewGroup() throws {
    let params = #"{"groupType":"Work","groupName":"n","groupID":"","maxMemberNum":0,"ownerUserID":"o"}"#
    guard case .createGroup(let made) = try decoded("createGroup", params),
      case .importGroup(let imported) = try decoded("importGroup", params),
      case .group(_, .setGroupInfo(let set)) = try decoded("setGroupInfo", #"{"groupID":"g","maxMemberNum":0}"#)
    else { return fail("groups") }
    for group in [made, imported.group] { #expect(group.groupID == nil && group.fields.maxMemberNum == nil) }
    #expect(set.fields.maxMemberNum == 0)
  }

  @Test func transferStaysUnlessToldToQuit() throws {
    for (rest, quit) in [("", false), (#","quit":false"#, false), (#","quit":null"#, false), (#","quit":true"#, true)] {
      let params = #"{"groupID":"g","userID":"u"\#(rest)}"#
      guard case .group(let id, .transferGroupOwner(let transfer)) = try decoded("transferGroupOwner", params) else {
        return fail("transferGroupOwner")
      }
      #expect(id == GroupID("g") && transfer.userID == UserID("u") && transfer.quit == quit)
    }
  }

  @Test(arguments: ReceiveOption.allCases)
  func everyReceiveOptionIsTaken(option: ReceiveOption) throws {
    let params = #"{"groupID":"g","opt":"\#(option.rawValue)"}"#
    guard case .group(_, .setGroupReceiveMessageOpt(let set)) = try decoded("setGroupReceiveMessageOpt", params) else {
      return fail("setGroupReceiveMessageOpt")
    }
    #expect(set.option == option)
  }

  private func attributes(_ object: String) throws -> [GroupAttributes.Entry] {
    let params = #"{"groupID":"g","attributes":\#(object)}"#
    guard case .group(_, .initGroupAttributes(let replace)) = try decoded("initGroupAttributes", params),
      case .group(_, .setGroupAttributes(let set)) = try decoded("setGroupAttributes", params)
    else { throw WireError(.methodNotFound) }
    #expect(set.attributes == replace.attributes)
    return set.attributes
  }

  @Test func attributesAreReadByTheBytesOfTheirKeys() throws {
    #expect(try attributes("{}").isEmpty)
    #expect(try attributes(#"{"a":"1","b":""}"#) == [.init(key: "a", value: "1"), .init(key: "b", value: "")])
    // "é" composed and decomposed are two keys.
    #expect(try attributes(#"{"\u00e9":"1","e\u0301":"2"}"#).count == 2)
    #expect(try attributes(#"{"a":"first","a":"second"}"#) == [.init(key: "a", value: "first")])
  }

  @Test func anExpectationIsAValueOrNullByTheBytesOfItsKey() throws {
    func set(_ members: String) throws -> SetGroupAttributes {
      guard
        case .group(_, .setGroupAttributes(let set)) = try decoded(
          "setGroupAttributes", #"{"groupID":"g","attributes":{}\#(members)}"#)
      else { throw WireError(.methodNotFound) }
      return set
    }
    #expect(try set("").expect.isEmpty && set(#","expect":{}"#).expect.isEmpty && set(#","expect":null"#).expect.isEmpty)
    #expect(
      try set(#","expect":{"b":"","a":null}"#).expect == [.init(key: "b", value: ""), .init(key: "a", value: nil)])
    #expect(try set(#","expect":{"a":null,"a":"second"}"#).expect == [.init(key: "a", value: nil)], "the first of a doubled key")
    #expect(try set(#","expect":{"\u00e9":null,"e\u0301":null}"#).expect.count == 2)
    let (none, all) = (try set(""), try set(#","isDeleteAfterHolderLeft":true,"isTakeOver":true"#))
    #expect(!none.isDeleteAfterHolderLeft && !none.isTakeOver && all.isDeleteAfterHolderLeft && all.isTakeOver)
  }

  @Test func anAttributeThatIsNullCountsAsAbsent() throws {
    #expect(try attributes(#"{"a":null}"#).isEmpty)
    #expect(try attributes(#"{"a":null,"b":"1"}"#) == [.init(key: "b", value: "1")])
  }

  @Test func countersAreNumbersAndNulls() throws {
    func counters(_ object: String) throws -> [GroupCounters.Entry] {
      let request = try decoded("setGroupCounters", #"{"groupID":"g","counters":\#(object)}"#)
      return if case .group(_, .setGroupCounters(let set)) = request { set.counters } else { [] }
    }
    #expect(
      try counters(#"{"b":-5,"a":null,"c":2.0}"#)
        == [.init(key: "b", value: -5), .init(key: "a", value: nil), .init(key: "c", value: 2)])
    #expect(try counters(#"{"a":1,"a":2}"#) == [.init(key: "a", value: 1)], "the first of a doubled key")
  }

  @Test func howManyAttributesThereMayBeIsUpToTheGroup() throws {
    let many = (0..<17).map { "\"k\($0)\":\"v\"" }.joined(separator: ",")
    #expect(try attributes("{\(many)}").count == 17)
  }

  @Test func noKeysAreAllAndAnEmptyListIsNone() throws {
    for (rest, keys) in [("", nil), (#","keys":null"#, nil), (#","keys":[]"#, []), (#","keys":["b","a"]"#, ["b", "a"])] {
      guard
        case .group(_, .deleteGroupAttributes(let delete)) = try decoded("deleteGroupAttributes", #"{"groupID":"g"\#(rest)}"#),
        case .group(_, .getGroupAttributes(let get)) = try decoded("getGroupAttributes", #"{"groupID":"g"\#(rest)}"#)
      else { return fail("attributes") }
      #expect(delete.keys == keys && get.keys == keys, "\(rest)")
    }
  }

  @Test func readingMarksTakeWhatIsGiven() throws {
    guard case .group(_, .revokeGroupMessage(let revoke)) = try decoded("revokeGroupMessage", #"{"groupID":"g","seq":1}"#),
      case .group(_, .markGroupMessageAsRead(let mark)) = try decoded("markGroupMessageAsRead", #"{"groupID":"g","seq":9}"#),
      case .group(_, .markGroupMessageAsRead(let markAll)) = try decoded("markGroupMessageAsRead", #"{"groupID":"g"}"#),
      case .setSystemNotificationRead(let read) = try decoded("setSystemNotificationRead", #"{"notificationID":"n"}"#),
      case .setSystemNotificationRead(let readAll) = try decoded("setSystemNotificationRead", "{}")
    else { return fail("marks") }
    #expect(revoke.target == .seq(1) && mark.seq == 9 && markAll.seq == nil)
    #expect(read.notificationID == "n" && readAll.notificationID == nil)
  }

  /// "reportMessage: exactly one of seq and msgID, else -32602."
  @Test func aReportNamesItsMessageInOneWay() throws {
    guard
      case .reportMessage(let report) = try decoded(
        "reportMessage", #"{"groupID":"g","msgID":"m","category":"spam","text":"why"}"#),
      case .reportMessage(let bare) = try decoded("reportMessage", #"{"groupID":"g","seq":7,"category":"","text":""}"#)
    else { return fail("reportMessage") }
    #expect(report.groupID == GroupID("g") && report.target == .msgID("m") && report.category == "spam" && report.text == "why")
    #expect(bare.target == .seq(7) && bare.category == nil && bare.text == nil, "empty texts count as absent")
    for rest in ["", #","seq":null"#, #","msgID":null"#, #","seq":1,"msgID":"m""#] {
      #expect(fault("reportMessage", #"{"groupID":"g"\#(rest)}"#)?.code == .invalidParams, "\(rest)")
    }
    for id in ["", String(repeating: "x", count: 129)] {
      let found = fault("reportMessage", #"{"groupID":"g","msgID":"\#(id)"}"#)
      #expect(found?.code == .badValue && found?.field == "msgID")
    }
    guard case .listReports(let list) = try decoded("listReports", "{}"),
      case .listReports(let closed) = try decoded("listReports", #"{"state":"Closed","groupID":"g","nextSeq":9,"count":1}"#),
      case .closeReport(let close) = try decoded("closeReport", #"{"reportID":"u/m","note":""}"#)
    else { return fail("reports") }
    #expect(list.state == .open && list.groupID == nil && list.nextSeq == 0 && list.count == 50)
    #expect(closed.state == .closed && closed.groupID == GroupID("g") && closed.nextSeq == 9 && closed.count == 1)
    #expect(close.reportID == "u/m" && close.note == nil)
  }

  /// "By `seq` or by `msgID` (exactly one, else -32602)."
  @Test func aRecallNamesItsMessageInOneWay() throws {
    for length in [1, 128] {
      let id = String(repeating: "é", count: length / 2) + (length == 1 ? "m" : "")
      let params = #"{"groupID":"g","msgID":"\#(id)"}"#
      guard case .group(_, .revokeGroupMessage(let revoke)) = try decoded("revokeGroupMessage", params) else {
        return fail("revokeGroupMessage")
      }
      #expect(revoke.target == .msgID(id))
    }
    for rest in ["", #","seq":null"#, #","msgID":null"#, #","seq":1,"msgID":"m""#] {
      #expect(fault("revokeGroupMessage", #"{"groupID":"g"\#(rest)}"#)?.code == .invalidParams, "\(rest)")
    }
    for id in ["", String(repeating: "x", count: 129)] {
      let found = fault("revokeGroupMessage", #"{"groupID":"g","msgID":"\#(id)"}"#)
      #expect(found?.code == .badValue && found?.field == "msgID")
    }
    #expect(fault("revokeGroupMessage", #"{"groupID":"g","msgID":5}"#)?.code == .invalidParams)
    #expect(fault("revokeGroupMessage", #"{"groupID":"g","seq":0}"#)?.code == .badValue)
  }

  private func change(_ params: String) throws -> ConversationChange {
    guard case .group(_, .setConversation(let set)) = try decoded("setConversation", #"{"groupID":"g",\#(params)}"#) else {
      throw WireError(.methodNotFound)
    }
    return set.change
  }

  @Test func aConversationTakesWhatIsGivenAndNothingElse() throws {
    var pinned = ConversationChange()
    pinned.isPinned = true
    #expect(try change(#""isPinned":true"#) == pinned)
    #expect(try change(#""isPinned":true,"isHidden":null,"isMarkedUnread":null,"marks":null"#) == pinned)
    var all = ConversationChange()
    (all.isPinned, all.isHidden, all.isMarkedUnread, all.marks) = (false, true, false, ["b", "a"])
    #expect(try change(#""isPinned":false,"isHidden":true,"isMarkedUnread":false,"marks":["b","a","b"]"#) == all)
    var none = ConversationChange()
    none.marks = []
    #expect(try change(#""marks":[]"#) == none, "an empty list removes all, and is something")
  }

  /// "é" composed and decomposed are two marks.
  @Test func marksAreToldApartByTheirBytes() throws {
    #expect(try change(#""marks":["\u00e9","e\u0301","\u00e9"]"#).marks?.map { $0.utf8.count } == [2, 3])
  }

  @Test(arguments: [#""x":1"#, #""isPinned":null"#, #""isPinned":null,"marks":null"#])
  func aConversationNeedsOneOfTheFour(params: String) {
    let found = fault("setConversation", #"{"groupID":"g",\#(params)}"#)
    #expect(found?.code == .invalidParams && found?.field == "isPinned")
  }

  @Test func aSignalHasANameAndPerhapsData() throws {
    let given: [(String, String?)] = [("", nil), (#","data":null"#, nil), (#","data":"""#, ""), (#","data":"{}""#, "{}")]
    for (more, data) in given {
      let params = #"{"groupID":"g","name":"A.b-c_9"\#(more)}"#
      guard case .group(_, .sendGroupSignal(let signal)) = try decoded("sendGroupSignal", params) else {
        return fail("sendGroupSignal")
      }
      #expect(signal.name == "A.b-c_9" && signal.data == data)
    }
  }

  @Test func unreadIsCountedOnceForEachGroupNamed() throws {
    for (params, names) in [(#"{"groupIDList":["b","a","b"]}"#, ["b", "a"]), ("{}", []), (#"{"groupIDList":[]}"#, [])] {
      guard case .getGroupUnreadCount(let unread) = try decoded("getGroupUnreadCount", params) else {
        return fail("getGroupUnreadCount")
      }
      #expect(unread.groupIDList.map(\.rawValue) == names)
    }
  }

  @Test func receiptsNameEachMessageOnce() throws {
    guard
      case .group(_, .sendMessageReadReceipts(let read)) = try decoded(
        "sendMessageReadReceipts", #"{"groupID":"g","seqList":[3,1,3,2]}"#),
      case .group(_, .getMessageReadReceipts(let counts)) = try decoded(
        "getMessageReadReceipts", #"{"groupID":"g","seqList":[1]}"#),
      case .group(_, .getGroupMessageReadMemberList(let list)) = try decoded(
        "getGroupMessageReadMemberList", #"{"groupID":"g","seq":7}"#),
      case .group(_, .getGroupMessageReadMemberList(let page)) = try decoded(
        "getGroupMessageReadMemberList", #"{"groupID":"g","seq":7,"filter":"Unread","count":100,"nextSeq":4}"#)
    else { return fail("receipts") }
    #expect(read.seqs == [3, 1, 2] && counts.seqs == [1])
    #expect(list.seq == 7 && list.filter == .read && list.count == 50 && list.nextSeq == 0)
    #expect(page.filter == .unread && page.count == 100 && page.nextSeq == 4)
  }

  @Test func aMessageThatIsNotStoredHasNoReceipts() throws {
    for method in ["sendGroupTextMessage", "sendGroupCustomMessage"] {
      let content = #""groupID":"g","text":"x","data":"x""#
      let refused = #"{\#(content),"needReadReceipt":true,"onlineUserOnly":true}"#
      #expect(throws: WireError.self) { try decoded(method, refused) }
      for options in [#""needReadReceipt":true"#, #""needReadReceipt":false,"onlineUserOnly":true"#] {
        _ = try decoded(method, "{\(content),\(options)}")
      }
    }
  }

  @Test func notificationsComeFiftyAtATime() throws {
    guard case .getSystemNotificationList(let list) = try decoded("getSystemNotificationList", "{}"),
      case .getSystemNotificationList(let page) = try decoded("getSystemNotificationList", #"{"count":100,"nextSeq":3}"#)
    else { return fail("getSystemNotificationList") }
    #expect(list.count == 50 && list.nextSeq == 0)
    #expect(page.count == 100 && page.nextSeq == 3)
  }
}
