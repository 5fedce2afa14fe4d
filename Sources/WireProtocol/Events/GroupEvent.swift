import GroupModel

/// An event of a group: every receiver gets the same bytes.
public struct GroupEvent: Event, Equatable {
  /// The event, by its name.
  public enum Content: Sendable, Equatable {
    /// - Parameter platform: nil = several users, on several platforms.
    case onMemberEnter([MemberInfo], memberCount: Int, on: Platform?, EventTip?)
    /// - Parameter platform: nil = nobody has done it, or several users on several platforms.
    case onMemberLeave([MemberInfo], memberCount: Int, on: Platform?, EventTip?)
    /// - Parameter isAccepted: the users were asked, and have accepted.
    case onMemberInvited([MemberInfo], memberCount: Int, by: EventOperator, isAccepted: Bool, EventTip?)
    case onMemberKicked([MemberInfo], memberCount: Int, reason: String, by: EventOperator, EventTip?)
    case onGroupMemberInfoChanged([MemberChange], by: EventOperator, EventTip?)
    case onGroupCreated(on: Platform, EventTip?)
    case onGroupDismissed(by: EventOperator)
    case onGroupRecycled(by: EventOperator)
    case onGroupInfoChanged([InfoChange], by: EventOperator, EventTip?)
    case onReceiveJoinApplication(applicationID: String, member: MemberInfo, on: Platform, opReason: String)
    // Indirect, because every event takes the memory of the largest.
    indirect case onReceiveGroupInvitation(
      applicationID: String, opReason: String, attach: String, by: EventOperator, to: InvitedGroup)
    case onApplicationProcessed(applicationID: String, isAgreeJoin: Bool, opReason: String, by: EventOperator)
    indirect case onGroupApplicationListChanged(ApplicationInfo)
    case onGrantAdministrator([MemberInfo], by: EventOperator, EventTip?)
    case onRevokeAdministrator([MemberInfo], by: EventOperator, EventTip?)
    case onQuitFromGroup(on: Platform)
    case onReceiveMessageOptChanged(ReceiveOption)
    /// - Parameter holders: of the keys that somebody holds; nil = nobody holds any.
    case onGroupAttributeChanged(TextMap, holders: TextMap?)
    case onGroupCounterChanged(CounterMap)
    /// The sender's profile is `GroupEvent.senderProfile`.
    case onRecvNewMessage(Message)
    case onRecvMessageRevoked(msgID: String, seq: Int64, changeSeq: Int64, by: EventOperator)
    /// Apart, because it would be larger than the message of every other event.
    indirect case onRecvMessageModified(MessageInfo)
    indirect case onRecvMessageReactionsChanged(ReactionsChange, by: EventOperator)
    /// - Parameter message: nil = it is not pinned any more.
    indirect case onGroupMessagePinned(seq: Int64, changeSeq: Int64, MessageInfo?, by: EventOperator)
    case onMessageDropped(msgID: String, clientMsgID: String?, Priority, DropReason)
    case onConversationRead(readSeq: Int64)
    /// - Parameter clearedSeq: the history up to it is cleared; nil = it stays as it is.
    indirect case onConversationChanged(ConversationChange, clearedSeq: Int64?)
    case onRecvMessageReadReceipts([ReadReceiptCount])
    /// The sender's nickName is of `GroupEvent.senderProfile`.
    case onGroupSignal(GroupSignal)
    case onReceiveRESTCustomData(String, on: Platform)
  }

  public let groupID: GroupID
  public let opTime: WallInstant
  public internal(set) var content: Content
  /// The profile of the sender of a message or a signal. It stands beside the message and not with
  /// it: an event's content is encoded without a copy only where it is the message alone.
  public let senderProfile: UserProfile?

  /// An event with everything given.
  public init(groupID: GroupID, opTime: WallInstant, _ content: Content, senderProfile: UserProfile? = nil) {
    self.groupID = groupID
    self.opTime = opTime
    self.content = content
    self.senderProfile = senderProfile
  }

  static func example(_ content: Content) -> GroupEvent { GroupEvent(groupID: .generate(), opTime: .unset, content) }

