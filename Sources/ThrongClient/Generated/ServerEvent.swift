// swift-format-ignore-file
// Generated from the server's declarations: Scripts/generate rewrites it.

/// An event of the server.
public enum ServerEvent: Hashable, Sendable {
  /// To all members, the new one included; notification off: the new member.
  case onMemberEnter(MemberEnter)
  /// To the other members; notification off: nobody.
  case onMemberLeave(MemberLeave)
  /// To all members, inviter and invited included; notification off: inviter and invited.
  case onMemberInvited(MemberInvited)
  /// To all members and the removed; notification off: the removed and the operator.
  case onMemberKicked(MemberKicked)
  /// To all members, the one concerned included; notification off, and for nameCard and customInfo
  /// in an AVChatRoom: the one concerned and the operator.
  case onGroupMemberInfoChanged(GroupMemberInfoChanged)
  /// To all sessions of the creator, and the initial members.
  case onGroupCreated(GroupCreated)
  /// To all members, the operator included.
  case onGroupDismissed(GroupDismissed)
  /// To all members, the operator included.
  case onGroupRecycled(GroupRecycled)
  /// To all members.
  case onGroupInfoChanged(GroupInfoChanged)
  /// To managers.
  case onReceiveJoinApplication(ReceiveJoinApplication)
  /// To the invited user.
  case onReceiveGroupInvitation(ReceiveGroupInvitation)
  /// To the applicant; for an invitation, the inviter.
  case onApplicationProcessed(ApplicationProcessed)
  /// To everybody in whose list of received or sent applications it stands: the managers and the
  /// applicant, or the invited user and the inviter.
  case onGroupApplicationListChanged(GroupApplicationListChanged)
  /// To all members; notification off: the operator and the one concerned.
  case onGrantAdministrator(GrantAdministrator)
  /// To all members; notification off: the operator and the one concerned.
  case onRevokeAdministrator(RevokeAdministrator)
  /// To all sessions of the user who quit.
  case onQuitFromGroup(QuitFromGroup)
  /// To the user's other sessions.
  case onReceiveMessageOptChanged(ReceiveMessageOptChanged)
  /// To all members.
  case onGroupAttributeChanged(GroupAttributeChanged)
  /// To all members.
  case onGroupCounterChanged(GroupCounterChanged)
  /// To all members who may see the message but the sending session, as their receive option says.
  case onRecvNewMessage(RecvNewMessage)
  /// To all members who may see the message.
  case onRecvMessageRevoked(RecvMessageRevoked)
  /// To all members who may see the message.
  case onRecvMessageModified(RecvMessageModified)
  /// To all members who may see the message.
  case onRecvMessageReactionsChanged(RecvMessageReactionsChanged)
  /// To all members who may see the message.
  case onGroupMessagePinned(GroupMessagePinned)
  /// To the sending session.
  case onMessageDropped(MessageDropped)
  /// To the user's other sessions, when it moved.
  case onConversationRead(ConversationRead)
  /// To the user's other sessions; all of them where a message ended isHidden.
  case onConversationChanged(ConversationChanged)
  /// To the sessions of the messages' sender, at most 5 in any second.
  case onRecvMessageReadReceipts(RecvMessageReadReceipts)
  /// To all members but the sending session and those who receive no messages.
  case onGroupSignal(GroupSignal)
  /// To the members named by the administrator, or all.
  case onReceiveRESTCustomData(ReceiveRESTCustomData)
  /// To the user's other sessions; after setUserInfo all.
  case onSelfInfoUpdated(SelfInfoUpdated)
  /// To the sessions that watch the users, each at most once a second.
  case onUsersStatusChanged(UsersStatusChanged)
  /// To the session.
  case onConnectSuccess(ConnectSuccess)
  /// To the session.
  case onKickedOffline(KickedOffline)
  /// To the session.
  case onUserSigExpired(UserSigExpired)
  /// To the session.
  case onServerDraining(ServerDraining)

  /// An event that this version cannot read: of a later server.
  case other(name: String, params: JSONValue)

  /// The parameters of onMemberEnter.
  public struct MemberEnter: Codable, Hashable, Sendable {
    public var groupID: String
    public var opTime: Int
    public var platform: String?
    public var memberList: [MemberInfo]
    public var memberCount: Int
    public var seq: Int?
    public var msgID: String?

