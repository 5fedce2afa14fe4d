/// The keys of `limits.…`. 0 = no limit where the sentence says so.
enum LimitKeys {
  static let all: [any ConfigurationKey] = [
    workMessagesPerSecond, publicMessagesPerSecond, meetingMessagesPerSecond, avChatRoomMessagesPerSecond,
    bChatRoomMessagesPerSecond, workMaxMemberNum, publicMaxMemberNum, meetingMaxMemberNum, requestsPerSecond, requestBurst,
    signInsPerSecond, connections, connectionsPerAddress, groupsPerUser, avChatRoomsPerUser, avChatRooms,
    sendQueueBytes, revokeWindow, unreadCount, groupNameText, introductionText, notificationText, faceURLText, nameCardText,
    messageText,
  ]

  static let workMessagesPerSecond = messagesPerSecond("work", 0)
  static let publicMessagesPerSecond = messagesPerSecond("public", 0)
  static let meetingMessagesPerSecond = messagesPerSecond("meeting", 0)
  static let avChatRoomMessagesPerSecond = messagesPerSecond("avChatRoom", 40)
  static let bChatRoomMessagesPerSecond = messagesPerSecond("bChatRoom", 0)

  static let workMaxMemberNum = maxMemberNum("work")
  static let publicMaxMemberNum = maxMemberNum("public")
  static let meetingMaxMemberNum = maxMemberNum("meeting")

  static let requestsPerSecond = Key(
    "limits.requestsPerSecond", .integer(1...1_000_000), 50, "The requests that a user may send each second, over all sessions.")
  static let requestBurst = Key(
    "limits.requestBurst", .integer(1...1_000_000), 100, "The requests that a user may send at once after a pause.")
  static let signInsPerSecond = Key(
    "limits.signInsPerSecond", .integer(0...1_000_000), 2000,
    "The sign-ins of all users that are admitted each second; 0 = no limit.")
  static let connections = count("limits.connections", "The connections to the public listener")
  static let connectionsPerAddress = count("limits.connectionsPerAddress", "The connections from one address")
  static let groupsPerUser = count("limits.groupsPerUser", "The groups that a user may be a member of, AVChatRooms aside", 1000)
  static let avChatRoomsPerUser = count("limits.avChatRoomsPerUser", "The AVChatRooms that a user may own", 50)
  static let avChatRooms = count("limits.avChatRooms", "The AVChatRooms of this server")
  static let sendQueueBytes = Key(
    "limits.sendQueueBytes", .integer(1024...1_073_741_824), 1_048_576, "The bytes that may wait for one connection.")
  static let revokeWindow = Key(
    "limits.revokeWindow", .duration(.zero ... .seconds(4_294_967_295)), .seconds(120),
    "How long senders may recall their own messages.")
  static let unreadCount = Key(
    "limits.unreadCount", .integer(1...1_000_000), 1000,
    "Up to where unread messages are counted: an unread count is exact below it and reads this number beyond.")

  static let groupNameText = text("limits.text.groupName", 30, "a group's name")
  static let introductionText = text("limits.text.introduction", 240, "a group's introduction")
  static let notificationText = text("limits.text.notification", 300, "a group's notification")
  static let faceURLText = text("limits.text.faceURL", 100, "a group's faceURL")
  static let nameCardText = text("limits.text.nameCard", 50, "a member's name card")
  static let messageText = text("limits.text.message", 12_288, "the text or data of a message")

  private static func text(_ path: String, _ fallback: Int, _ what: String) -> Key<Int> {
    Key(path, .integer(1...65_536), fallback, "The bytes of UTF-8 that \(what) may have.")
  }

  private static func messagesPerSecond(_ groupType: String, _ fallback: Int) -> Key<Int> {
    Key(
      "limits.\(groupType).messagesPerSecond", .integer(0...1_000_000), fallback,
      "The messages that one such group may have in a second; 0 = no limit.")
  }

  private static func maxMemberNum(_ groupType: String) -> Key<Int> {
    Key("limits.\(groupType).maxMemberNum", .integer(1...1_000_000), 6000, "The members that one such group may have.")
  }

  private static func count(_ path: String, _ what: String, _ fallback: Int = 0) -> Key<Int> {
    Key(path, .integer(0...1_000_000_000), fallback, "\(what); 0 = no limit.")
  }
}

/// The keys of `sessions.perPlatform.…` (Protocol.md, "Sessions per user").
enum SessionKeys {
  static let all: [any ConfigurationKey] = [ios, android, windows, mac, web, unknown]

  static let ios = sessions("ios", 1)
  static let android = sessions("android", 1)
  static let windows = sessions("windows", 1)
  static let mac = sessions("mac", 1)
  static let web = sessions("web", 10)
  static let unknown = sessions("unknown", 10)

  private static func sessions(_ platform: String, _ fallback: Int) -> Key<Int> {
    Key(
      "sessions.perPlatform.\(platform)", .integer(0...1_000_000), fallback,
      "The sessions that a user may have on this platform; 0 refuses it.")
  }
}
