import Testing

/// The parameters of each method as contract section 4 writes them, and section 7 the errors of their domains. Written from
/// the page.
struct MethodPage: Sendable, CustomTestStringConvertible {
  let name: String
  let fields: [Field]

  init(_ name: String, _ fields: [Field] = []) {
    self.name = name
    self.fields = fields
  }

  var testDescription: String { name }

  /// The params with one valid value for each required member, and some members otherwise (nil = left out).
  func params(_ changed: [String: String?] = [:]) -> String {
    var members: [String] = []
    for field in fields where field.isRequired || changed.keys.contains(field.name) {
      let value = changed.keys.contains(field.name) ? changed[field.name] ?? nil : field.domain.valid[0]
      if let value { members.append("\"\(field.name)\":\(value)") }
    }
    return "{" + members.joined(separator: ",") + "}"
  }

  static let all: [MethodPage] = [
    MethodPage(
      "login", [.need("token", .text(0...60_000)), .may("platform", .text(0...60_000)), .may("deviceID", .text(0...60_000))]),
    MethodPage("logout"), MethodPage("ping"), MethodPage("getServerInfo"), MethodPage("rpc.discover"),
    MethodPage(
      "createGroup",
      [
        .need("groupType", .word(["Work", "Private", "Public", "Meeting", "ChatRoom", "AVChatRoom", "BChatRoom"])),
        .need("groupName", .text(1...30, 8502, empty: 8502)), .may("groupID", .newGroupID),
        .may("memberList", .objects([.need("userID", .userID), .may("role", .role)], 0...100)),
      ] + Field.groupFields),
    MethodPage("joinGroup", [.groupID, .may("message", .text(0...512))]),
    MethodPage("quitGroup", [.groupID]), MethodPage("dismissGroup", [.groupID]),
    MethodPage(
      "getJoinedGroupList",
      [
        .may("groupType", .word(["Work", "Private", "Public", "Meeting", "ChatRoom", "AVChatRoom", "BChatRoom"])),
        .may("updatedSince", .instant), .may("count", .integer(1...200)), .may("nextSeq", .instant),
      ]),
    MethodPage("getGroupsInfo", [.need("groupIDList", .list(.text(0...60_000), 1...50, empty: 10004))]),
    MethodPage(
      "setGroupInfo",
      [.groupID, .may("groupName", .text(1...30, 8502, empty: 8502)), .may("allMuted", .flag)] + Field.groupFields),
    MethodPage(
      "getGroupMemberList",
      [
        .groupID, .may("filter", .word(["All", "Owner", "Admin", "Common"])), .may("nextSeq", .instant),
        .may("count", .integer(1...50)),
      ]),
    MethodPage("getGroupMembersInfo", [.groupID, .need("userIDList", .list(.userID, 1...50, empty: 8510))]),
    MethodPage("getGroupOnlineMemberCount", [.groupID]),
    MethodPage("sendGroupTextMessage", [.groupID, .need("text", .text(1...12_288, 80002, empty: 10004))] + Field.messageOptions),
    MethodPage(
      "sendGroupCustomMessage", [.groupID, .need("data", .text(1...12_288, 80002, empty: 10004))] + Field.messageOptions),
    MethodPage(
      "getGroupHistoryMessageList",
      [
        .groupID, .may("count", .integer(1...100)), .may("fromSeq", .instant), .may("direction", .word(["Older", "Newer"])),
      ]),
    MethodPage(
      "syncGroups",
      [
        .need(
          "groups",
          .objects([.need("groupID", .text(0...60_000)), .need("epoch", .text(0...60_000)), .need("seq", .instant)], 1...50))
      ]),
  ]
}

/// One member of params.
struct Field: Sendable {
  let name: String
  let isRequired: Bool
  let domain: Domain

  static func need(_ name: String, _ domain: Domain) -> Field { Field(name: name, isRequired: true, domain: domain) }
  static func may(_ name: String, _ domain: Domain) -> Field { Field(name: name, isRequired: false, domain: domain) }

  static let groupID = need("groupID", .groupID)

  /// What createGroup and setGroupInfo share.
  static let groupFields: [Field] = [
    may("introduction", .text(0...240, 8503)), may("notification", .text(0...300, 8504)), may("faceURL", .text(0...100, 8505)),
    may("maxMemberNum", .integer(1...(1 << 53))), may("customInfo", .customInfo),
    may("joinMode", .word(["Any", "Auth", "Forbid"])), may("inviteMode", .word(["Any", "Admin", "Nobody"])),
    may("beInviteMode", .word(["None", "Auth"])), may("updateInfoMode", .word(["Any", "Admin", "Owner"])),
    may("updateCustomMode", .word(["Any", "Admin", "Owner"])), may("ownerQuitMode", .word(["Transfer", "Forbid"])),
    may("memberChangeNotification", .flag), may("isSearchable", .flag), may("isMemberVisible", .flag),
  ]

  static let messageOptions: [Field] = [
    may("priority", .word(["High", "Normal", "Low", "Lowest"])), may("clientMsgID", .text(1...64, empty: 10004)),
    may("atUserIDList", .list(.mention, 0...30, tooMany: 10053)), may("onlineUserOnly", .flag),
  ]
}
