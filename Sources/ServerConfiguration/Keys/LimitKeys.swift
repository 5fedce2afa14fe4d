/// The keys of `limits.…`. 0 = no limit where the sentence says so.
enum LimitKeys {
  static let all: [any ConfigurationKey] = [
    workMessagesPerSecond, publicMessagesPerSecond, meetingMessagesPerSecond, avChatRoomMessagesPerSecond,
    bChatRoomMessagesPerSecond, workMaxMemberNum, publicMaxMemberNum, meetingMaxMemberNum, requestsPerSecond, requestBurst,
    deliveriesPerSecond, deliveredBytesPerSecond, strangersPerDay,
    signInsPerSecond, connections, connectionsPerAddress, ipv6PrefixLength, groupsPerUser, avChatRoomsPerUser, avChatRooms,
    sendQueueBytes, revokeWindow, editWindow, reactionsPerMessage, unreadCount, readReceiptMembers, statusSubscriptions,
    signalMembers, groupNameText,
    introductionText, notificationText, faceURLText, nameCardText,
    messageText, extensionText,
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
    "limits.requestsPerSecond", .integer(1...1_000_000, of: "requests a second"), 50, example: "20", since: "0.1.0",
    "The requests that a user may send each second, over all sessions.")
  static let requestBurst = Key(
    "limits.requestBurst", .integer(1...1_000_000, of: "requests"), 100, example: "40", since: "0.1.0",
    "The requests that a user may send at once after a pause.")
  static let deliveriesPerSecond = Key(
    "limits.deliveriesPerSecond", ValueType.integer(0...1_000_000_000, of: "deliveries a second").optional, nil,
    computedFallback: "1,000 for each of limits.requestsPerSecond", example: "200000", since: "0.2.0",
    "How often each second what a user does may be delivered to members of groups, on each node; 0 = no limit.")
  static let deliveredBytesPerSecond = Key(
    "limits.deliveredBytesPerSecond", ValueType.integer(0...1_000_000_000_000, of: "bytes a second").optional, nil,
    computedFallback: "800,000 for each of limits.requestsPerSecond", example: "100000000", since: "0.2.0",
    "The bytes that these deliveries may have each second, on each node; 0 = no limit.")
  /// What each of `requestsPerSecond` may reach, where that is not set.
  static let reachPerRequest = [deliveriesPerSecond.path: 1000, deliveredBytesPerSecond.path: 800_000]
  static let strangersPerDay = Key(
    "limits.strangersPerDay", .integer(0...1_000_000, of: "users a day"), 1000, example: "100", since: "0.2.0",
    "The users whom a user may add to groups within 24 hours without asking them, on each node; 0 = no limit.")
  static let signInsPerSecond = Key(
    "limits.signInsPerSecond", .integer(0...1_000_000, of: "sign-ins a second"), 2000, example: "1000", since: "0.1.0",
    "The sign-ins of all users that each node admits each second; 0 = no limit.")
  static let connections = count(
    "limits.connections", "The connections to the public listener of each node", of: "connections", example: "50000")
  static let connectionsPerAddress = count(
    "limits.connectionsPerAddress", "The connections from one address to each node", of: "connections", example: "200")
  static let ipv6PrefixLength = Key(
    "limits.ipv6PrefixLength", .integer(16...128, of: "bits"), 64, example: "56", since: "0.1.0",
    "The leading bits that addresses of IPv6 share which count as one address, also for auth.failureDelay.")
  static let groupsPerUser = count(
    "limits.groupsPerUser", "The groups that a user may be a member of, AVChatRooms aside", 1000, of: "groups", example: "500")
  static let avChatRoomsPerUser = count(
    "limits.avChatRoomsPerUser", "The AVChatRooms that a user may own", 50, of: "groups", example: "5")
  static let avChatRooms = count("limits.avChatRooms", "The AVChatRooms of this server", of: "groups", example: "10000")
  static let sendQueueBytes = Key(
    "limits.sendQueueBytes", .integer(1024...1_073_741_824, of: "bytes"), 1_048_576, example: "4194304", since: "0.1.0",
    "The bytes that may wait for one connection.")
  static let revokeWindow = Key(
    "limits.revokeWindow", .duration(.zero ... .seconds(4_294_967_295)), .seconds(120), example: "5m", since: "0.1.0",
    "How long senders may recall their own messages.")
  static let editWindow = Key(
    "limits.editWindow", .duration(.zero ... .seconds(4_294_967_295)), .zero, example: "15m", since: "0.1.0",
    "How long senders may edit their own messages; 0 = any time.")
  static let reactionsPerMessage = Key(
    "limits.reactionsPerMessage", .integer(1...1000, of: "reactions"), 10, example: "20", since: "0.1.0",
    "The different reactions that one message may have.")
  static let unreadCount = Key(
    "limits.unreadCount", .integer(1...1_000_000, of: "messages"), 1000, example: "99", since: "0.1.0",
    "Up to where unread messages are counted: an unread count is exact below it and reads this number beyond.")

  static let readReceiptMembers = Key(
    "limits.readReceiptMembers", .integer(0...500, of: "members"), 200, example: "100", since: "0.1.0",
    "The most members of a group whose messages have read receipts; 0 = none have.")

  static let statusSubscriptions = Key(
    "limits.statusSubscriptions", .integer(0...10_000, of: "users"), 300, example: "1000", since: "0.2.0",
    "The users whose status one session may watch; 0 = none.")
  static let signalMembers = Key(
    "limits.signalMembers", .integer(0...1_000_000, of: "members"), 500, example: "2000", since: "0.2.0",
    "The most members of a group in which signals are sent; 0 = in none.")

  static let groupNameText = text("limits.text.groupName", 30, "a group's name", example: "100")
  static let introductionText = text("limits.text.introduction", 240, "a group's introduction", example: "400")
  static let notificationText = text("limits.text.notification", 300, "a group's notification", example: "400")
  static let faceURLText = text("limits.text.faceURL", 100, "a group's faceURL", example: "500")
  static let nameCardText = text("limits.text.nameCard", 50, "a member's name card", example: "100")
  static let messageText = text("limits.text.message", 12_288, "the text or data of a message", example: "4096")
  static let extensionText = text("limits.text.extension", 4096, "the extension of a message", example: "1024", since: "0.2.0")

  private static func text(
    _ path: String, _ fallback: Int, _ what: String, example: String, since: String = "0.1.0"
  ) -> Key<Int> {
    Key(
      path, .integer(1...65_536, of: "bytes"), fallback, example: example, since: since,
      "The bytes of UTF-8 that \(what) may have.")
  }

  private static func messagesPerSecond(_ groupType: String, _ fallback: Int) -> Key<Int> {
    Key(
      "limits.\(groupType).messagesPerSecond", .integer(0...1_000_000, of: "messages a second"), fallback, example: "20",
      since: "0.1.0", "The messages that one such group may have in a second; 0 = no limit.")
  }

  private static func maxMemberNum(_ groupType: String) -> Key<Int> {
    Key(
      "limits.\(groupType).maxMemberNum", .integer(1...1_000_000, of: "members"), 6000, example: "200", since: "0.1.0",
      "The members that one such group may have.")
  }

  private static func count(
    _ path: String, _ meaning: String, _ fallback: Int = 0, of unit: String, example: String
  ) -> Key<Int> {
    Key(path, .integer(0...1_000_000_000, of: unit), fallback, example: example, since: "0.1.0", "\(meaning); 0 = no limit.")
  }
}
