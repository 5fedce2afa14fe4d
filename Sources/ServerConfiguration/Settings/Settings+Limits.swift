extension Settings {
  /// `limits.…` (Configuration.md, "Configuration keys"). 0 = no limit where it says so.
  public struct Limits: Sendable {
    /// Work groups.
    public var work: GroupLimits
    /// Public groups.
    public var `public`: GroupLimits
    /// Meeting groups.
    public var meeting: GroupLimits
    /// AVChatRooms.
    public var avChatRoom: RoomLimits
    /// BChatRooms.
    public var bChatRoom: RoomLimits
    /// Requests of a user each second.
    public var requestsPerSecond: Int
    /// Requests of a user at once after a pause.
    public var requestBurst: Int
    /// Sign-ins of all users each second; 0 = no limit.
    public var signInsPerSecond: Int
    /// How often a user's requests may be delivered to others each second.
    public var deliveriesPerSecond: Int
    /// The bytes that a user's requests may deliver to others each second.
    public var deliveredBytesPerSecond: Int
    /// Users whom a user may add to groups a day without asking them; 0 = no limit.
    public var strangersPerDay: Int
    /// Connections to the public listener; 0 = no limit.
    public var connections: Int
    /// Connections from one address; 0 = no limit.
    public var connectionsPerAddress: Int
    /// The bits of an IPv6 address by which it is told from others.
    public var ipv6PrefixLength: Int
    /// Groups that a user may be a member of; 0 = no limit.
    public var groupsPerUser: Int
    /// AVChatRooms that a user may own; 0 = no limit.
    public var avChatRoomsPerUser: Int
    /// AVChatRooms of the server; 0 = no limit.
    public var avChatRooms: Int
    /// Bytes that may wait for one connection.
    public var sendQueueBytes: Int
    /// How long senders may recall their own messages.
    public var revokeWindow: Duration
    /// How long senders may edit their own messages; zero = any time.
    public var editWindow: Duration
    /// The most different reactions of one message.
    public var reactionsPerMessage: Int
    /// The largest number of unread messages that is counted exactly.
    public var unreadCount: Int
    /// The largest number of members with which a group has read receipts.
    public var readReceiptMembers: Int
    /// The users whose status a session may watch.
    public var statusSubscriptions: Int
    /// The largest number of members with which a group has signals.
    public var signalMembers: Int
    /// The most bytes of texts.
    public var text: Texts
    /// Every key of `limits.…` with its number, durations in whole seconds, for `getServerInfo`.
    public let flattened: [(key: String, value: Int64)]

    init(_ values: Resolution) {
      work = GroupLimits(values, LimitKeys.workMessagesPerSecond, LimitKeys.workMaxMemberNum)
      `public` = GroupLimits(values, LimitKeys.publicMessagesPerSecond, LimitKeys.publicMaxMemberNum)
      meeting = GroupLimits(values, LimitKeys.meetingMessagesPerSecond, LimitKeys.meetingMaxMemberNum)
      avChatRoom = RoomLimits(messagesPerSecond: values[LimitKeys.avChatRoomMessagesPerSecond])
      bChatRoom = RoomLimits(messagesPerSecond: values[LimitKeys.bChatRoomMessagesPerSecond])
      requestsPerSecond = values[LimitKeys.requestsPerSecond]
      requestBurst = values[LimitKeys.requestBurst]
      signInsPerSecond = values[LimitKeys.signInsPerSecond]
      deliveriesPerSecond = values.reach(LimitKeys.deliveriesPerSecond)
      deliveredBytesPerSecond = values.reach(LimitKeys.deliveredBytesPerSecond)
      strangersPerDay = values[LimitKeys.strangersPerDay]
      connections = values[LimitKeys.connections]
      connectionsPerAddress = values[LimitKeys.connectionsPerAddress]
      ipv6PrefixLength = values[LimitKeys.ipv6PrefixLength]
      groupsPerUser = values[LimitKeys.groupsPerUser]
      avChatRoomsPerUser = values[LimitKeys.avChatRoomsPerUser]
      avChatRooms = values[LimitKeys.avChatRooms]
      sendQueueBytes = values[LimitKeys.sendQueueBytes]
      revokeWindow = values[LimitKeys.revokeWindow]
      editWindow = values[LimitKeys.editWindow]
      reactionsPerMessage = values[LimitKeys.reactionsPerMessage]
      unreadCount = values[LimitKeys.unreadCount]
      readReceiptMembers = values[LimitKeys.readReceiptMembers]
      statusSubscriptions = values[LimitKeys.statusSubscriptions]
      signalMembers = values[LimitKeys.signalMembers]
      text = Texts(values)
      flattened = LimitKeys.all.compactMap { key in values.number(of: key).map { (key.path, $0) } }
    }
  }

  /// `limits.text.…`: the most bytes of UTF-8.
  public struct Texts: Sendable {
    /// A group's name.
    public var groupName: Int
    /// A group's introduction.
    public var introduction: Int
    /// A group's notification.
    public var notification: Int
    /// A group's faceURL.
    public var faceURL: Int
    /// A member's name card.
    public var nameCard: Int
    /// The text or data of a message.
    public var message: Int
    /// The application's data beside it.
    public var `extension`: Int

    init(_ values: Resolution) {
      groupName = values[LimitKeys.groupNameText]
      introduction = values[LimitKeys.introductionText]
      notification = values[LimitKeys.notificationText]
      faceURL = values[LimitKeys.faceURLText]
      nameCard = values[LimitKeys.nameCardText]
      message = values[LimitKeys.messageText]
      `extension` = values[LimitKeys.extensionText]
    }
  }

  /// Limits of a group type that stores messages.
  public struct GroupLimits: Sendable {
    /// Messages of one group each second; 0 = no limit.
    public var messagesPerSecond: Int
    /// Members of one group.
    public var maxMemberNum: Int

    init(_ values: Resolution, _ messagesPerSecond: Key<Int>, _ maxMemberNum: Key<Int>) {
      self.messagesPerSecond = values[messagesPerSecond]
      self.maxMemberNum = values[maxMemberNum]
    }
  }

  /// Limits of a group type without history.
  public struct RoomLimits: Sendable {
    /// Messages of one group each second; 0 = no limit.
    public var messagesPerSecond: Int
  }
}

extension LimitKeys {
  /// The text of a key that is not set and follows the rate of requests; nil for other keys.
  static func reach(of key: any ConfigurationKey, in values: Resolution) -> String? {
    guard reachPerRequest[key.path] != nil, let key = key as? Key<Int?> else { return nil }
    return "\(values.reach(key))"
  }
}

extension Resolution {
  /// What the requests of a user may reach each second; not set, it follows their rate.
  fileprivate func reach(_ key: Key<Int?>) -> Int {
    self[key] ?? (LimitKeys.reachPerRequest[key.path] ?? 0) * self[LimitKeys.requestsPerSecond]
  }

  /// The value of a key as a number, durations in whole seconds; nil for other values.
  fileprivate func number(of key: any ConfigurationKey) -> Int64? {
    switch key {
    case let key as Key<Int>: Int64(self[key])
    case let key as Key<Int?>: Int64(reach(key))
    case let key as Key<Duration>: self[key].components.seconds
    default: nil
    }
  }
}
