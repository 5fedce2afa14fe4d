// swift-format-ignore-file
// Generated from the server's declarations: Scripts/generate rewrites it.

/// A group. Non-members get what is always there, and joinMode; a BChatRoom has no policy fields.
public struct GroupInfo: Codable, Hashable, Sendable {
  public var groupID: String
  public var groupType: GroupType
  public var groupName: String
  public var introduction: String
  public var notification: String?
  public var faceURL: String
  public var owner: String
  public var createTime: Int
  public var lastInfoTime: Int?
  public var lastMessageTime: Int?
  public var lastSeq: Int?
  public var firstSeq: Int?
  public var changeSeq: Int?
  public var epoch: String?
  public var memberCount: Int
  public var onlineCount: Int
  public var maxMemberNum: Int
  public var allMuted: Bool?
  public var mute: GroupMute?
  public var customInfo: [String: String]
  public var serverCustomInfo: String?
  public var joinMode: JoinMode?
  public var inviteMode: InviteMode?
  public var beInviteMode: BeInviteMode?
  public var updateInfoMode: UpdateMode?
  public var updateCustomMode: UpdateMode?
  public var ownerQuitMode: OwnerQuitMode?
  public var memberChangeNotification: Bool?
  public var isSearchable: Bool?
  public var isMemberVisible: Bool?
  public var historyVisibility: HistoryVisibility?
  public var slowMode: Int?
  public var attributeMode: AttributeMode?
  public var lastMessage: GroupMessage?
  public var selfInfo: SelfInfo?

  /// All members; those that may be absent are nil.
  public init(groupID: String, groupType: GroupType, groupName: String, introduction: String, notification: String? = nil, faceURL: String, owner: String, createTime: Int, lastInfoTime: Int? = nil, lastMessageTime: Int? = nil, lastSeq: Int? = nil, firstSeq: Int? = nil, changeSeq: Int? = nil, epoch: String? = nil, memberCount: Int, onlineCount: Int, maxMemberNum: Int, allMuted: Bool? = nil, mute: GroupMute? = nil, customInfo: [String: String], serverCustomInfo: String? = nil, joinMode: JoinMode? = nil, inviteMode: InviteMode? = nil, beInviteMode: BeInviteMode? = nil, updateInfoMode: UpdateMode? = nil, updateCustomMode: UpdateMode? = nil, ownerQuitMode: OwnerQuitMode? = nil, memberChangeNotification: Bool? = nil, isSearchable: Bool? = nil, isMemberVisible: Bool? = nil, historyVisibility: HistoryVisibility? = nil, slowMode: Int? = nil, attributeMode: AttributeMode? = nil, lastMessage: GroupMessage? = nil, selfInfo: SelfInfo? = nil) {
    self.groupID = groupID
    self.groupType = groupType
    self.groupName = groupName
    self.introduction = introduction
    self.notification = notification
    self.faceURL = faceURL
    self.owner = owner
    self.createTime = createTime
    self.lastInfoTime = lastInfoTime
    self.lastMessageTime = lastMessageTime
    self.lastSeq = lastSeq
    self.firstSeq = firstSeq
    self.changeSeq = changeSeq
    self.epoch = epoch
    self.memberCount = memberCount
    self.onlineCount = onlineCount
    self.maxMemberNum = maxMemberNum
    self.allMuted = allMuted
    self.mute = mute
    self.customInfo = customInfo
    self.serverCustomInfo = serverCustomInfo
    self.joinMode = joinMode
    self.inviteMode = inviteMode
    self.beInviteMode = beInviteMode
    self.updateInfoMode = updateInfoMode
    self.updateCustomMode = updateCustomMode
    self.ownerQuitMode = ownerQuitMode
    self.memberChangeNotification = memberChangeNotification
    self.isSearchable = isSearchable
    self.isMemberVisible = isMemberVisible
    self.historyVisibility = historyVisibility
    self.slowMode = slowMode
    self.attributeMode = attributeMode
    self.lastMessage = lastMessage
    self.selfInfo = selfInfo
  }
}

