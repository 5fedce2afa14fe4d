import Testing

/// Sequences that once came to something else than the rules say, as the model test printed them.
/// They always run.
enum ModelFinds {
  struct Find: Sendable, CustomTestStringConvertible {
    let name: String
    let operations: String

    var testDescription: String { name }
  }

  static let all = [
    Find(
      name: "who is brought into a live room while away has the whole grace, also after a restart",
      operations: """
        fay/1 signIn {}
        dan/1 signIn {}
        world restart {"ms":1000}
        dan/backend createGroup {"groupName":"n","groupType":"AVChatRoom"}
        world wait {"ms":119999}
        fay/backend joinGroup {}
        world wait {"ms":120001}
        world restart {"ms":120000}
        """),
    Find(
      name: "and signing in then is not too late",
      operations: """
        fay/1 signIn {}
        fay/1 signOut {}
        dan/backend createGroup {"groupName":"n","groupType":"AVChatRoom"}
        world wait {"ms":300001}
        fay/backend joinGroup {}
        world wait {"ms":1000}
        fay/1 signIn {}
        """),
    Find(
      name: "who was a member and is imported again sees each message once",
      operations: """
        dan/backend createGroup {"groupName":"n","groupType":"Work"}
        dan/backend inviteUserToGroup {"userIDList":["eve","bob"]}
        bob/backend quitGroup {}
        administrator importGroupMembers {"memberList":[{"userID":"bob"}]}
        bob/backend getGroupHistoryMessageList {"count":100}
        """),
    Find(
      name: "the last message shows to whoever saw it in an earlier stay",
      operations: """
        dan/backend createGroup {"groupName":"n","groupType":"Work","memberList":[{"userID":"bob"}]}
        dan/backend setGroupInfo {"memberChangeNotification":false}
        dan/backend sendGroupTextMessage {"text":"a"}
        bob/backend quitGroup {}
        dan/backend inviteUserToGroup {"userIDList":["bob"]}
        bob/backend getGroupsInfo {}
        """),
    Find(
      name: "who comes back within 30 days sees the messages of before again, but for those cleared",
      operations: """
        dan/backend createGroup {"groupName":"n","groupType":"Work","memberList":[{"userID":"bob"},{"userID":"eve"}]}
        dan/backend sendGroupTextMessage {"text":"a"}
        bob/backend clearGroupHistory {}
        dan/backend sendGroupTextMessage {"text":"b"}
        bob/backend quitGroup {}
        eve/backend quitGroup {}
        world wait {"ms":2591999999}
        dan/backend inviteUserToGroup {"userIDList":["bob","eve"]}
        bob/backend getGroupHistoryMessageList {"count":100}
        eve/backend getGroupHistoryMessageList {"count":100}
        """),
    Find(
      name: "after 30 days nobody sees the messages of before again, also where the history was cleared",
      operations: """
        dan/backend createGroup {"groupName":"n","groupType":"Work","memberList":[{"userID":"bob"},{"userID":"eve"}]}
        dan/backend sendGroupTextMessage {"text":"a"}
        bob/backend clearGroupHistory {}
        dan/backend sendGroupTextMessage {"text":"b"}
        bob/backend quitGroup {}
        eve/backend quitGroup {}
        world wait {"ms":2592000000}
        dan/backend inviteUserToGroup {"userIDList":["bob","eve"]}
        bob/backend getGroupHistoryMessageList {"count":100}
        eve/backend getGroupHistoryMessageList {"count":100}
        """),
    Find(
      name: "one setGroupMemberInfo is one event, with a custom role in it",
      operations: """
        bob/1 signIn {}
        dan/backend createGroup {"groupName":"n","groupType":"Public","memberList":[{"role":"200","userID":"bob"}]}
        dan/backend setGroupMemberInfo {"customInfo":{"k1":"y"},"role":"Member","userID":"bob"}
        """),
    Find(
      name: "messages that came under NotReceive stay read behind a mark",
      operations: """
        dan/backend createGroup {"groupName":"n","groupType":"Work","memberList":[{"userID":"bob"}]}
        bob/backend setGroupReceiveMessageOpt {"opt":"NotReceive"}
        dan/backend sendGroupTextMessage {"text":"a","$times":3}
        bob/backend setGroupReceiveMessageOpt {"opt":"Receive"}
        bob/backend markGroupMessageAsRead {"seq":1}
        bob/backend getGroupUnreadCount {}
        """),
    Find(
      name: "what was unread before NotReceive counts again, what came meanwhile does not, also behind a count that was set",
      operations: """
        dan/backend createGroup {"groupName":"n","groupType":"Work","memberList":[{"userID":"bob"}]}
        dan/backend sendGroupTextMessage {"text":"a","$times":3}
        bob/backend setGroupReceiveMessageOpt {"opt":"NotReceive"}
        dan/backend sendGroupTextMessage {"text":"a","$times":3}
        bob/backend setGroupReceiveMessageOpt {"opt":"Receive"}
        bob/backend getGroupUnreadCount {}
        administrator setUnreadCount {"userID":"bob","unreadCount":5}
        bob/backend markGroupMessageAsRead {"seq":1}
        bob/backend getGroupUnreadCount {}
        """),
    Find(
      name: "messages that are sent again hide none of the new ones",
      operations: """
        administrator importGroup {"groupName":"n","groupType":"Public","ownerUserID":"dan","createTime":"$now-5000"}
        administrator importGroupMembers {"memberList":[{"userID":"bob","joinTime":"$now-1500"}]}
        administrator importGroupMessages {"messageList":[\(sent("a", 2000))]}
        administrator importGroupMessages {"messageList":[\(sent("a", 2000)),\(sent("b", 1800)),\(sent("c", 1000))]}
        bob/backend getGroupHistoryMessageList {"count":100}
        """),
  ]

  private static func sent(_ text: String, _ ago: Int) -> String {
    #"{"sender":"dan","text":"\#(text)","timestamp":"$now-\#(ago)","clientMsgID":"\#(text)"}"#
  }
}
