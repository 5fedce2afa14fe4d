import GroupModel

/// An object type with a name, for the descriptions, the reference page and the sources of clients.
package struct NamedType: Sendable {
  /// As fields and parameters write it.
  package let name: String
  /// One sentence.
  package let summary: String
  /// The members of such an object.
  package let fields: [ResultField]

  /// Every named type, in the order of the page.
  package static let all = [
    groupInfo, selfInfo, groupMute, memberInfo, memberChange, userInfo, userStatus, application, message, tips,
    systemNotification, session, traceEntry, activeGroup, administratorAction, report,
  ]

  /// Types of methods that no client calls.
  package static let ofAdministrators: Set = [traceEntry.name, activeGroup.name, administratorAction.name, report.name]

  /// The type of that name.
  package static func named(_ name: String) -> NamedType? { all.first { $0.name == name } }

  private static let groupInfo = NamedType(
    name: "GroupInfo",
    summary: "A group. Non-members get what is always there, and joinMode; a BChatRoom has no policy fields.",
    fields: GroupInfo.fields)

  private static let selfInfo = NamedType(
    name: "SelfInfo", summary: "The reader's own membership.", fields: GroupInfo.SelfInfo.fields)

  private static let groupMute = NamedType(
    name: "GroupMute", summary: "The mute of a group; without muteUntil there is no end.", fields: GroupMute.fields)

  private static let memberInfo = NamedType(
    name: "MemberInfo",
    summary:
      "A member. Events have the members up to role (an application administrator only userID), lists all; nickName and "
      + "faceURL are left out where they are empty; inviter is for oneself. The role is NotMember for somebody who is no member, or no longer.",
    fields: MemberInfo.fields)

  private static let memberChange = NamedType(
    name: "MemberChange",
    summary: "A change to a member: muteTime in seconds (0 = may speak again), customInfo whole.",
    fields: MemberChange.fields)

  private static let userInfo = NamedType(name: "UserInfo", summary: "The texts of a user.", fields: UserInfo.fields)

  private static let userStatus = NamedType(
    name: UserStatusInfo.notation,
    summary:
      "Whether a user is online. platformList names each platform with a session once; lastOnlineTime is 0 for who is online "
      + "or never was.",
    fields: UserStatusInfo.fields)

  private static let application = NamedType(
    name: "Application",
    summary: "A request to join that managers decide, or an invitation that the invited decides; toUser is empty for Join.",
    fields: ApplicationInfo.fields)

  private static let message = NamedType(
    name: "Message", summary: "A message: text, data or tips by its type, and extension; none of them when it is recalled.",
    fields: MessageInfo.fields)

  private static let tips = NamedType(
    name: "Tips", summary: "A change in the group, as its history keeps it.", fields: GroupTips.fields)

  private static let systemNotification = NamedType(
    name: "SystemNotification", summary: "An event in a group that concerned the user, kept for later.",
    fields: NotificationInfo.fields)

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

  private static let report = NamedType(
    name: ReportInfo.notation, summary: "A message that a member has reported, as the reporter saw it then.",
    fields: ReportInfo.fields)

  static let roleOrNone = "string or " + quoted([MemberInfo.notMember])

  /// The types of members that specifications list by name only, as in `{userID, result}`.
  package static let memberTypes: [String: String] = [
    "attempts": "integer", "bannedUntil": "integer", "blockedUntil": "integer", "byMe": "boolean", "changeList": "[Message]",
    "changeSeq": "integer", "code": "integer", "count": "integer", "data": "object", "epoch": "string",
    "groupID": "string", "id": "string", "info": "GroupInfo", "inviter": "string", "key": "string", "lastError": "string",
    "lastSeq": "integer", "message": "string", "messageList": "[Message]", "more": "boolean", "reaction": "string",
    "reactions": "[{reaction, count, byMe, userIDList}]", "readCount": "integer", "reason": "string", "recovered": "boolean",
    "result": words(MemberResult.Outcome.self), "role": roleOrNone, "sender": "string",
    "seq": "integer",
    "timestamp": "integer", "type": "string",
    "unreadCount": "integer", "userID": "string", "userIDList": "[string]", "value": "any",
  ]

  /// The words of an enumeration, each quoted.
  static func words<Value: RawRepresentable<String> & CaseIterable>(_ type: Value.Type) -> String {
    quoted(Value.allCases.map(\.rawValue))
  }

  /// Words, each quoted.
  static func quoted(_ words: [String]) -> String {
    let all = words.map { "\"\($0)\"" }
    guard let last = all.last, all.count > 1 else { return all.joined() }
    return all.dropLast().joined(separator: ", ") + " or " + last
  }
}