/// The reader's own membership.
public struct SelfInfo: Codable, Hashable, Sendable {
  public var role: String
  public var joinTime: Int
  public var nameCard: String
  public var muteUntil: Int
  public var receiveMessageOpt: ReceiveOption
  public var readSeq: Int
  public var unreadCount: Int
  public var customInfo: [String: String]
  public var isPinned: Bool?
  public var isHidden: Bool?
  public var isMarkedUnread: Bool?
  public var marks: [String]?

  /// All members; those that may be absent are nil.
  public init(role: String, joinTime: Int, nameCard: String, muteUntil: Int, receiveMessageOpt: ReceiveOption, readSeq: Int, unreadCount: Int, customInfo: [String: String], isPinned: Bool? = nil, isHidden: Bool? = nil, isMarkedUnread: Bool? = nil, marks: [String]? = nil) {
    self.role = role
    self.joinTime = joinTime
    self.nameCard = nameCard
    self.muteUntil = muteUntil
    self.receiveMessageOpt = receiveMessageOpt
    self.readSeq = readSeq
    self.unreadCount = unreadCount
    self.customInfo = customInfo
    self.isPinned = isPinned
    self.isHidden = isHidden
    self.isMarkedUnread = isMarkedUnread
    self.marks = marks
  }
}

/// The mute of a group; without muteUntil there is no end.
public struct GroupMute: Codable, Hashable, Sendable {
  public var mode: MuteMode
  public var roles: [String]?
  public var muteUntil: Int?

  /// All members; those that may be absent are nil.
  public init(mode: MuteMode, roles: [String]? = nil, muteUntil: Int? = nil) {
    self.mode = mode
    self.roles = roles
    self.muteUntil = muteUntil
  }
}

/// A member. Events have the members up to role (an application administrator only userID), lists
/// all; nickName and faceURL are left out where they are empty; inviter is for oneself. The role is
/// NotMember for somebody who is no member, or no longer.
public struct MemberInfo: Codable, Hashable, Sendable {
  public var userID: String
  public var nickName: String?
  public var faceURL: String?
  public var nameCard: String?
  public var role: String?
  public var joinTime: Int?
  public var muteUntil: Int?
  public var customInfo: [String: String]?
  public var isOnline: Bool?
  public var inviter: String?

  /// All members; those that may be absent are nil.
  public init(userID: String, nickName: String? = nil, faceURL: String? = nil, nameCard: String? = nil, role: String? = nil, joinTime: Int? = nil, muteUntil: Int? = nil, customInfo: [String: String]? = nil, isOnline: Bool? = nil, inviter: String? = nil) {
    self.userID = userID
    self.nickName = nickName
    self.faceURL = faceURL
    self.nameCard = nameCard
    self.role = role
    self.joinTime = joinTime
    self.muteUntil = muteUntil
    self.customInfo = customInfo
    self.isOnline = isOnline
    self.inviter = inviter
  }
}

/// A change to a member: muteTime in seconds (0 = may speak again), customInfo whole.
public struct MemberChange: Codable, Hashable, Sendable {
  public var userID: String
  public var muteTime: Int?
  public var nameCard: String?
  public var customInfo: [String: String]?
  public var role: String?

  /// All members; those that may be absent are nil.
  public init(userID: String, muteTime: Int? = nil, nameCard: String? = nil, customInfo: [String: String]? = nil, role: String? = nil) {
    self.userID = userID
    self.muteTime = muteTime
    self.nameCard = nameCard
    self.customInfo = customInfo
    self.role = role
  }
}

/// The texts of a user.
public struct UserInfo: Codable, Hashable, Sendable {
  public var userID: String
  public var nickName: String
  public var faceURL: String
  public var customInfo: [String: String]

  /// All members; those that may be absent are nil.
  public init(userID: String, nickName: String, faceURL: String, customInfo: [String: String]) {
    self.userID = userID
    self.nickName = nickName
    self.faceURL = faceURL
    self.customInfo = customInfo
  }
}