    /// All members; those that may be absent are nil.
    public init(groupID: String, opTime: Int, platform: String? = nil, memberList: [MemberInfo], memberCount: Int, seq: Int? = nil, msgID: String? = nil) {
      self.groupID = groupID
      self.opTime = opTime
      self.platform = platform
      self.memberList = memberList
      self.memberCount = memberCount
      self.seq = seq
      self.msgID = msgID
    }
  }

  /// The parameters of onMemberLeave.
  public struct MemberLeave: Codable, Hashable, Sendable {
    public var groupID: String
    public var opTime: Int
    public var platform: String?
    public var memberList: [MemberInfo]
    public var memberCount: Int
    public var seq: Int?
    public var msgID: String?

    /// All members; those that may be absent are nil.
    public init(groupID: String, opTime: Int, platform: String? = nil, memberList: [MemberInfo], memberCount: Int, seq: Int? = nil, msgID: String? = nil) {
      self.groupID = groupID
      self.opTime = opTime
      self.platform = platform
      self.memberList = memberList
      self.memberCount = memberCount
      self.seq = seq
      self.msgID = msgID
    }
  }

  /// The parameters of onMemberInvited.
  public struct MemberInvited: Codable, Hashable, Sendable {
    public var groupID: String
    public var opTime: Int
    public var opUser: MemberInfo
    public var platform: String
    public var memberList: [MemberInfo]
    public var memberCount: Int
    public var seq: Int?
    public var msgID: String?
    public var isAccepted: Bool?

    /// All members; those that may be absent are nil.
    public init(groupID: String, opTime: Int, opUser: MemberInfo, platform: String, memberList: [MemberInfo], memberCount: Int, seq: Int? = nil, msgID: String? = nil, isAccepted: Bool? = nil) {
      self.groupID = groupID
      self.opTime = opTime
      self.opUser = opUser
      self.platform = platform
      self.memberList = memberList
      self.memberCount = memberCount
      self.seq = seq
      self.msgID = msgID
      self.isAccepted = isAccepted
    }
  }

  /// The parameters of onMemberKicked.
  public struct MemberKicked: Codable, Hashable, Sendable {
    public var groupID: String
    public var opTime: Int
    public var opUser: MemberInfo
    public var platform: String
    public var memberList: [MemberInfo]
    public var reason: String
    public var memberCount: Int
    public var seq: Int?
    public var msgID: String?

    /// All members; those that may be absent are nil.
    public init(groupID: String, opTime: Int, opUser: MemberInfo, platform: String, memberList: [MemberInfo], reason: String, memberCount: Int, seq: Int? = nil, msgID: String? = nil) {
      self.groupID = groupID
      self.opTime = opTime
      self.opUser = opUser
      self.platform = platform
      self.memberList = memberList
      self.reason = reason
      self.memberCount = memberCount
      self.seq = seq
      self.msgID = msgID
    }
  }

  /// The parameters of onGroupMemberInfoChanged.
  public struct GroupMemberInfoChanged: Codable, Hashable, Sendable {
    public var groupID: String
    public var opTime: Int
    public var opUser: MemberInfo
    public var platform: String
    public var changeInfoList: [MemberChange]
    public var seq: Int?
    public var msgID: String?

    /// All members; those that may be absent are nil.
    public init(groupID: String, opTime: Int, opUser: MemberInfo, platform: String, changeInfoList: [MemberChange], seq: Int? = nil, msgID: String? = nil) {
      self.groupID = groupID
      self.opTime = opTime
      self.opUser = opUser
      self.platform = platform
      self.changeInfoList = changeInfoList
      self.seq = seq
      self.msgID = msgID
    }
  }

  /// The parameters of onGroupCreated.
  public struct GroupCreated: Codable, Hashable, Sendable {
    public var groupID: String
    public var opTime: Int
    public var platform: String
    public var seq: Int?
    public var msgID: String?

    /// All members; those that may be absent are nil.
    public init(groupID: String, opTime: Int, platform: String, seq: Int? = nil, msgID: String? = nil) {
      self.groupID = groupID
      self.opTime = opTime
      self.platform = platform
      self.seq = seq
      self.msgID = msgID
    }
  }

  /// The parameters of onGroupDismissed.
  public struct GroupDismissed: Codable, Hashable, Sendable {
    public var groupID: String
    public var opTime: Int
    public var opUser: MemberInfo
    public var platform: String

    /// All members; those that may be absent are nil.
    public init(groupID: String, opTime: Int, opUser: MemberInfo, platform: String) {
      self.groupID = groupID
      self.opTime = opTime
      self.opUser = opUser
      self.platform = platform
    }
  }

