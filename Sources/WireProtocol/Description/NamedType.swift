import GroupModel

/// An object type with a name, for the OpenRPC document and the reference page.
struct NamedType {
  let name: String
  /// One sentence.
  let summary: String
  let fields: [ResultField]

  /// Every named type, in the order of the page.
  static let all = [
    groupInfo, selfInfo, groupMute, memberInfo, memberChange, userInfo, application, message, tips, systemNotification, session,
    traceEntry, activeGroup, administratorAction,
  ]

  /// Types of methods that no client calls.
  static let ofAdministrators: Set = [traceEntry.name, activeGroup.name, administratorAction.name]

  /// The type of that name.
  static func named(_ name: String) -> NamedType? { all.first { $0.name == name } }

  private static let groupInfo = NamedType(
    name: "GroupInfo",
    summary: "A group. Non-members get what is always there, and joinMode; a BChatRoom has no policy fields.",
    fields: [
      ResultField("groupID", "string"), ResultField("groupType", words(GroupType.self)), ResultField("groupName", "string"),
      ResultField("introduction", "string"), ResultField("notification?", "string"), ResultField("faceURL", "string"),
      ResultField("owner", "string"), ResultField("createTime", "integer"), ResultField("lastInfoTime?", "integer"),
      ResultField("lastMessageTime?", "integer"), ResultField("lastSeq?", "integer"), ResultField("firstSeq?", "integer"),
      ResultField("changeSeq?", "integer"), ResultField("epoch?", "string"),
      ResultField("memberCount", "integer"), ResultField("onlineCount", "integer"), ResultField("maxMemberNum", "integer"),
      ResultField("allMuted?", "boolean"), ResultField("mute?", "GroupMute"), ResultField("customInfo", "map"),
      ResultField("serverCustomInfo?", "string"),
    ] + PolicyField.allCases.map { ResultField($0.rawValue + "?", $0.isFlag ? "boolean" : quoted($0.words)) } + [
      ResultField("lastMessage?", "Message"), ResultField("selfInfo?", "SelfInfo"),
    ])

  private static let selfInfo = NamedType(
    name: "SelfInfo", summary: "The reader's own membership.",
    fields: [
      ResultField("role", "string"), ResultField("joinTime", "integer"), ResultField("nameCard", "string"),
      ResultField("muteUntil", "integer"), ResultField("receiveMessageOpt", words(ReceiveOption.self)),
      ResultField("readSeq", "integer"), ResultField("unreadCount", "integer"), ResultField("customInfo", "map"),
    ])

  private static let groupMute = NamedType(
    name: "GroupMute", summary: "The mute of a group; without muteUntil there is no end.",
    fields: [
      ResultField("mode", words(GroupMute.Mode.self)), ResultField("roles?", "[string]"), ResultField("muteUntil?", "integer"),
    ])

  private static let memberInfo = NamedType(
    name: "MemberInfo",
    summary:
      "A member. Events have the members up to role (an application administrator only userID), lists all; nickName and "
      + "faceURL are left out where they are empty; inviter is for oneself. The role is NotMember for somebody who is no member, or no longer.",
    fields: [
      ResultField("userID", "string"), ResultField("nickName?", "string"), ResultField("faceURL?", "string"),
      ResultField("nameCard?", "string"), ResultField("role?", roleOrNone),
      ResultField("joinTime?", "integer"), ResultField("muteUntil?", "integer"), ResultField("customInfo?", "map"),
      ResultField("isOnline?", "boolean"), ResultField("inviter?", "string"),
    ])

  private static let memberChange = NamedType(
    name: "MemberChange",
    summary: "A change to a member: muteTime in seconds (0 = may speak again), customInfo whole.",
    fields: [
      ResultField("userID", "string"), ResultField("muteTime?", "integer"), ResultField("nameCard?", "string"),
      ResultField("customInfo?", "map"), ResultField("role?", "string"),
    ])

  private static let userInfo = NamedType(name: "UserInfo", summary: "The texts of a user.", fields: UserInfo.fields)

  private static let application = NamedType(
    name: "Application",
    summary: "A request to join that managers decide, or an invitation that the invited decides; toUser is empty for Join.",
    fields: [
      ResultField("applicationID", "string"), ResultField("groupID", "string"),
      ResultField("type", words(GroupApplication.Kind.self)), ResultField("fromUser", "string"), ResultField("toUser", "string"),
      ResultField("addTime", "integer"), ResultField("requestMsg", "string"), ResultField("attach?", "string"),
      ResultField("handleStatus", quoted(["Unhandled", "HandledByOther", "HandledBySelf"])),
      ResultField("handleResult?", quoted(["Agree", "Refuse"])), ResultField("handledMsg?", "string"),
      ResultField("handledBy?", "string"), ResultField("handledTime?", "integer"), ResultField("isRead", "boolean"),
    ])

