import WireProtocol

/// Methods of members and applications (Protocol.md, "Members" and "Applications").
extension MethodPage {
  static let members: [MethodPage] = [
    MethodPage(
      "getGroupMemberList",
      [
        .groupID, .may("filter", .word(["All", "Owner", "Admin", "Common"])), .may("updatedSince", .instant), .nextSeq,
        .count(200),
      ], "memberList nextSeq leftUserIDList? isComplete?"),
    MethodPage("getGroupMembersInfo", [.groupID, .users(50)], "memberList"),
    MethodPage("getGroupOnlineMemberCount", [.groupID], "count"),
    MethodPage(
      "setGroupMemberInfo",
      [
        .groupID, .userID, .may("nameCard", .name(0...50, 8506)), .may("customInfo", .customInfo(valueBytes: 64)),
        .may("role", .role), .may("muteUntil", .instant),
      ]),
    // A list instead of the user: DecodingMemberTests.
    MethodPage("muteGroupMember", [.groupID, .userOrUsers, .need("muteTime", .duration)], "memberList? muteUntil"),
    MethodPage("getGroupMutedMembers", [.groupID, .nextSeq, .count(50)], "memberList nextSeq"),
    MethodPage("getGroupBannedMembers", [.groupID, .nextSeq, .count(50)], "memberList nextSeq"),
    MethodPage("inviteUserToGroup", [.groupID, .users(100), .may("message", .remark), .may("attach", .remark)], "memberList"),
    MethodPage("kickGroupMember", [.groupID, .users(50), .may("reason", .remark), .may("banTime", .duration)], "memberList"),
    MethodPage("unbanGroupMember", [.groupID, .users(50)], "memberList"),
    MethodPage("setGroupMemberRole", [.groupID, .userOrUsers, .need("role", .role)], "memberList?"),
    MethodPage("getGroupMemberInviters", [.groupID, .users(200)], "inviterList"),
    MethodPage("getGroupMemberRoles", [.groupID, .users(100)], "roleList"),
  ]

  static let users: [MethodPage] = [
    MethodPage("setSelfInfo", Field.userInfo, for: .user),
    MethodPage("getUsersInfo", [.users(100)], "userList"),
    MethodPage("setSelfStatus", [.need("customStatus", .name(0...100, 10004))], for: .user),
    MethodPage("getUsersStatus", [.users(100)], "userList"),
    MethodPage("subscribeUsersStatus", [.users(100)], "userList", for: .connection),
    MethodPage("unsubscribeUsersStatus", [.may("userIDList", .list(.userID, 0...100))], for: .connection),
  ]

  static let applications: [MethodPage] = [
    MethodPage(
      "getGroupApplicationList", [.may("box", .word(["Received", "Sent"])), .nextSeq, .count(50)],
      "applicationList unreadCount nextSeq"),
    MethodPage("acceptGroupApplication", [.need("applicationID", .any), .may("reason", .remark)]),
    MethodPage("refuseGroupApplication", [.need("applicationID", .any), .may("reason", .remark)]),
    MethodPage("setGroupApplicationRead", [.may("timestamp", .instant)], for: .user),
  ]
}

extension Field {
  /// The texts of a user.
  static let userInfo: [Field] = [
    may("nickName", .name(0...100, 10004)), may("faceURL", .text(0...500)), may("customInfo", .customInfo(valueBytes: 512)),
  ]
}