  public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
    writer.member("groupID", groupID.rawValue)
    writer.member("opTime", opTime)
    // Apart from the other events: a switch with a case for two of them copies the content.
    switch content {
    case .onRecvNewMessage(let message): writer.member("message", message, senderProfile: senderProfile)
    default: encodeOtherFields(into: &writer)
    }
  }

  /// The members of every event but a message's.
  private func encodeOtherFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
    switch content {
    case .onRecvNewMessage: break
    case .onMemberEnter(let list, let count, let platform, let tip), .onMemberLeave(let list, let count, let platform, let tip):
      writer.member("platform", ifPresent: platform?.rawValue)
      writer.member("memberList", list)
      writer.member("memberCount", count)
      tip.encodeFields(into: &writer)
    case .onMemberInvited(let list, let count, let opUser, let isAccepted, let tip):
      opUser.encodeFields(into: &writer)
      writer.member("memberList", list)
      writer.member("memberCount", count)
      tip.encodeFields(into: &writer)
      writer.member("isAccepted", ifPresent: isAccepted ? true : nil as Bool?)
    case .onMemberKicked(let list, let count, let reason, let opUser, let tip):
      opUser.encodeFields(into: &writer)
      writer.member("memberList", list)
      writer.member("reason", reason)
      writer.member("memberCount", count)
      tip.encodeFields(into: &writer)
    case .onGroupMemberInfoChanged(let changes, let opUser, let tip):
      opUser.encodeFields(into: &writer)
      writer.member("changeInfoList", changes)
      tip.encodeFields(into: &writer)
    case .onGroupInfoChanged(let changes, let opUser, let tip):
      opUser.encodeFields(into: &writer)
      writer.member("changeInfoList", changes)
      tip.encodeFields(into: &writer)
    case .onGrantAdministrator(let list, let opUser, let tip), .onRevokeAdministrator(let list, let opUser, let tip):
      opUser.encodeFields(into: &writer)
      writer.member("memberList", list)
      tip.encodeFields(into: &writer)
    case .onGroupCreated(let platform, let tip):
      writer.member("platform", platform.rawValue)
      tip.encodeFields(into: &writer)
    case .onQuitFromGroup(let platform): writer.member("platform", platform.rawValue)
    case .onGroupDismissed(let opUser), .onGroupRecycled(let opUser): opUser.encodeFields(into: &writer)
    case .onReceiveJoinApplication(let id, let member, let platform, let reason):
      writer.member("applicationID", id)
      writer.member("member", member)
      writer.member("platform", platform.rawValue)
      writer.member("opReason", reason)
    case .onReceiveGroupInvitation(let id, let reason, let attach, let opUser, let group):
      opUser.encodeFields(into: &writer)
      writer.member("applicationID", id)
      writer.member("opReason", reason)
      writer.member("attach", attach)
      group.encodeFields(into: &writer)
    case .onApplicationProcessed(let id, let isAgreeJoin, let reason, let opUser):
      opUser.encodeFields(into: &writer)
      writer.member("applicationID", id)
      writer.member("isAgreeJoin", isAgreeJoin)
      writer.member("opReason", reason)
    case .onGroupApplicationListChanged(let application): writer.member("application", application)
    case .onReceiveMessageOptChanged(let option): writer.member("opt", option.rawValue)
    case .onGroupAttributeChanged(let attributes, let holders):
      writer.member("groupAttributeMap", attributes)
      writer.member("holders", ifPresent: holders)
    case .onGroupCounterChanged(let counters): writer.member("counters", counters)
    case .onRecvMessageRevoked(let msgID, let seq, let changeSeq, let opUser):
      opUser.encodeFields(into: &writer)
      writer.member("msgID", msgID)
      writer.member("seq", seq)
      writer.member("changeSeq", changeSeq)
    case .onRecvMessageModified(let info):
      writer.member("changeSeq", info.message.changeSeq)
      writer.member("message", info)
    case .onRecvMessageReactionsChanged(let change, let opUser):
      opUser.encodeFields(into: &writer)
      change.encodeFields(into: &writer)
    case .onGroupMessagePinned(let seq, let changeSeq, let info, let opUser):
      opUser.encodeFields(into: &writer)
      writer.member("seq", seq)
      writer.member("isPinned", info != nil)
      writer.member("changeSeq", changeSeq)
      writer.member("message", ifPresent: info)
    case .onMessageDropped(let msgID, let clientMsgID, let priority, let reason):
      writer.member("msgID", msgID)
      writer.member("clientMsgID", ifPresent: clientMsgID)
      writer.member("priority", priority.rawValue)
      writer.member("reason", reason.rawValue)
    case .onConversationRead(let seq): writer.member("readSeq", seq)
    case .onConversationChanged(let change, let clearedSeq):
      writer.member("isPinned", ifPresent: change.isPinned)
      writer.member("isHidden", ifPresent: change.isHidden)
      writer.member("isMarkedUnread", ifPresent: change.isMarkedUnread)
      writer.member("marks", ifPresent: change.marks)
      writer.member("clearedSeq", ifPresent: clearedSeq)
    case .onRecvMessageReadReceipts(let receipts): writer.member("receiptList", receipts)
    case .onGroupSignal(let signal): signal.encodeFields(of: senderProfile, into: &writer)
    case .onReceiveRESTCustomData(let data, let platform):
      writer.member("customData", data)
      writer.member("platform", platform.rawValue)
    }
  }

  /// The whole JSON-RPC notification. Declared for this type too: other modules call the generic one
  /// through tables of witnesses, at 500 instructions a message.
  public var frame: [UInt8] { makeFrame() }

  /// About the bytes of a new message.
  static var capacityOfMessage: Int { 448 }

  public var capacity: Int {
    switch content {
    case .onRecvNewMessage: GroupEvent.capacityOfMessage
    case .onRecvMessageModified(let info): 512 + info.message.byteCount
    case .onGroupMessagePinned(_, _, let info, _): 640 + (info?.message.byteCount ?? 0)
    case .onGroupAttributeChanged(let attributes, let holders): 160 + attributes.byteCount + (holders?.byteCount ?? 0)
    case .onGroupCounterChanged(let counters): 160 + counters.byteCount
    case .onReceiveRESTCustomData(let data, _): 192 + data.utf8.count
    case .onGroupSignal(let signal): 320 + (signal.data?.utf8.count ?? 0)
    case .onRecvMessageReadReceipts(let receipts): 192 + receipts.count * 64
    case .onGroupApplicationListChanged: 768
    case .onMemberEnter(let list, _, _, _), .onMemberLeave(let list, _, _, _): 224 + list.count * 128
    case .onMemberInvited(let list, _, _, _, _): 384 + list.count * 128
    case .onMemberKicked(let list, _, let reason, _, _): 384 + list.count * 128 + reason.utf8.count
    case .onGrantAdministrator(let list, _, _), .onRevokeAdministrator(let list, _, _): 384 + list.count * 128
    case .onGroupMemberInfoChanged(let changes, _, _): 320 + changes.reduce(0) { $0 + $1.byteCount }
    case .onGroupInfoChanged(let changes, _, _): 320 + changes.reduce(0) { $0 + $1.byteCount }
    default: 320
    }
  }

  public var name: EventName {
    switch content {
    case .onMemberEnter: .onMemberEnter
    case .onMemberLeave: .onMemberLeave
    case .onMemberInvited: .onMemberInvited
    case .onMemberKicked: .onMemberKicked
    case .onGroupMemberInfoChanged: .onGroupMemberInfoChanged
    case .onGroupCreated: .onGroupCreated
    case .onGroupDismissed: .onGroupDismissed
    case .onGroupRecycled: .onGroupRecycled
    case .onGroupInfoChanged: .onGroupInfoChanged
    case .onReceiveJoinApplication: .onReceiveJoinApplication
    case .onReceiveGroupInvitation: .onReceiveGroupInvitation
    case .onApplicationProcessed: .onApplicationProcessed
    case .onGroupApplicationListChanged: .onGroupApplicationListChanged
    case .onGrantAdministrator: .onGrantAdministrator
    case .onRevokeAdministrator: .onRevokeAdministrator
    case .onQuitFromGroup: .onQuitFromGroup
    case .onReceiveMessageOptChanged: .onReceiveMessageOptChanged
    case .onGroupAttributeChanged: .onGroupAttributeChanged
    case .onGroupCounterChanged: .onGroupCounterChanged
    case .onRecvNewMessage: .onRecvNewMessage
    case .onRecvMessageRevoked: .onRecvMessageRevoked
    case .onRecvMessageModified: .onRecvMessageModified
    case .onRecvMessageReactionsChanged: .onRecvMessageReactionsChanged
    case .onGroupMessagePinned: .onGroupMessagePinned
    case .onMessageDropped: .onMessageDropped
    case .onConversationRead: .onConversationRead
    case .onConversationChanged: .onConversationChanged
    case .onRecvMessageReadReceipts: .onRecvMessageReadReceipts
    case .onGroupSignal: .onGroupSignal
    case .onReceiveRESTCustomData: .onReceiveRESTCustomData
    }
  }
}