/// Whether a user is online. platformList names each platform with a session once; lastOnlineTime
/// is 0 for who is online or never was.
public struct UserStatusInfo: Codable, Hashable, Sendable {
  public var userID: String
  public var isOnline: Bool
  public var platformList: [String]
  public var customStatus: String
  public var lastOnlineTime: Int

  /// All members; those that may be absent are nil.
  public init(userID: String, isOnline: Bool, platformList: [String], customStatus: String, lastOnlineTime: Int) {
    self.userID = userID
    self.isOnline = isOnline
    self.platformList = platformList
    self.customStatus = customStatus
    self.lastOnlineTime = lastOnlineTime
  }
}

/// A request to join that managers decide, or an invitation that the invited decides; toUser is
/// empty for Join.
public struct GroupApplication: Codable, Hashable, Sendable {
  public var applicationID: String
  public var groupID: String
  public var type: ApplicationKind
  public var fromUser: String
  public var toUser: String
  public var addTime: Int
  public var requestMsg: String
  public var attach: String?
  public var handleStatus: HandleStatus
  public var handleResult: HandleResult?
  public var handledMsg: String?
  public var handledBy: String?
  public var handledTime: Int?
  public var isRead: Bool

  /// All members; those that may be absent are nil.
  public init(applicationID: String, groupID: String, type: ApplicationKind, fromUser: String, toUser: String, addTime: Int, requestMsg: String, attach: String? = nil, handleStatus: HandleStatus, handleResult: HandleResult? = nil, handledMsg: String? = nil, handledBy: String? = nil, handledTime: Int? = nil, isRead: Bool) {
    self.applicationID = applicationID
    self.groupID = groupID
    self.type = type
    self.fromUser = fromUser
    self.toUser = toUser
    self.addTime = addTime
    self.requestMsg = requestMsg
    self.attach = attach
    self.handleStatus = handleStatus
    self.handleResult = handleResult
    self.handledMsg = handledMsg
    self.handledBy = handledBy
    self.handledTime = handledTime
    self.isRead = isRead
  }
}

/// A message: text, data or tips by its type, and extension; none of them when it is recalled.
public struct GroupMessage: Codable, Hashable, Sendable {
  public var msgID: String
  public var groupID: String
  public var seq: Int?
  public var sender: String
  public var nickName: String?
  public var faceURL: String?
  public var nameCard: String?
  public var timestamp: Int
  public var type: MessageKind
  public var text: String?
  public var data: String?
  public var tips: GroupTips?
  public var `extension`: String?
  public var priority: MessagePriority
  public var clientMsgID: String?
  public var atUserIDList: [String]?
  public var replyTo: ReplyToRow?
  public var toUserIDList: [String]?
  public var isExcludedFromUnreadCount: Bool?
  public var isExcludedFromLastMessage: Bool?
  public var isRevoked: Bool?
  public var needReadReceipt: Bool?
  public var changeSeq: Int?
  public var editTime: Int?
  public var isPinned: Bool?
  public var reactions: [ReactionRow]?
  public var replyCount: Int?
  public var platform: String

  /// A row of replyTo.
  public struct ReplyToRow: Codable, Hashable, Sendable {
    public var seq: Int
    public var sender: String

    /// All members; those that may be absent are nil.
    public init(seq: Int, sender: String) {
      self.seq = seq
      self.sender = sender
    }
  }

  /// A row of reactions.
  public struct ReactionRow: Codable, Hashable, Sendable {
    public var reaction: String
    public var count: Int
    public var byMe: Bool

    /// All members; those that may be absent are nil.
    public init(reaction: String, count: Int, byMe: Bool) {
      self.reaction = reaction
      self.count = count
      self.byMe = byMe
    }
  }

