import GroupModel
import Testing
import WireProtocol

/// What each method says of its requests besides their parameters, written by hand where it is not
/// the same for all.
@Suite struct TraitTests {
  private static let methods = MethodTable().entries

  /// A request of each method, with the members that are required.
  private func requests() throws -> [(name: String, writes: Bool, request: Request)] {
    let writes = Dictionary(uniqueKeysWithValues: TraitTests.methods.map { ($0.name, $0.writes) })
    return try MethodPage.all.map { page in
      (page.name, try #require(writes[page.name] as Bool?), try decoded(page.name, page.params()))
    }
  }

  /// The same, as far as one group performs it.
  private func groupRequests() throws -> [(name: String, writes: Bool, request: GroupRequest)] {
    try requests().compactMap { name, writes, request in
      if case .group(_, let request) = request { (name, writes, request) } else { nil }
    }
  }

  private func names(where isWanted: (Request) -> Bool) throws -> Set<String> {
    Set(try requests().filter { isWanted($0.request) }.map(\.name))
  }

  private func rows(_ method: String, _ params: String) throws -> WrittenRows {
    try call(method, #"{"groupID":"g",\#(params)}"#).content.rows
  }

  // MARK: Nodes

  @Test func whatAnOwnerPerformsNamesItsSubject() throws {
    let user = try #require(UserID("u"))
    for (name, _, request) in try requests() {
      switch name {
      case "createGroup", "importGroup": #expect(request.subject == .newGroup(nil), "\(name)")
      case "acceptGroupApplication", "refuseGroupApplication":
        guard case .application = request.subject else { return fail("\(name) is for the group of its application") }
      case "setSelfInfo", "setSelfStatus", "reportMessage": #expect(request.subject == .caller, "\(name)")
      case "setUserInfo", "blockUser", "unblockUser", "revokeTokens", "deleteUser":
        guard case .user = request.subject else { return fail("\(name) is for a user") }
      default:
        if case .group(let id, _) = request {
          #expect(request.subject == .group(id) && request.groupID == id, "\(name)")
        } else {
          #expect(request.subject == nil && request.groupID == nil, "\(name)")
        }
      }
    }
    let named = try decoded("createGroup", #"{"groupType":"Work","groupName":"n","groupID":"g"}"#)
    #expect(named.subject == .newGroup(GroupID("g")) && named.groupID == GroupID("g"))
    #expect(try decoded("setUserInfo", #"{"userID":"u"}"#).subject == .user(user))
    #expect(try decoded("acceptGroupApplication", #"{"applicationID":"a"}"#).subject == .application("a"))
  }

  @Test func whatThousandsCallAtOnceMayWait() throws {
    #expect(try names(where: \.mayWait) == ["joinGroup", "quitGroup", "increaseGroupCounter", "decreaseGroupCounter"])
  }

  // MARK: Users

  @Test func theStoresAreAskedAboutUsersThatARequestNames() throws {
    let (one, two) = (try #require(UserID("u1")), try #require(UserID("u2")))
    func users(_ method: String, _ params: String) throws -> RequestUsers? {
      guard case .group(_, let request) = try decoded(method, #"{"groupID":"g",\#(params)}"#) else { return nil }
      return request.users
    }
    #expect(try users("joinGroup", #""message":"m""#) == .caller)
    #expect(try users("inviteUserToGroup", #""userIDList":["u1","u2"]"#) == .added([one, two]))
    #expect(try users("importGroupMembers", #""memberList":[{"userID":"u2"},{"userID":"u1"}]"#) == .added([two, one]))
    #expect(try users("setGroupMemberInfo", #""userID":"u1","nameCard":"n""#) == .known([one]))
    #expect(try users("setGroupMemberRole", #""userID":"u2","role":"Admin""#) == .known([two]))
    #expect(try users("setGroupMemberRole", #""userIDList":["u1","u2"],"role":"Admin""#) == .known([one, two]))
  }

  /// These name members, whom their group knows.
  private static let namingMembers: Set = [
    "kickGroupMember", "unbanGroupMember", "transferGroupOwner", "muteGroupMember", "sendGroupSystemNotification",
    "setUnreadCount",
  ]

  @Test func aChangeThatNamesUsersAsksTheStoresOrIsOfMembersAlone() throws {
    let naming = Set(
      TraitTests.methods.filter { $0.parameters.contains { ["userID", "userIDList", "memberList"].contains($0.name) } }.map(
        \.name))
    let silent = try groupRequests().filter { name, writes, request in
      writes && naming.contains(name) && request.users == .nobody
    }
    #expect(Set(silent.map(\.name)) == TraitTests.namingMembers)
  }

  @Test func readsAskTheStoresAboutNobody() throws {
    for (name, writes, request) in try groupRequests() where !writes { #expect(request.users == .nobody, "\(name)") }
  }

  // MARK: Others

  @Test func membersAreToldOfChangesButOfThoseOfTheCallersOwn() throws {
    let own = [
      "setGroupReceiveMessageOpt", "markGroupMessageAsRead", "sendMessageReadReceipts", "setConversation", "clearGroupHistory",
    ]
    for (name, writes, request) in try groupRequests() {
      #expect(request.tellsMembers == (writes && !own.contains(name)), "\(name)")
    }
  }

  @Test func theApplicationIsAskedBeforeWhatItsBeforeEventsName() throws {
    let asked = ["createGroup", "joinGroup", "inviteUserToGroup", "sendGroupTextMessage", "sendGroupCustomMessage"]
    let infos = ["setGroupInfo", "setGroupMemberInfo", "setSelfInfo"]
    #expect(try names { $0.asked != nil } == Set(asked + ["modifyGroupMessage"] + infos))
    for (name, _, request) in try requests() {
      guard let asked = request.asked else { continue }
      #expect(asked.request.caseName == name && asked.request.groupID == request.groupID, "\(name)")
    }
  }

  @Test func aReplacementIsOfTheMessagesOwnKind() throws {
    func replaced(_ method: String, _ params: String, isText: Bool = true) throws -> Request {
      try #require(try decoded(method, #"{"groupID":"g",\#(params)}"#).asked).replacingContent(with: "new", isText: isText)
        .request
    }
    guard
      case .group(_, .sendGroupTextMessage(let text)) = try replaced("sendGroupTextMessage", #""text":"t","clientMsgID":"c""#),
      case .group(_, .sendGroupCustomMessage(let custom)) = try replaced("sendGroupCustomMessage", #""data":"d""#),
      case .group(_, .modifyGroupMessage(let edit)) = try replaced("modifyGroupMessage", #""seq":7,"text":"t""#),
      case .group(_, .modifyGroupMessage(let customEdit)) = try replaced(
        "modifyGroupMessage", #""seq":8,"data":"d","extension":"e""#, isText: false),
      case .group(_, .modifyGroupMessage(let bare)) = try replaced(
        "modifyGroupMessage", #""seq":9,"extension":"""#, isText: false),
      case .group(_, .joinGroup(let join)) = try replaced("joinGroup", #""message":"m""#),
      case .group(_, .setGroupInfo(let info)) = try replaced("setGroupInfo", #""groupName":"n""#)
    else { return fail("a request stays of its method") }
    #expect(text.text == "new" && text.options.clientMsgID == "c" && custom.data == "new")
    #expect(edit.seq == 7 && edit.content == .text("new") && customEdit.seq == 8 && customEdit.content == .custom("new"))
    #expect(customEdit.extension == "e" && edit.extension == nil, "the extension is nobody's but the sender's")
    #expect(bare.content == .custom("new") && bare.extension == "", "the application may replace what the edit leaves")
    #expect(join.message == "m" && info.groupName == "n", "they have no content")
  }

  @Test func whatABackendCallsForEachMessageIsNotedBelowTheChanges() {
    let messages = [
      "sendGroupTextMessage", "sendGroupCustomMessage", "sendGroupSignal", "sendGroupSystemNotification", "reportMessage",
    ]
    for method in TraitTests.methods {
      // It reads everything of one user for somebody else.
      let isNoted = method.writes || method.name == "exportUser"
      #expect(
        method.auditLevel == (!isNoted ? nil : messages.contains(method.name) ? .message : .change), "\(method.name)")
    }
  }

  // MARK: Rows

  @Test func onlyReadsWriteNothingAndSignals() throws {
    for page in MethodPage.all {
      let call = try call(page.name, page.params())
      let isKept = call.method?.writes == true && page.name != "sendGroupSignal"
      #expect((call.content.rows == .nothing) == !isKept, "\(page.name)")
    }
    #expect(try call("joinGroup", "{}").content.rows == .nothing, "bad parameters")
    #expect(try call("noSuchMethod", "{}").content.rows == .nothing)
  }

  @Test func aMessageCountsItsTextMentionsAndID() throws {
    #expect(
      try rows("sendGroupTextMessage", #""text":"0123456789","atUserIDList":["u1","@all"],"clientMsgID":"c""#)
        == .message(textBytes: 10 + 5 + 7 + 1, searchableBytes: 10, listsMembers: false, extrasBytes: nil))
    #expect(
      try rows("sendGroupTextMessage", #""text":"é","onlineUserOnly":true"#)
        == .message(textBytes: 2, searchableBytes: 0, listsMembers: false, extrasBytes: nil))
    #expect(
      try rows("sendGroupCustomMessage", #""data":"data","needReadReceipt":true"#)
        == .message(textBytes: 4, searchableBytes: 0, listsMembers: true, extrasBytes: nil))
    #expect(
      try rows("modifyGroupMessage", #""seq":1,"text":"new""#) == .edit(textBytes: 3, searchableBytes: 3, extrasBytes: nil))
    #expect(
      try rows("modifyGroupMessage", #""seq":1,"data":"new""#) == .edit(textBytes: 3, searchableBytes: 0, extrasBytes: nil))
    #expect(try rows("pinGroupMessage", #""seq":1,"isPinned":true"#) == .pin)
    #expect(try rows("pinGroupMessage", #""seq":1,"isPinned":false"#) == .messageChange)
    #expect(try rows("sendMessageReadReceipts", #""seqList":[1,2,1024,5000]"#) == .readReceipts(blocks: 3))
  }

  @Test func whatMostMessagesHaveNotIsARowOfItsOwn() throws {
    #expect(
      try rows("sendGroupTextMessage", #""text":"t","extension":"four","toUserIDList":["a","b"],"needReadReceipt":true"#)
        == .message(textBytes: 1, searchableBytes: 1, listsMembers: false, extrasBytes: 4 + 66), "it names its own readers")
    #expect(
      try rows("sendGroupTextMessage", #""text":"t","replyTo":1,"toUserIDList":["a"]"#)
        == .message(textBytes: 1, searchableBytes: 1, listsMembers: false, extrasBytes: 66), "an index has its readers, too")
    #expect(
      try rows("sendGroupCustomMessage", #""data":"d","isExcludedFromUnreadCount":true"#)
        == .message(textBytes: 1, searchableBytes: 0, listsMembers: false, extrasBytes: 0))
    #expect(
      try rows("sendGroupCustomMessage", #""data":"d","extension":"","isExcludedFromLastMessage":false"#)
        == .message(textBytes: 1, searchableBytes: 0, listsMembers: false, extrasBytes: nil), "none of it is given")
    #expect(
      try rows("sendGroupCustomMessage", #""data":"d","clientMsgID":"c","firstSentAt":1"#)
        == .message(textBytes: 2, searchableBytes: 0, listsMembers: false, extrasBytes: nil), "it is not stored")
    #expect(
      try rows("modifyGroupMessage", #""seq":1,"extension":"four""#)
        == .edit(textBytes: nil, searchableBytes: 0, extrasBytes: 4))
  }

  @Test func aRequestCountsTheUsersThatItNames() throws {
    #expect(
      try rows("inviteUserToGroup", #""userIDList":["u1","u2"],"message":"m","attach":"at""#)
        == .invitations(users: 2, textBytes: 3))
    #expect(try rows("kickGroupMember", #""userIDList":["u1","u2"],"reason":"why""#) == .removals(users: 2, reasonBytes: 3))
    #expect(try rows("muteGroupMember", #""userID":"u1","muteTime":1"#) == .memberChanges(users: 1))
    #expect(try rows("setGroupMemberRole", #""userIDList":["u1","u2","u3"],"role":"Admin""#) == .memberChanges(users: 3))
    #expect(
      try rows(
        "createGroup",
        #""groupType":"Work","groupName":"name","introduction":"in","inviteMessage":"i","memberList":[{"userID":"u"}]"#)
        == .group(textBytes: 4 + 2, members: 1, inviteBytes: 1))
    #expect(try rows("joinGroup", #""message":"let me in""#) == .application(textBytes: 9))
    #expect(
      try call("refuseGroupApplication", #"{"applicationID":"a","reason":"no"}"#).content.rows == .membership(reasonBytes: 2))
  }

  /// As they stand in the store, in JSON.
  @Test func textsInJSONCountAsLongAsTheyAreThere() throws {
    #expect(try rows("setGroupInfo", #""introduction":"a\u0001\"b""#) == .groupInfo(textBytes: 1 + 6 + 2 + 1))
    #expect(try rows("setGroupInfo", #""customInfo":{"k":"vv"}"#) == .groupInfo(textBytes: 3 + 8))
    #expect(try rows("initGroupAttributes", #""attributes":{"k":"vv","l":"\\"}"#) == .attributes(bytes: 3 + 3))
    #expect(try rows("setGroupCounters", #""counters":{"a":1,"b":null}"#) == .counters(2))
    #expect(try rows("reportMessage", #""seq":1,"category":"c","text":"é""#) == .report(textBytes: 1 + 2))
    #expect(try call("closeReport", #"{"reportID":"r","note":"gone"}"#).content.rows == .report(textBytes: 4))
    #expect(try call("setSelfInfo", #"{"nickName":"nn","customInfo":{"k":"v"}}"#).content.rows == .profile(textBytes: 2 + 2 + 8))
    #expect(try call("setSelfStatus", #"{"customStatus":"é"}"#).content.rows == .profile(textBytes: 2))
  }
}