  /// The parameters of onGroupRecycled.
  public struct GroupRecycled: Codable, Hashable, Sendable {
    public var groupID: String
    public var opTime: Int
    public var opUser: MemberInfo
    public var platform: String

    /// All members; those that may be absent are nil.
    public init(groupID: String, opTime: Int, opUser: MemberInfo, platform: String) {
      self.groupID = groupID
      self.opTime = opTime
      self.opUser = opUser
      self.platform = platform
    }
  }

  /// The parameters of onGroupInfoChanged.
  public struct GroupInfoChanged: Codable, Hashable, Sendable {
    public var groupID: String
    public var opTime: Int
    public var opUser: MemberInfo
    public var platform: String
    public var changeInfoList: [ChangeInfoRow]
    public var seq: Int?
    public var msgID: String?

    /// A row of changeInfoList.
    public struct ChangeInfoRow: Codable, Hashable, Sendable {
      public var type: String
      public var key: String?
      public var value: JSONValue

      /// All members; those that may be absent are nil.
      public init(type: String, key: String? = nil, value: JSONValue) {
        self.type = type
        self.key = key
        self.value = value
      }
    }

    /// All members; those that may be absent are nil.
    public init(groupID: String, opTime: Int, opUser: MemberInfo, platform: String, changeInfoList: [ChangeInfoRow], seq: Int? = nil, msgID: String? = nil) {
      self.groupID = groupID
      self.opTime = opTime
      self.opUser = opUser
      self.platform = platform
      self.changeInfoList = changeInfoList
      self.seq = seq
      self.msgID = msgID
    }
  }

  /// The parameters of onReceiveJoinApplication.
  public struct ReceiveJoinApplication: Codable, Hashable, Sendable {
    public var groupID: String
    public var opTime: Int
    public var applicationID: String
    public var member: MemberInfo
    public var platform: String
    public var opReason: String

    /// All members; those that may be absent are nil.
    public init(groupID: String, opTime: Int, applicationID: String, member: MemberInfo, platform: String, opReason: String) {
      self.groupID = groupID
      self.opTime = opTime
      self.applicationID = applicationID
      self.member = member
      self.platform = platform
      self.opReason = opReason
    }
  }

  /// The parameters of onReceiveGroupInvitation.
  public struct ReceiveGroupInvitation: Codable, Hashable, Sendable {
    public var groupID: String
    public var opTime: Int
    public var opUser: MemberInfo
    public var platform: String
    public var applicationID: String
    public var opReason: String
    public var attach: String
    public var groupName: String
    public var groupType: GroupType
    public var faceURL: String
    public var memberCount: Int

    /// All members; those that may be absent are nil.
    public init(groupID: String, opTime: Int, opUser: MemberInfo, platform: String, applicationID: String, opReason: String, attach: String, groupName: String, groupType: GroupType, faceURL: String, memberCount: Int) {
      self.groupID = groupID
      self.opTime = opTime
      self.opUser = opUser
      self.platform = platform
      self.applicationID = applicationID
      self.opReason = opReason
      self.attach = attach
      self.groupName = groupName
      self.groupType = groupType
      self.faceURL = faceURL
      self.memberCount = memberCount
    }
  }

  /// The parameters of onApplicationProcessed.
  public struct ApplicationProcessed: Codable, Hashable, Sendable {
    public var groupID: String
    public var opTime: Int
    public var opUser: MemberInfo
    public var platform: String
    public var applicationID: String
    public var isAgreeJoin: Bool
    public var opReason: String

    /// All members; those that may be absent are nil.
    public init(groupID: String, opTime: Int, opUser: MemberInfo, platform: String, applicationID: String, isAgreeJoin: Bool, opReason: String) {
      self.groupID = groupID
      self.opTime = opTime
      self.opUser = opUser
      self.platform = platform
      self.applicationID = applicationID
      self.isAgreeJoin = isAgreeJoin
      self.opReason = opReason
    }
  }

  /// The parameters of onGroupApplicationListChanged.
  public struct GroupApplicationListChanged: Codable, Hashable, Sendable {
    public var groupID: String
    public var opTime: Int
    public var application: GroupApplication

    /// All members; those that may be absent are nil.
    public init(groupID: String, opTime: Int, application: GroupApplication) {
      self.groupID = groupID
      self.opTime = opTime
      self.application = application
    }
  }