  /// All members; those that may be absent are nil.
  public init(msgID: String, groupID: String, seq: Int? = nil, sender: String, nickName: String? = nil, faceURL: String? = nil, nameCard: String? = nil, timestamp: Int, type: MessageKind, text: String? = nil, data: String? = nil, tips: GroupTips? = nil, extension: String? = nil, priority: MessagePriority, clientMsgID: String? = nil, atUserIDList: [String]? = nil, replyTo: ReplyToRow? = nil, toUserIDList: [String]? = nil, isExcludedFromUnreadCount: Bool? = nil, isExcludedFromLastMessage: Bool? = nil, isRevoked: Bool? = nil, needReadReceipt: Bool? = nil, changeSeq: Int? = nil, editTime: Int? = nil, isPinned: Bool? = nil, reactions: [ReactionRow]? = nil, replyCount: Int? = nil, platform: String) {
    self.msgID = msgID
    self.groupID = groupID
    self.seq = seq
    self.sender = sender
    self.nickName = nickName
    self.faceURL = faceURL
    self.nameCard = nameCard
    self.timestamp = timestamp
    self.type = type
    self.text = text
    self.data = data
    self.tips = tips
    self.extension = `extension`
    self.priority = priority
    self.clientMsgID = clientMsgID
    self.atUserIDList = atUserIDList
    self.replyTo = replyTo
    self.toUserIDList = toUserIDList
    self.isExcludedFromUnreadCount = isExcludedFromUnreadCount
    self.isExcludedFromLastMessage = isExcludedFromLastMessage
    self.isRevoked = isRevoked
    self.needReadReceipt = needReadReceipt
    self.changeSeq = changeSeq
    self.editTime = editTime
    self.isPinned = isPinned
    self.reactions = reactions
    self.replyCount = replyCount
    self.platform = platform
  }
}

/// A change in the group, as its history keeps it.
public struct GroupTips: Codable, Hashable, Sendable {
  public var type: TipsKind
  public var opUser: MemberInfo
  public var memberList: [MemberInfo]?
  public var changeInfoList: JSONValue?
  public var memberCount: Int
  public var isAccepted: Bool?

  /// All members; those that may be absent are nil.
  public init(type: TipsKind, opUser: MemberInfo, memberList: [MemberInfo]? = nil, changeInfoList: JSONValue? = nil, memberCount: Int, isAccepted: Bool? = nil) {
    self.type = type
    self.opUser = opUser
    self.memberList = memberList
    self.changeInfoList = changeInfoList
    self.memberCount = memberCount
    self.isAccepted = isAccepted
  }
}

/// An event in a group that concerned the user, kept for later.
public struct SystemNotification: Codable, Hashable, Sendable {
  public var notificationID: String
  public var type: NotificationKind
  public var groupID: String
  public var groupName: String?
  public var opUser: MemberInfo
  public var platform: String?
  public var applicationID: String?
  public var reason: String?
  public var data: String?
  public var timestamp: Int
  public var isRead: Bool

  /// All members; those that may be absent are nil.
  public init(notificationID: String, type: NotificationKind, groupID: String, groupName: String? = nil, opUser: MemberInfo, platform: String? = nil, applicationID: String? = nil, reason: String? = nil, data: String? = nil, timestamp: Int, isRead: Bool) {
    self.notificationID = notificationID
    self.type = type
    self.groupID = groupID
    self.groupName = groupName
    self.opUser = opUser
    self.platform = platform
    self.applicationID = applicationID
    self.reason = reason
    self.data = data
    self.timestamp = timestamp
    self.isRead = isRead
  }
}

/// A signed-in connection of a user.
public struct SessionInfo: Codable, Hashable, Sendable {
  public var sessionID: String
  public var platform: Platform
  public var deviceID: String?
  public var address: String
  public var loginTime: Int

  /// All members; those that may be absent are nil.
  public init(sessionID: String, platform: Platform, deviceID: String? = nil, address: String, loginTime: Int) {
    self.sessionID = sessionID
    self.platform = platform
    self.deviceID = deviceID
    self.address = address
    self.loginTime = loginTime
  }
}