/// Why a message that was queued reaches nobody.
public enum DropReason: String, CaseIterable, Sendable {
  /// It waited too long, or more important ones took its place.
  case rateLimit = "RateLimit"
  /// It was recalled while it waited.
  case revoked = "Revoked"
}

/// The user who caused an event, and the platform that the user was on.
public struct EventOperator: FieldEncodable, Equatable {
  public internal(set) var opUser: MemberInfo
  public let platform: Platform

  /// An operator on a platform.
  public init(_ opUser: MemberInfo, on platform: Platform) {
    self.opUser = opUser
    self.platform = platform
  }

  public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
    writer.member("opUser", opUser)
    writer.member("platform", platform.rawValue)
  }
}

/// The group of an invitation, for users who know nothing of it yet.
public struct InvitedGroup: FieldEncodable, Equatable {
  public let groupName: String
  public let groupType: GroupType
  public let faceURL: String
  public let memberCount: Int

  /// With everything given.
  public init(groupName: String, groupType: GroupType, faceURL: String, memberCount: Int) {
    self.groupName = groupName
    self.groupType = groupType
    self.faceURL = faceURL
    self.memberCount = memberCount
  }

  public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
    writer.member("groupName", groupName)
    writer.member("groupType", word: groupType)
    writer.member("faceURL", faceURL)
    writer.member("memberCount", memberCount)
  }
}

