import WireProtocol

/// Methods of messages (Protocol.md, "Messages").
extension MethodPage {
  static let messages: [MethodPage] = [
    MethodPage("sendGroupTextMessage", [.groupID, .need("text", .messageBody)] + options, "msgID seq? timestamp status"),
    MethodPage("sendGroupCustomMessage", [.groupID, .need("data", .messageBody)] + options, "msgID seq? timestamp status"),
    MethodPage(
      "getGroupHistoryMessageList",
      [.groupID, .count(100), .may("fromSeq", .instant), .may("direction", .word(["Older", "Newer"]))], "messageList isFinished"),
    MethodPage(
      "syncGroups",
      [
        .need(
          "groups",
          .objects(
            [.need("groupID", .any), .need("epoch", .any), .need("seq", .instant), .may("changeSeq", .instant)], 1...50,
            empty: 10004))
      ],
      "groups", for: .user),
    MethodPage("revokeGroupMessage", [.groupID, .need("seq", .instant)]),
    MethodPage(
      "modifyGroupMessage",
      [
        .groupID, .need("seq", .instant), Field(name: "text", isRequired: true, domain: .messageBody, hasAlternative: true),
      ], "editTime?"),
    MethodPage("addMessageReaction", [.groupID, .need("seq", .instant), .need("reaction", .reaction)], for: .user),
    MethodPage("removeMessageReaction", [.groupID, .need("seq", .instant), .need("reaction", .reaction)], for: .user),
    MethodPage(
      "getMessageReactions",
      [.groupID, .need("seqList", .list(.instant, 1...20, empty: 10004)), .may("userCount", .integer(0...10))], "resultList"),
    MethodPage("pinGroupMessage", [.groupID, .need("seq", .instant), .need("isPinned", .flag)]),
    MethodPage("getPinnedGroupMessageList", [.groupID], "messageList"),
    MethodPage("markGroupMessageAsRead", [.groupID, .may("seq", .instant)], for: .user),
    MethodPage("getGroupUnreadCount", [.may("groupIDList", .list(.groupID, 0...200))], "totalCount groups", for: .user),
    MethodPage("getSystemNotificationList", [.nextSeq, .count(100)], "notificationList unreadCount nextSeq", for: .user),
    MethodPage("setSystemNotificationRead", [.may("notificationID", .any)], for: .user),
  ]

  private static let options: [Field] = [
    .may("priority", .word(["High", "Normal", "Low", "Lowest"])), .may("clientMsgID", .text(1...64, empty: 10004)),
    .may("atUserIDList", .list(.mention, 0...30, tooMany: 10053)), .may("onlineUserOnly", .flag),
  ]
}
