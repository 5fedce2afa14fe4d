import WireProtocol

extension Field {
  fileprivate static let traceID = need("traceID", .text(1...64, empty: 10004))
}

/// Methods of the application's backend (Protocol.md, "Application methods" and "Imports").
extension MethodPage {
  static let backend: [MethodPage] = [
    MethodPage(
      "listGroups", [.may("groupType", .groupType), .nextSeq, .count(200)], "groupList totalCount nextSeq", for: .application),
    MethodPage(
      "sendGroupSystemNotification",
      [.groupID, .may("userIDList", .list(.userID, 0...500)), .need("content", .text(1...4096, empty: 10004))],
      for: .application),
    MethodPage("recycleGroup", [.groupID], for: .application),
    MethodPage("listSessions", [.userID], "sessionList", for: .application),
    MethodPage("kickUser", [.userID, .may("reason", .shortText)], "kicked", for: .application),
    MethodPage("setUserInfo", [.userID] + Field.userInfo, for: .application),
    // A userList instead: DecodingBackendTests.
    MethodPage("importUsers", [.users(100)], for: .application),
    MethodPage(
      "importGroup", Field.newGroup + [.need("ownerUserID", .userID), .may("createTime", .instant)], "groupID",
      for: .application),
    MethodPage(
      "importGroupMembers",
      [
        .groupID,
        .need(
          "memberList",
          .objects(
            [
              .userID, .may("role", .initialRole), .may("joinTime", .instant), .may("unreadCount", .duration),
              .may("nameCard", .ofRow(.name(0...50, 8506))), .may("customInfo", .ofRow(.customInfo(valueBytes: 64))),
              .may("muteUntil", .ofRow(.instant)),
            ], 1...300, empty: 8510)),
      ], "memberList", for: .application),
    // Text, or data instead of it: DecodingBackendTests.
    MethodPage(
      "importGroupMessages",
      [
        .groupID,
        .need(
          "messageList",
          .objects(
            [
              .need("sender", .userID), .need("timestamp", .instant), .need("text", .messageBody),
              .may("clientMsgID", .text(1...64, empty: 10004)), .may("extension", .messageExtension),
            ], 1...100, empty: 10004)),
      ], "resultList", for: .application),
    MethodPage("setUnreadCount", [.groupID, .userID, .need("unreadCount", .duration)], for: .application),
    MethodPage("getStats", [], "sessions users groups groupsByType uptime version", for: .application),
    MethodPage("listWebhookFailures", [.nextSeq, .count(100)], "failureList nextSeq", for: .application),
    MethodPage("retryWebhooks", [], "retried", for: .application),
    // A groupID instead: TraceTests.
    MethodPage("trace", [.userID, .may("duration", .integer(1...600))], "traceID endTime", for: .application),
    MethodPage("getTrace", [.traceID, .nextSeq, .count(200)], "entryList nextSeq endTime lost", for: .application),
    MethodPage("endTrace", [.traceID], for: .application),
    MethodPage("listActiveGroups", [.count(100)], "groupList", for: .application),
    MethodPage("listAdministratorActions", [.nextSeq, .count(100)], "actionList nextSeq", for: .application),
    MethodPage(
      "blockUser", [.userID, .may("blockTime", .duration), .may("reason", .remark)], "blockedUntil", for: .application),
    MethodPage("unblockUser", [.userID], for: .application),
    MethodPage("getBlockedUsers", [.nextSeq, .count(100)], "userList nextSeq", for: .application),
    MethodPage("revokeTokens", [.userID, .may("before", .instant)], for: .application),
    MethodPage(
      "listReports", [.may("state", .word(["Open", "Closed"])), .may("groupID", .groupID), .nextSeq, .count(100)],
      "reportList nextSeq", for: .application),
    MethodPage(
      "closeReport", [.need("reportID", .text(1...200, empty: 10004)), .may("note", .remark)], for: .application),
    MethodPage("deleteUser", [.userID, .may("messages", .word(["Keep", "Revoke"]))], for: .application),
    MethodPage("getUserDeletion", [.userID], "state", for: .application),
    MethodPage(
      "exportUser", [.userID, .nextSeq], "rows nextSeq", for: .application),
  ]
}