/// A change of a message's reactions, and what they are since.
public struct ReactionsChange: FieldEncodable, Equatable {
  public let seq: Int64
  public let changeSeq: Int64
  /// In the order in which they came; without `byMe`, because every receiver gets the same bytes.
  public let reactions: [ReactionCount]
  /// The reaction that was added or removed.
  public let reaction: String
  public let isAdded: Bool

  /// With everything given.
  public init(seq: Int64, changeSeq: Int64, reactions: [ReactionCount], reaction: String, isAdded: Bool) {
    self.seq = seq
    self.changeSeq = changeSeq
    self.reactions = reactions
    self.reaction = reaction
    self.isAdded = isAdded
  }

  public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
    writer.member("seq", seq)
    writer.member("changeSeq", changeSeq)
    writer.member("reactions", reactions)
    writer.member("reaction", reaction)
    writer.member("isAdded", isAdded)
  }
}

/// The stored tip of an event (Protocol.md, "Tips").
public struct EventTip: Sendable, Equatable {
  public let seq: Int64
  public let msgID: String

  /// A tip by its place in the history.
  public init(seq: Int64, msgID: String) {
    self.seq = seq
    self.msgID = msgID
  }
}

extension EventTip? {
  fileprivate func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
    writer.member("seq", ifPresent: self?.seq)
    writer.member("msgID", ifPresent: self?.msgID)
  }
}

extension ApplicationInfo {
  static let example = ApplicationInfo(
    GroupApplication(
      id: "", groupID: .generate(), epoch: "", kind: .join, fromUser: .administrator, toUser: nil, addTime: .unset, requestMsg: ""
    ),
    reader: .administrator, isRead: false)
}

extension Message {
  static let example = Message(
    msgID: "", groupID: .generate(), seq: nil, sender: .administrator, nameCard: "", timestamp: .unset, content: .text(""),
    priority: .normal, clientMsgID: nil, platform: .restAPI)
}