  /// The parameters of onGrantAdministrator.
  public struct GrantAdministrator: Codable, Hashable, Sendable {
    public var groupID: String
    public var opTime: Int
    public var opUser: MemberInfo
    public var platform: String
    public var memberList: [MemberInfo]
    public var seq: Int?
    public var msgID: String?

    /// All members; those that may be absent are nil.
    public init(groupID: String, opTime: Int, opUser: MemberInfo, platform: String, memberList: [MemberInfo], seq: Int? = nil, msgID: String? = nil) {
      self.groupID = groupID
      self.opTime = opTime
      self.opUser = opUser
      self.platform = platform
      self.memberList = memberList
      self.seq = seq
      self.msgID = msgID
    }
  }

  /// The parameters of onRevokeAdministrator.
  public struct RevokeAdministrator: Codable, Hashable, Sendable {
    public var groupID: String
    public var opTime: Int
    public var opUser: MemberInfo
    public var platform: String
    public var memberList: [MemberInfo]
    public var seq: Int?
    public var msgID: String?

    /// All members; those that may be absent are nil.
    public init(groupID: String, opTime: Int, opUser: MemberInfo, platform: String, memberList: [MemberInfo], seq: Int? = nil, msgID: String? = nil) {
      self.groupID = groupID
      self.opTime = opTime
      self.opUser = opUser
      self.platform = platform
      self.memberList = memberList
      self.seq = seq
      self.msgID = msgID
    }
  }

  /// The parameters of onQuitFromGroup.
  public struct QuitFromGroup: Codable, Hashable, Sendable {
    public var groupID: String
    public var opTime: Int
    public var platform: String

    /// All members; those that may be absent are nil.
    public init(groupID: String, opTime: Int, platform: String) {
      self.groupID = groupID
      self.opTime = opTime
      self.platform = platform
    }
  }

  /// The parameters of onReceiveMessageOptChanged.
  public struct ReceiveMessageOptChanged: Codable, Hashable, Sendable {
    public var groupID: String
    public var opTime: Int
    public var opt: String

    /// All members; those that may be absent are nil.
    public init(groupID: String, opTime: Int, opt: String) {
      self.groupID = groupID
      self.opTime = opTime
      self.opt = opt
    }
  }

  /// The parameters of onGroupAttributeChanged.
  public struct GroupAttributeChanged: Codable, Hashable, Sendable {
    public var groupID: String
    public var opTime: Int
    public var groupAttributeMap: [String: String]
    public var holders: [String: String]?

    /// All members; those that may be absent are nil.
    public init(groupID: String, opTime: Int, groupAttributeMap: [String: String], holders: [String: String]? = nil) {
      self.groupID = groupID
      self.opTime = opTime
      self.groupAttributeMap = groupAttributeMap
      self.holders = holders
    }
  }

  /// The parameters of onGroupCounterChanged.
  public struct GroupCounterChanged: Codable, Hashable, Sendable {
    public var groupID: String
    public var opTime: Int
    public var counters: [String: Int?]

    /// All members; those that may be absent are nil.
    public init(groupID: String, opTime: Int, counters: [String: Int?]) {
      self.groupID = groupID
      self.opTime = opTime
      self.counters = counters
    }
  }

  /// The parameters of onRecvNewMessage.
  public struct RecvNewMessage: Codable, Hashable, Sendable {
    public var groupID: String
    public var opTime: Int
    public var message: GroupMessage

    /// All members; those that may be absent are nil.
    public init(groupID: String, opTime: Int, message: GroupMessage) {
      self.groupID = groupID
      self.opTime = opTime
      self.message = message
    }
  }

  /// The parameters of onRecvMessageRevoked.
  public struct RecvMessageRevoked: Codable, Hashable, Sendable {
    public var groupID: String
    public var opTime: Int
    public var opUser: MemberInfo
    public var platform: String
    public var msgID: String
    public var seq: Int
    public var changeSeq: Int

    /// All members; those that may be absent are nil.
    public init(groupID: String, opTime: Int, opUser: MemberInfo, platform: String, msgID: String, seq: Int, changeSeq: Int) {
      self.groupID = groupID
      self.opTime = opTime
      self.opUser = opUser
      self.platform = platform
      self.msgID = msgID
      self.seq = seq
      self.changeSeq = changeSeq
    }
  }

  /// The parameters of onRecvMessageModified.
  public struct RecvMessageModified: Codable, Hashable, Sendable {
    public var groupID: String
    public var opTime: Int
    public var changeSeq: Int
    public var message: GroupMessage

