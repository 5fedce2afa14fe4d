import WireProtocol

/// Methods of groups (Protocol.md, "Groups").
extension MethodPage {
  static let groups: [MethodPage] = [
    MethodPage(
      "createGroup",
      Field.newGroup + [
        .may("memberList", .objects([.userID, .may("role", .initialRole)], 0...100)), .may("inviteMessage", .remark),
      ],
      "groupID groupType memberList"),
    MethodPage("joinGroup", [.groupID, .may("message", .remark)], "status lastSeq? epoch?", for: .user),
    MethodPage("quitGroup", [.groupID], for: .user), MethodPage("dismissGroup", [.groupID]),
    MethodPage(
      "getJoinedGroupList",
      [.may("groupType", .groupType), .may("updatedSince", .instant), .count(200), .nextSeq],
      "groupList leftGroupIDList nextSeq", for: .user),
    MethodPage("getGroupsInfo", [.need("groupIDList", .list(.any, 1...50, empty: 10004))], "resultList"),
    MethodPage(
      "setGroupInfo", [.groupID, .may("groupName", .name(1...30, 8502)), .may("allMuted", .flag)] + Field.groupInfo),
    MethodPage(
      "searchGroups",
      [
        .need("keywordList", .list(.text(1...512, empty: 10004), 1...5, empty: 10004)),
        .may("matchFields", .list(.word(["groupID", "groupName", "memberUserID", "memberNameCard", "memberNickName"]), 0...5)),
        .may("ignoreCase", .flag), .may("joinedOnly", .flag), .count(50), .nextSeq,
      ], "groupList nextSeq"),
    MethodPage("transferGroupOwner", [.groupID, .userID, .may("quit", .flag)]),
    // Custom needs roles: WordTests.
    MethodPage(
      "muteGroup",
      [
        .groupID, .need("mode", .word(["None", "Ordinary", "All"])), .may("roles", .list(.role, 0...50)),
        .may("duration", .duration),
      ], "muteUntil?"),
    MethodPage(
      "setGroupReceiveMessageOpt",
      [
        .groupID,
        .need(
          "opt", .word(["Receive", "NotReceive", "ReceiveNotNotify", "ReceiveFromManagers", "NotifyFromManagers"])),
      ], for: .user),
    MethodPage("initGroupAttributes", [.groupID, .need("attributes", .attributes)]),
    MethodPage(
      "setGroupAttributes",
      [
        .groupID, .need("attributes", .attributes), .may("expect", .expectations), .may("isDeleteAfterHolderLeft", .flag),
        .may("isTakeOver", .flag),
      ]),
    MethodPage("deleteGroupAttributes", [.groupID, .may("keys", .attributeKeys)]),
    MethodPage(
      "getGroupAttributes", [.groupID, .may("keys", .attributeKeys), .may("withHolders", .flag)], "attributes holders?"),
    MethodPage("setGroupCounters", [.groupID, .need("counters", .counters)]),
    MethodPage(
      "increaseGroupCounter", [.groupID, .need("key", .counterKey), .need("value", .integer(1...2_147_483_647))], "value"),
    MethodPage(
      "decreaseGroupCounter", [.groupID, .need("key", .counterKey), .need("value", .integer(1...2_147_483_647))], "value"),
    MethodPage("getGroupCounters", [.groupID, .may("keys", .list(.counterKey, 0...100))], "counters"),
  ]
}

extension Field {
  /// The parameters that createGroup and importGroup share.
  static let newGroup: [Field] =
    [.need("groupType", .groupType), .need("groupName", .name(1...30, 8502)), .may("groupID", .newGroupID)] + groupInfo

  /// The parameters that createGroup and setGroupInfo share.
  static let groupInfo: [Field] = [
    may("introduction", .text(0...240, 8503)), may("notification", .text(0...300, 8504)), may("faceURL", .text(0...100, 8505)),
    may("maxMemberNum", .integer(0...(1 << 53))), may("customInfo", .customInfo(valueBytes: 512)),
    may("serverCustomInfo", .text(0...4096)),
    may("joinMode", .word(["Any", "Auth", "Forbid"])), may("inviteMode", .word(["Any", "Admin", "Nobody"])),
    may("beInviteMode", .word(["None", "Auth"])), may("updateInfoMode", .word(["Any", "Admin", "Owner"])),
    may("updateCustomMode", .word(["Any", "Admin", "Owner"])), may("ownerQuitMode", .word(["Transfer", "Forbid"])),
    may("memberChangeNotification", .flag), may("isSearchable", .flag), may("isMemberVisible", .flag),
    may("historyVisibility", .word(["Joined", "All"])), may("slowMode", .integer(0...86_400)),
    may("attributeMode", .word(["Any", "Holder"])),
  ]
}

extension Domain {
  fileprivate static let attributeKeys = Domain.list(.text(1...32, 10045, empty: 10004), 0...100)
}