  private static let message = NamedType(
    name: "Message", summary: "A message: text, data or tips by its type, and none of them when it is recalled.",
    fields: [
      ResultField("msgID", "string"), ResultField("groupID", "string"), ResultField("seq?", "integer"),
      ResultField("sender", "string"), ResultField("nickName?", "string"), ResultField("faceURL?", "string"),
      ResultField("nameCard?", "string"), ResultField("timestamp", "integer"),
      ResultField("type", "\"Text\", \"Custom\" or \"GroupTips\""), ResultField("text?", "string"),
      ResultField("data?", "string"),
      ResultField("tips?", "Tips"), ResultField("priority", words(Priority.self)), ResultField("clientMsgID?", "string"),
      ResultField("atUserIDList?", "[string]"), ResultField("isRevoked?", "boolean"),
      ResultField("needReadReceipt?", "boolean"), ResultField("changeSeq?", "integer"), ResultField("editTime?", "integer"),
      ResultField("isPinned?", "boolean"), ResultField("reactions?", "[\(ReactionInfo.notation)]"),
      ResultField("platform", "string"),
    ])

  private static let tips = NamedType(
    name: "Tips", summary: "A change in the group, as its history keeps it.",
    fields: [
      ResultField("type", quoted(GroupTips.types)),
      ResultField("opUser", "MemberInfo"), ResultField("memberList?", "[MemberInfo]"),
      ResultField("changeInfoList?", "[{type, key?, value}] or [MemberChange]"), ResultField("memberCount", "integer"),
    ])

  private static let systemNotification = NamedType(
    name: "SystemNotification", summary: "An event in a group that concerned the user, kept for later.",
    fields: [
      ResultField("notificationID", "string"), ResultField("type", words(SystemNotification.Kind.self)),
      ResultField("groupID", "string"), ResultField("groupName?", "string"), ResultField("opUser", "MemberInfo"),
      ResultField("platform?", "string"), ResultField("applicationID?", "string"), ResultField("reason?", "string"),
      ResultField("data?", "string"), ResultField("timestamp", "integer"), ResultField("isRead", "boolean"),
    ])

  private static let session = NamedType(
    name: "Session", summary: "A signed-in connection of a user.",
    fields: [
      ResultField("sessionID", "string"),
      ResultField("platform", quoted(Platform.allCases.map(\.rawValue).filter { Platform(signIn: $0) != nil })),
      ResultField("deviceID?", "string"), ResultField("address", "string"), ResultField("loginTime", "integer"),
    ])

  private static let traceEntry = NamedType(
    name: TraceEntry.notation,
    summary:
      "A request that was answered, an event that was sent, a sign-in, or the end of a connection. The name is the method's, the "
      + "event's, or at a sign-in the platform's; unknownParameters are those of a request that its method does not have.",
    fields: TraceEntry.fields)

  private static let activeGroup = NamedType(
    name: ActiveGroup.notation, summary: "A group's events in the last second; deliveries are events times connections.",
    fields: ActiveGroup.fields)

  private static let administratorAction = NamedType(
    name: AdministratorAction.notation, summary: "A call of an administrator that could change something; code 0 = done.",
    fields: AdministratorAction.fields)

  private static let roleOrNone = "string or " + quoted([MemberInfo.notMember])

  /// The types of members that specifications list by name only, as in `{userID, result}`.
  static let memberTypes: [String: String] = [
    "attempts": "integer", "bannedUntil": "integer", "byMe": "boolean", "changeList": "[Message]", "changeSeq": "integer",
    "code": "integer", "count": "integer", "data": "object", "epoch": "string",
    "groupID": "string", "id": "string", "info": "GroupInfo", "inviter": "string", "key": "string", "lastError": "string",
    "lastSeq": "integer", "message": "string", "messageList": "[Message]", "more": "boolean", "reaction": "string",
    "reactions": "[{reaction, count, byMe, userIDList}]", "readCount": "integer", "reason": "string", "recovered": "boolean",
    "result": words(MemberResult.Outcome.self), "role": roleOrNone, "seq": "integer",
    "timestamp": "integer", "type": "string",
    "unreadCount": "integer", "userID": "string", "userIDList": "[string]", "value": "any",
  ]

  /// The words of an enumeration, each quoted.
  static func words<Value: RawRepresentable<String> & CaseIterable>(_ type: Value.Type) -> String {
    quoted(Value.allCases.map(\.rawValue))
  }

  private static func quoted(_ words: [String]) -> String {
    let all = words.map { "\"\($0)\"" }
    guard let last = all.last, all.count > 1 else { return all.joined() }
    return all.dropLast().joined(separator: ", ") + " or " + last
  }
}