    /// All members; those that may be absent are nil.
    public init(groupID: String, opTime: Int, changeSeq: Int, message: GroupMessage) {
      self.groupID = groupID
      self.opTime = opTime
      self.changeSeq = changeSeq
      self.message = message
    }
  }

  /// The parameters of onRecvMessageReactionsChanged.
  public struct RecvMessageReactionsChanged: Codable, Hashable, Sendable {
    public var groupID: String
    public var opTime: Int
    public var opUser: MemberInfo
    public var platform: String
    public var seq: Int
    public var changeSeq: Int
    public var reactions: [ReactionRow]
    public var reaction: String
    public var isAdded: Bool

    /// A row of reactions.
    public struct ReactionRow: Codable, Hashable, Sendable {
      public var reaction: String
      public var count: Int

      /// All members; those that may be absent are nil.
      public init(reaction: String, count: Int) {
        self.reaction = reaction
        self.count = count
      }
    }

    /// All members; those that may be absent are nil.
    public init(groupID: String, opTime: Int, opUser: MemberInfo, platform: String, seq: Int, changeSeq: Int, reactions: [ReactionRow], reaction: String, isAdded: Bool) {
      self.groupID = groupID
      self.opTime = opTime
      self.opUser = opUser
      self.platform = platform
      self.seq = seq
      self.changeSeq = changeSeq
      self.reactions = reactions
      self.reaction = reaction
      self.isAdded = isAdded
    }
  }

  /// The parameters of onGroupMessagePinned.
  public struct GroupMessagePinned: Codable, Hashable, Sendable {
    public var groupID: String
    public var opTime: Int
    public var opUser: MemberInfo
    public var platform: String
    public var seq: Int
    public var isPinned: Bool
    public var changeSeq: Int
    public var message: GroupMessage?

    /// All members; those that may be absent are nil.
    public init(groupID: String, opTime: Int, opUser: MemberInfo, platform: String, seq: Int, isPinned: Bool, changeSeq: Int, message: GroupMessage? = nil) {
      self.groupID = groupID
      self.opTime = opTime
      self.opUser = opUser
      self.platform = platform
      self.seq = seq
      self.isPinned = isPinned
      self.changeSeq = changeSeq
      self.message = message
    }
  }

  /// The parameters of onMessageDropped.
  public struct MessageDropped: Codable, Hashable, Sendable {
    public var groupID: String
    public var opTime: Int
    public var msgID: String
    public var clientMsgID: String?
    public var priority: String
    public var reason: String

    /// All members; those that may be absent are nil.
    public init(groupID: String, opTime: Int, msgID: String, clientMsgID: String? = nil, priority: String, reason: String) {
      self.groupID = groupID
      self.opTime = opTime
      self.msgID = msgID
      self.clientMsgID = clientMsgID
      self.priority = priority
      self.reason = reason
    }
  }

  /// The parameters of onConversationRead.
  public struct ConversationRead: Codable, Hashable, Sendable {
    public var groupID: String
    public var opTime: Int
    public var readSeq: Int

    /// All members; those that may be absent are nil.
    public init(groupID: String, opTime: Int, readSeq: Int) {
      self.groupID = groupID
      self.opTime = opTime
      self.readSeq = readSeq
    }
  }

  /// The parameters of onConversationChanged.
  public struct ConversationChanged: Codable, Hashable, Sendable {
    public var groupID: String
    public var opTime: Int
    public var isPinned: Bool?
    public var isHidden: Bool?
    public var isMarkedUnread: Bool?
    public var marks: [String]?
    public var clearedSeq: Int?

    /// All members; those that may be absent are nil.
    public init(groupID: String, opTime: Int, isPinned: Bool? = nil, isHidden: Bool? = nil, isMarkedUnread: Bool? = nil, marks: [String]? = nil, clearedSeq: Int? = nil) {
      self.groupID = groupID
      self.opTime = opTime
      self.isPinned = isPinned
      self.isHidden = isHidden
      self.isMarkedUnread = isMarkedUnread
      self.marks = marks
      self.clearedSeq = clearedSeq
    }
  }

  /// The parameters of onRecvMessageReadReceipts.
  public struct RecvMessageReadReceipts: Codable, Hashable, Sendable {
    public var groupID: String
    public var opTime: Int
    public var receiptList: [ReceiptRow]

