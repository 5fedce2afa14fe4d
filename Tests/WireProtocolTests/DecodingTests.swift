import GroupModel
import Testing
import WireProtocol

/// The parameters of a request as the server reads them: values, defaults, and old names.
@Suite struct DecodingTests {
  @Test func createGroupTakesWhatIsGiven() throws {
    let params = #"""
      {"groupType":"Public","groupName":"né","groupID":"g","introduction":"i","notification":"","faceURL":"f","maxMemberNum":7,
       "customInfo":{"a":"1","b":null},"joinMode":"Any","isSearchable":false,
       "memberList":[{"userID":"a","role":"Admin"},{"userID":"b"},{"userID":"a","role":"200"}]}
      """#
    guard case .createGroup(let create) = try decoded("createGroup", params) else { return #expect(Bool(false)) }
    #expect(create.groupType == .public && create.groupName == "né" && create.groupID == GroupID("g"))
    #expect(create.fields.introduction == "i" && create.fields.notification == "" && create.fields.faceURL == "f")
    #expect(create.fields.maxMemberNum == 7 && create.fields.customInfo == ["a": "1", "b": ""])
    #expect(create.fields.policy.map(\.field) == [.joinMode, .isSearchable])
    #expect(create.fields.policy.map(\.value) == [.word("Any"), .flag(false)])
    #expect(create.memberList.map(\.userID.rawValue) == ["a", "b", "a"])
    #expect(create.memberList.map(\.role) == [.admin, .member, .custom(200)])
  }

  @Test(arguments: [
    ("Work", GroupType.work), ("Private", .work), ("Public", .public), ("Meeting", .meeting), ("ChatRoom", .meeting),
    ("AVChatRoom", .avChatRoom), ("BChatRoom", .bChatRoom),
  ])
  func legacyNamesOfTypesAreAccepted(name: String, type: GroupType) throws {
    guard case .createGroup(let create) = try decoded("createGroup", #"{"groupType":"\#(name)","groupName":"n"}"#) else {
      return fail("another method")
    }
    #expect(create.groupType == type)
  }

  @Test func withoutOptionsTheDefaultsOfThePageHold() throws {
    guard
      case .group(_, .sendGroupTextMessage(let send)) = try decoded("sendGroupTextMessage", #"{"groupID":"g","text":"\u0000"}"#),
      case .group(_, .getGroupHistoryMessageList(let history)) = try decoded("getGroupHistoryMessageList", #"{"groupID":"g"}"#),
      case .group(_, .getGroupMemberList(let members)) = try decoded("getGroupMemberList", #"{"groupID":"g"}"#),
      case .getJoinedGroupList(let joined) = try decoded("getJoinedGroupList", "{}"),
      case .login(let login) = try decoded("login", #"{"token":""}"#)
    else { return #expect(Bool(false)) }
    #expect(send.text == "\0" && send.options == MessageOptions(priority: .normal))
    #expect(history.count == 20 && history.fromSeq == 0 && history.direction == .older)
    #expect(members.filter == .all && members.nextSeq == 0 && members.count == 50)
    #expect(joined.count == 50 && joined.updatedSince == nil && joined.groupType == nil && joined.nextSeq == 0)
    #expect(try login.device() == Login(token: "", platform: "Unknown", deviceID: nil).device())
  }

  @Test func anEmptyOptionalListCountsAsAbsent() throws {
    guard
      case .group(_, .sendGroupTextMessage(let send)) = try decoded(
        "sendGroupTextMessage", #"{"groupID":"g","text":"x","atUserIDList":[]}"#)
    else {
      return fail("another method")
    }
    #expect(send.options.atUserIDList.isEmpty)
  }

  @Test func aUserNamedTwiceIsOneUserInOrder() throws {
    guard
      case .group(_, .getGroupMembersInfo(let info)) = try decoded(
        "getGroupMembersInfo", #"{"groupID":"g","userIDList":["b","a","b"]}"#)
    else {
      return fail("another method")
    }
    #expect(info.userIDList.map(\.rawValue) == ["b", "a"])
  }

  @Test func aWholeNumberMayBeWrittenAsADecimal() throws {
    for text in ["20", "20.0", "2e1", "200e-1"] {
      guard
        case .group(_, .getGroupHistoryMessageList(let history)) = try decoded(
          "getGroupHistoryMessageList", #"{"groupID":"g","count":\#(text)}"#)
      else {
        return fail("another method")
      }
      #expect(history.count == 20)
    }
  }

  @Test func faultsAreToldInTheOrderOfThePage() {
    #expect(fault("createGroup", "{}")?.field == "groupType")
    #expect(fault("createGroup", #"{"groupType":"x"}"#)?.field == "groupType")
    #expect(fault("createGroup", #"{"groupType":"Work"}"#)?.field == "groupName")
    #expect(fault("sendGroupTextMessage", #"{"text":""}"#)?.field == "groupID")
  }

  /// A renewal ignores platform and deviceID, so a new session judges them and not the reading of
  /// the params.
  @Test func aNewSessionsPlatformAndDeviceAreJudged() throws {
    for name in ["iOS", "Android", "Windows", "Mac", "Web", "Unknown"] {
      #expect(try Login(token: "t", platform: name, deviceID: nil).device().platform.rawValue == name)
    }
    let longest = String(repeating: "é", count: 256)
    #expect(try Login(token: "t", platform: nil, deviceID: longest).device().deviceID == longest)
    #expect(try Login(token: "t", platform: nil, deviceID: nil).device().platform == .unknown)
    for (platform, deviceID, field) in [
      ("web", nil, "platform"), ("", nil, "platform"), ("RESTful API", nil, "platform"), (nil, longest + "a", "deviceID"),
    ] {
      let error = #expect(throws: WireError.self) { try Login(token: "t", platform: platform, deviceID: deviceID).device() }
      #expect(error?.code == .badValue && error?.field == field)
    }
  }
}
