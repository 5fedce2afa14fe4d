/// Params that every method takes, as the text of their members. The group "g" need not be there:
/// whoever may call a method is answered by the group then, and nobody else is.
let sampleCalls: [String: String] = [
  // A connection's own.
  "login": #""token":"olga""#, "logout": "",
  // A user's alone.
  "joinGroup": #""groupID":"g""#, "quitGroup": #""groupID":"g""#, "getJoinedGroupList": "",
  "syncGroups": #""groups":[{"groupID":"g","epoch":"e","seq":0}]"#, "markGroupMessageAsRead": #""groupID":"g""#,
  "getGroupUnreadCount": "", "setGroupReceiveMessageOpt": #""groupID":"g","opt":"Receive""#,
  "getSystemNotificationList": "", "setSystemNotificationRead": "", "setGroupApplicationRead": "",
  "setSelfInfo": #""nickName":"N""#,
  // Anyone's.
  "ping": "", "getServerInfo": "", "rpc.discover": "",
  "createGroup": #""groupType":"Public","groupName":"g","ownerUserID":"olga""#,
  "dismissGroup": #""groupID":"g""#, "getGroupsInfo": #""groupIDList":["g"]"#, "setGroupInfo": #""groupID":"g","groupName":"n""#,
  "searchGroups": #""keywordList":["g"]"#, "searchGroupMessages": #""keywordList":["g"]"#,
  "transferGroupOwner": #""groupID":"g","userID":"mary""#,
  "muteGroup": #""groupID":"g","mode":"None""#, "initGroupAttributes": #""groupID":"g","attributes":{"k":"v"}"#,
  "setGroupAttributes": #""groupID":"g","attributes":{"k":"v"}"#, "deleteGroupAttributes": #""groupID":"g""#,
  "getGroupAttributes": #""groupID":"g""#, "getGroupMemberList": #""groupID":"g""#,
  "getGroupMembersInfo": #""groupID":"g","userIDList":["mary"]"#, "getGroupOnlineMemberCount": #""groupID":"g""#,
  "setGroupMemberInfo": #""groupID":"g","userID":"mary","nameCard":"M""#,
  "muteGroupMember": #""groupID":"g","userID":"mary","muteTime":1"#, "getGroupMutedMembers": #""groupID":"g""#,
  "getGroupBannedMembers": #""groupID":"g""#, "unbanGroupMember": #""groupID":"g","userIDList":["mary"]"#,
  "inviteUserToGroup": #""groupID":"g","userIDList":["mary"]"#, "kickGroupMember": #""groupID":"g","userIDList":["mary"]"#,
  "setGroupMemberRole": #""groupID":"g","userID":"mary","role":"Admin""#,
  "getGroupMemberInviters": #""groupID":"g","userIDList":["mary"]"#,
  "getGroupMemberRoles": #""groupID":"g","userIDList":["mary"]"#, "getGroupApplicationList": "",
  "getUsersInfo": #""userIDList":["mary"]"#,
  "acceptGroupApplication": #""applicationID":"a""#, "refuseGroupApplication": #""applicationID":"a""#,
  "sendGroupTextMessage": #""groupID":"g","text":"t""#, "sendGroupCustomMessage": #""groupID":"g","data":"d""#,
  "getGroupHistoryMessageList": #""groupID":"g""#, "revokeGroupMessage": #""groupID":"g","seq":1"#,
  // The application's alone.
  "listGroups": "", "sendGroupSystemNotification": #""groupID":"g","content":"c""#, "recycleGroup": #""groupID":"g""#,
  "listSessions": #""userID":"mary""#, "kickUser": #""userID":"mary""#, "importUsers": #""userIDList":["mary"]"#,
  "setUserInfo": #""userID":"mary","nickName":"M""#,
  "importGroup": #""groupType":"Public","groupName":"g","ownerUserID":"olga""#,
  "importGroupMembers": #""groupID":"g","memberList":[{"userID":"mary"}]"#,
  "importGroupMessages": #""groupID":"g","messageList":[{"sender":"mary","timestamp":1,"text":"t"}]"#,
  "setUnreadCount": #""groupID":"g","userID":"mary","unreadCount":1"#, "getStats": "",
  "listWebhookFailures": "", "retryWebhooks": "",
]