    /// A row of receiptList.
    public struct ReceiptRow: Codable, Hashable, Sendable {
      public var seq: Int
      public var readCount: Int
      public var unreadCount: Int

      /// All members; those that may be absent are nil.
      public init(seq: Int, readCount: Int, unreadCount: Int) {
        self.seq = seq
        self.readCount = readCount
        self.unreadCount = unreadCount
      }
    }

    /// All members; those that may be absent are nil.
    public init(groupID: String, opTime: Int, receiptList: [ReceiptRow]) {
      self.groupID = groupID
      self.opTime = opTime
      self.receiptList = receiptList
    }
  }

  /// The parameters of onGroupSignal.
  public struct GroupSignal: Codable, Hashable, Sendable {
    public var groupID: String
    public var opTime: Int
    public var name: String
    public var data: String?
    public var sender: String
    public var nameCard: String?
    public var nickName: String?

    /// All members; those that may be absent are nil.
    public init(groupID: String, opTime: Int, name: String, data: String? = nil, sender: String, nameCard: String? = nil, nickName: String? = nil) {
      self.groupID = groupID
      self.opTime = opTime
      self.name = name
      self.data = data
      self.sender = sender
      self.nameCard = nameCard
      self.nickName = nickName
    }
  }

  /// The parameters of onReceiveRESTCustomData.
  public struct ReceiveRESTCustomData: Codable, Hashable, Sendable {
    public var groupID: String
    public var opTime: Int
    public var customData: String
    public var platform: String

    /// All members; those that may be absent are nil.
    public init(groupID: String, opTime: Int, customData: String, platform: String) {
      self.groupID = groupID
      self.opTime = opTime
      self.customData = customData
      self.platform = platform
    }
  }

  /// The parameters of onSelfInfoUpdated.
  public struct SelfInfoUpdated: Codable, Hashable, Sendable {
    public var opTime: Int
    public var nickName: String?
    public var faceURL: String?
    public var customInfo: [String: String]?

    /// All members; those that may be absent are nil.
    public init(opTime: Int, nickName: String? = nil, faceURL: String? = nil, customInfo: [String: String]? = nil) {
      self.opTime = opTime
      self.nickName = nickName
      self.faceURL = faceURL
      self.customInfo = customInfo
    }
  }

  /// The parameters of onUsersStatusChanged.
  public struct UsersStatusChanged: Codable, Hashable, Sendable {
    public var opTime: Int
    public var userList: [UserStatusInfo]

    /// All members; those that may be absent are nil.
    public init(opTime: Int, userList: [UserStatusInfo]) {
      self.opTime = opTime
      self.userList = userList
    }
  }

  /// The parameters of onConnectSuccess.
  public struct ConnectSuccess: Codable, Hashable, Sendable {
    public var userID: String
    public var sessionID: String
    public var serverTime: Int
    public var tokenExpiresAt: Int
    public var heartbeat: Int
    public var streamKey: String?

    /// All members; those that may be absent are nil.
    public init(userID: String, sessionID: String, serverTime: Int, tokenExpiresAt: Int, heartbeat: Int, streamKey: String? = nil) {
      self.userID = userID
      self.sessionID = sessionID
      self.serverTime = serverTime
      self.tokenExpiresAt = tokenExpiresAt
      self.heartbeat = heartbeat
      self.streamKey = streamKey
    }
  }

  /// The parameters of onKickedOffline.
  public struct KickedOffline: Codable, Hashable, Sendable {
    public var reason: String
    public var message: String?

    /// All members; those that may be absent are nil.
    public init(reason: String, message: String? = nil) {
      self.reason = reason
      self.message = message
    }
  }

  /// The parameters of onUserSigExpired.
  public struct UserSigExpired: Codable, Hashable, Sendable {
    public var expiresAt: Int

    /// All members; those that may be absent are nil.
    public init(expiresAt: Int) {
      self.expiresAt = expiresAt
    }
  }

  /// The parameters of onServerDraining.
  public struct ServerDraining: Codable, Hashable, Sendable {
    public var retryAfterMs: Int

    /// All members; those that may be absent are nil.
    public init(retryAfterMs: Int) {
      self.retryAfterMs = retryAfterMs
    }
  }

