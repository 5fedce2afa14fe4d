import WireProtocol

/// Methods of messages (Protocol.md, "Messages").
extension MethodPage {
  static let messages: [MethodPage] = [
    MethodPage("sendGroupTextMessage", [.groupID, .need("text", .messageBody)] + options, "msgID seq? timestamp status"),
    MethodPage("sendGroupCustomMessage", [.groupID, .need("data", .messageBody)] + options, "msgID seq? timestamp status"),
    MethodPage("sendGroupSignal", [.groupID, .need("name", .signalName), .may("data", .text(0...512))]),
    MethodPage(
      "getGroupHistoryMessageList",
      [.groupID, .count(100), .may("fromSeq", .instant), .may("direction", .word(["Older", "Newer"]))], "messageList isFinished"),
    MethodPage("getGroupMessages", [.groupID, .need("seqList", .list(.seq, 1...20, empty: 10004))], "messageList"),
    MethodPage(
      "getGroupMessageReplies", [.groupID, .need("seq", .seq), .nextSeq, .count(50)], "messageList totalCount nextSeq"),
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
    MethodPage(
      "searchGroupMessages",
      [
        .need("keywordList", .list(.text(1...512, empty: 10004), 1...5, empty: 10004)),
        .may("groupIDList", .list(.groupID, 0...50)), .may("senderUserIDList", .list(.userID, 0...50)),
        .may("from", .instant), .may("to", .instant), .count(50), .nextSeq,
      ], "messageList nextSeq"),
    MethodPage("revokeGroupMessage", [.groupID, .need("seq", .seq)]),
    MethodPage(
      "modifyGroupMessage",
      [
        .groupID, .need("seq", .seq), Field(name: "text", isRequired: true, domain: .messageBody, hasAlternative: true),
        .may("extension", .messageExtension),
      ], "editTime?"),
    MethodPage("addMessageReaction", [.groupID, .need("seq", .seq), .need("reaction", .reaction)], for: .user),
    MethodPage("removeMessageReaction", [.groupID, .need("seq", .seq), .need("reaction", .reaction)], for: .user),
    MethodPage(
      "getMessageReactions",
      [.groupID, .need("seqList", .list(.seq, 1...20, empty: 10004)), .may("userCount", .integer(0...10))], "resultList"),
    MethodPage("pinGroupMessage", [.groupID, .need("seq", .seq), .need("isPinned", .flag)]),
    MethodPage("getPinnedGroupMessageList", [.groupID], "messageList"),
    // A msgID instead: DecodingGroupTests.
    MethodPage(
      "reportMessage", [.groupID, .need("seq", .seq), .may("category", .text(0...32)), .may("text", .remark)], "reportID",
      for: .user),
    MethodPage("markGroupMessageAsRead", [.groupID, .may("seq", .seq)], for: .user),
    MethodPage("getGroupUnreadCount", [.may("groupIDList", .list(.groupID, 0...200))], "totalCount groups", for: .user),
    MethodPage("sendMessageReadReceipts", [.groupID, .need("seqList", .list(.seq, 1...50, empty: 10004))], for: .user),
    MethodPage(
      "getMessageReadReceipts", [.groupID, .need("seqList", .list(.seq, 1...50, empty: 10004))], "receiptList", for: .user),
    MethodPage(
      "getGroupMessageReadMemberList",
      [.groupID, .need("seq", .seq), .may("filter", .word(["Read", "Unread"])), .nextSeq, .count(100)], "memberList nextSeq",
      for: .user),
    // One of the four is needed: `isPinned` stands for all.
    MethodPage(
      "setConversation",
      [
        .groupID, .need("isPinned", .flag), .may("isHidden", .flag), .may("isMarkedUnread", .flag),
        .may("marks", .list(.text(1...32, empty: 10004), 0...8)),
      ], for: .user),
    MethodPage("clearGroupHistory", [.groupID], "clearedSeq", for: .user),
    MethodPage("getSystemNotificationList", [.nextSeq, .count(100)], "notificationList unreadCount nextSeq", for: .user),
    MethodPage("setSystemNotificationRead", [.may("notificationID", .any)], for: .user),
  ]

  private static let options: [Field] = [
    .may("priority", .word(["High", "Normal", "Low", "Lowest"])), .may("clientMsgID", .text(1...64, empty: 10004)),
    .may("atUserIDList", .list(.mention, 0...30, tooMany: 10053)), .may("onlineUserOnly", .flag),
    .may("needReadReceipt", .flag), .may("extension", .messageExtension), .may("replyTo", .seq),
    .may("isExcludedFromUnreadCount", .flag), .may("isExcludedFromLastMessage", .flag),
    .may("toUserIDList", .list(.userID, 1...50, empty: 10004)), .may("firstSentAt", .instant),
  ]
}