  /// The event's name.
  public var name: String {
    switch self {
    case .onMemberEnter: "onMemberEnter"
    case .onMemberLeave: "onMemberLeave"
    case .onMemberInvited: "onMemberInvited"
    case .onMemberKicked: "onMemberKicked"
    case .onGroupMemberInfoChanged: "onGroupMemberInfoChanged"
    case .onGroupCreated: "onGroupCreated"
    case .onGroupDismissed: "onGroupDismissed"
    case .onGroupRecycled: "onGroupRecycled"
    case .onGroupInfoChanged: "onGroupInfoChanged"
    case .onReceiveJoinApplication: "onReceiveJoinApplication"
    case .onReceiveGroupInvitation: "onReceiveGroupInvitation"
    case .onApplicationProcessed: "onApplicationProcessed"
    case .onGroupApplicationListChanged: "onGroupApplicationListChanged"
    case .onGrantAdministrator: "onGrantAdministrator"
    case .onRevokeAdministrator: "onRevokeAdministrator"
    case .onQuitFromGroup: "onQuitFromGroup"
    case .onReceiveMessageOptChanged: "onReceiveMessageOptChanged"
    case .onGroupAttributeChanged: "onGroupAttributeChanged"
    case .onGroupCounterChanged: "onGroupCounterChanged"
    case .onRecvNewMessage: "onRecvNewMessage"
    case .onRecvMessageRevoked: "onRecvMessageRevoked"
    case .onRecvMessageModified: "onRecvMessageModified"
    case .onRecvMessageReactionsChanged: "onRecvMessageReactionsChanged"
    case .onGroupMessagePinned: "onGroupMessagePinned"
    case .onMessageDropped: "onMessageDropped"
    case .onConversationRead: "onConversationRead"
    case .onConversationChanged: "onConversationChanged"
    case .onRecvMessageReadReceipts: "onRecvMessageReadReceipts"
    case .onGroupSignal: "onGroupSignal"
    case .onReceiveRESTCustomData: "onReceiveRESTCustomData"
    case .onSelfInfoUpdated: "onSelfInfoUpdated"
    case .onUsersStatusChanged: "onUsersStatusChanged"
    case .onConnectSuccess: "onConnectSuccess"
    case .onKickedOffline: "onKickedOffline"
    case .onUserSigExpired: "onUserSigExpired"
    case .onServerDraining: "onServerDraining"
    case .other(let name, _): name
    }
  }

  /// The group that the event is about.
  public var groupID: String? {
    switch self {
    case .onMemberEnter(let event): event.groupID
    case .onMemberLeave(let event): event.groupID
    case .onMemberInvited(let event): event.groupID
    case .onMemberKicked(let event): event.groupID
    case .onGroupMemberInfoChanged(let event): event.groupID
    case .onGroupCreated(let event): event.groupID
    case .onGroupDismissed(let event): event.groupID
    case .onGroupRecycled(let event): event.groupID
    case .onGroupInfoChanged(let event): event.groupID
    case .onReceiveJoinApplication(let event): event.groupID
    case .onReceiveGroupInvitation(let event): event.groupID
    case .onApplicationProcessed(let event): event.groupID
    case .onGroupApplicationListChanged(let event): event.groupID
    case .onGrantAdministrator(let event): event.groupID
    case .onRevokeAdministrator(let event): event.groupID
    case .onQuitFromGroup(let event): event.groupID
    case .onReceiveMessageOptChanged(let event): event.groupID
    case .onGroupAttributeChanged(let event): event.groupID
    case .onGroupCounterChanged(let event): event.groupID
    case .onRecvNewMessage(let event): event.groupID
    case .onRecvMessageRevoked(let event): event.groupID
    case .onRecvMessageModified(let event): event.groupID
    case .onRecvMessageReactionsChanged(let event): event.groupID
    case .onGroupMessagePinned(let event): event.groupID
    case .onMessageDropped(let event): event.groupID
    case .onConversationRead(let event): event.groupID
    case .onConversationChanged(let event): event.groupID
    case .onRecvMessageReadReceipts(let event): event.groupID
    case .onGroupSignal(let event): event.groupID
    case .onReceiveRESTCustomData(let event): event.groupID
    default: nil
    }
  }

  /// When it was delivered.
  public var opTime: Int? {
    switch self {
    case .onMemberEnter(let event): event.opTime
    case .onMemberLeave(let event): event.opTime
    case .onMemberInvited(let event): event.opTime
    case .onMemberKicked(let event): event.opTime
    case .onGroupMemberInfoChanged(let event): event.opTime
    case .onGroupCreated(let event): event.opTime
    case .onGroupDismissed(let event): event.opTime
    case .onGroupRecycled(let event): event.opTime
    case .onGroupInfoChanged(let event): event.opTime
    case .onReceiveJoinApplication(let event): event.opTime
    case .onReceiveGroupInvitation(let event): event.opTime
    case .onApplicationProcessed(let event): event.opTime
    case .onGroupApplicationListChanged(let event): event.opTime
    case .onGrantAdministrator(let event): event.opTime
    case .onRevokeAdministrator(let event): event.opTime
    case .onQuitFromGroup(let event): event.opTime
    case .onReceiveMessageOptChanged(let event): event.opTime
    case .onGroupAttributeChanged(let event): event.opTime
    case .onGroupCounterChanged(let event): event.opTime
    case .onRecvNewMessage(let event): event.opTime
    case .onRecvMessageRevoked(let event): event.opTime
    case .onRecvMessageModified(let event): event.opTime
    case .onRecvMessageReactionsChanged(let event): event.opTime
    case .onGroupMessagePinned(let event): event.opTime
    case .onMessageDropped(let event): event.opTime
    case .onConversationRead(let event): event.opTime
    case .onConversationChanged(let event): event.opTime
    case .onRecvMessageReadReceipts(let event): event.opTime
    case .onGroupSignal(let event): event.opTime
    case .onReceiveRESTCustomData(let event): event.opTime
    case .onSelfInfoUpdated(let event): event.opTime
    case .onUsersStatusChanged(let event): event.opTime
    default: nil
    }
  }
}

extension ServerEvent {
  /// The event of that name; nil where this version knows none.
  init?(name: String, from decoder: any ParameterDecoder) throws {
    func params<Params: Decodable>() throws -> Params { try decoder.decode(Params.self) }
    switch name {
    case "onMemberEnter": self = .onMemberEnter(try params())
    case "onMemberLeave": self = .onMemberLeave(try params())
    case "onMemberInvited": self = .onMemberInvited(try params())
    case "onMemberKicked": self = .onMemberKicked(try params())
    case "onGroupMemberInfoChanged": self = .onGroupMemberInfoChanged(try params())
    case "onGroupCreated": self = .onGroupCreated(try params())
    case "onGroupDismissed": self = .onGroupDismissed(try params())
    case "onGroupRecycled": self = .onGroupRecycled(try params())
    case "onGroupInfoChanged": self = .onGroupInfoChanged(try params())
    case "onReceiveJoinApplication": self = .onReceiveJoinApplication(try params())
    case "onReceiveGroupInvitation": self = .onReceiveGroupInvitation(try params())
    case "onApplicationProcessed": self = .onApplicationProcessed(try params())
    case "onGroupApplicationListChanged": self = .onGroupApplicationListChanged(try params())
    case "onGrantAdministrator": self = .onGrantAdministrator(try params())
    case "onRevokeAdministrator": self = .onRevokeAdministrator(try params())
    case "onQuitFromGroup": self = .onQuitFromGroup(try params())
    case "onReceiveMessageOptChanged": self = .onReceiveMessageOptChanged(try params())
    case "onGroupAttributeChanged": self = .onGroupAttributeChanged(try params())
    case "onGroupCounterChanged": self = .onGroupCounterChanged(try params())
    case "onRecvNewMessage": self = .onRecvNewMessage(try params())
    case "onRecvMessageRevoked": self = .onRecvMessageRevoked(try params())
    case "onRecvMessageModified": self = .onRecvMessageModified(try params())
    case "onRecvMessageReactionsChanged": self = .onRecvMessageReactionsChanged(try params())
    case "onGroupMessagePinned": self = .onGroupMessagePinned(try params())
    case "onMessageDropped": self = .onMessageDropped(try params())
    case "onConversationRead": self = .onConversationRead(try params())
    case "onConversationChanged": self = .onConversationChanged(try params())
    case "onRecvMessageReadReceipts": self = .onRecvMessageReadReceipts(try params())
    case "onGroupSignal": self = .onGroupSignal(try params())
    case "onReceiveRESTCustomData": self = .onReceiveRESTCustomData(try params())
    case "onSelfInfoUpdated": self = .onSelfInfoUpdated(try params())
    case "onUsersStatusChanged": self = .onUsersStatusChanged(try params())
    case "onConnectSuccess": self = .onConnectSuccess(try params())
    case "onKickedOffline": self = .onKickedOffline(try params())
    case "onUserSigExpired": self = .onUserSigExpired(try params())
    case "onServerDraining": self = .onServerDraining(try params())
    default: return nil
    }
  }
}
