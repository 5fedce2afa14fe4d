import GroupModel
import ThrongTestKit

@testable import WireProtocol

/// Values of the wire, the same for the same seed. Texts need escapes, lists may be empty, optional
/// values absent.
struct Samples {
  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func flag() -> Bool { Bool.random(using: &random) }
  mutating func number() -> Int64 { Int64.random(in: 0...(1 << 53), using: &random) }
  mutating func instant() -> WallInstant { WallInstant(milliseconds: number()) }

  mutating func text() -> String {
    let letters = ["a", "\"", "\\", "\n", "\u{0}", "é", "😀"]
    return (0..<Int.random(in: 0...20, using: &random)).map { _ in letters.randomElement(using: &random) ?? "" }.joined()
  }

  mutating func one<Value: CaseIterable>(_ type: Value.Type = Value.self) -> Value {
    let cases = Array(Value.allCases)
    return cases[Int.random(in: 0..<cases.count, using: &random)]
  }

  mutating func optional<Value>(_ make: (inout Samples) -> Value) -> Value? { flag() ? make(&self) : nil }

  mutating func list<Value>(_ make: (inout Samples) -> Value) -> [Value] {
    (0..<Int.random(in: 0...3, using: &random)).map { _ in make(&self) }
  }

  mutating func user() -> UserID { UserID("u\(Int.random(in: 0...99, using: &random))") ?? .administrator }
  mutating func role() -> Role { [Role.owner, .admin, .member, .custom(200)].randomElement(using: &random) ?? .member }

  mutating func member() -> Member {
    Member(
      userID: user(), role: role(), joinTime: instant(), ordinal: 1, receiveOption: one(), inviter: optional { $0.user() },
      nameCard: text(), customInfo: ["k": text()])
  }

  mutating func memberInfo() -> MemberInfo {
    switch Int.random(in: 0..<3, using: &random) {
    case 0: .administrator
    case 1: .outsider(user())
    default: MemberInfo(member())
    }
  }

  mutating func map() -> TextMap {
    TextMap(list { GroupAttributes.Entry(key: $0.text(), value: $0.text()) })
  }

  mutating func counters() -> CounterMap {
    CounterMap(list { GroupCounters.Entry(key: $0.text(), value: $0.optional { $0.number() }) })
  }

  mutating func message() -> Message {
    var message = Message(
      msgID: text(), groupID: .generate(), seq: optional { $0.number() }, sender: user(), nameCard: text(), timestamp: instant(),
      content: flag() ? .text(text()) : .custom(text()), priority: one(), clientMsgID: optional { $0.text() },
      atUserIDList: list { $0.text() }, isRevoked: flag(), platform: one())
    message.extras = MessageExtras(
      extension: optional { $0.text() }, replyTo: optional { ReplyReference(seq: $0.number(), sender: $0.user()) },
      isExcludedFromUnreadCount: flag(), isExcludedFromLastMessage: flag(), toUserIDList: list { $0.user() })
    guard flag() else { return message }
    message.changeSeq = number() + 1
    message.editTime = flag() ? instant() : .unset
    message.isPinned = flag()
    return message
  }

  mutating func messageInfo() -> MessageInfo {
    var info = MessageInfo(message(), senderProfile: profile())
    info.replyCount = flag() ? 3 : 0
    info.reactions = optional { samples in samples.list { ReactionInfo(reaction: $0.text(), count: 1, byMe: $0.flag()) } }
    return info
  }

  mutating func profile() -> UserProfile? { .make(nickName: flag() ? text() : "", faceURL: flag() ? text() : "") }

  mutating func info() -> GroupInfo {
    let policy = GroupPolicy(
      joinMode: .any, inviteMode: .any, beInviteMode: .none, updateInfoMode: .any, updateCustomMode: .any,
      ownerQuitMode: .forbid, memberChangeNotification: flag(), isSearchable: flag(), isMemberVisible: flag(),
      historyVisibility: one(), slowMode: flag() ? 86_400 : 0, attributeMode: one())
    let record = GroupRecord(
      id: .generate(), type: one(), epoch: text(), createTime: instant(), owner: user(), name: text(), maxMemberNum: 1,
      policy: policy)
    return GroupInfo(
      record: record, now: instant(), memberCount: 1, onlineCount: 1, lastSeq: 1, lastMessageTime: instant(),
      lastMessage: optional { MessageInfo($0.message(), senderProfile: $0.profile()) },
      reader: flag() ? .outsider : .administrator)
  }

  mutating func groupRow() -> GetGroupsInfo.Row {
    flag()
      ? GetGroupsInfo.Row(groupID: "g", code: 0, info: Encoded(info()))
      : GetGroupsInfo.Row(groupID: "g", code: 10010, message: text())
  }

  mutating func session() -> Login.Result {
    Login.Result(userID: user(), sessionID: text(), serverTime: instant(), tokenExpiresAt: instant(), heartbeat: number())
  }

  private mutating func memberChange() -> MemberChange {
    var change = MemberChange(userID: user())
    change.muteTime = optional { $0.number() }
    change.nameCard = optional { $0.text() }
    change.role = optional { $0.role() }
    return change
  }

  private mutating func conversationChange() -> ConversationChange {
    var change = ConversationChange()
    change.isPinned = optional { $0.flag() }
    change.isHidden = optional { $0.flag() }
    change.isMarkedUnread = optional { $0.flag() }
    change.marks = optional { samples in samples.list { $0.text() } }
    return change
  }

  mutating func application() -> ApplicationInfo {
    ApplicationInfo(
      GroupApplication(
        id: text(), groupID: .generate(), epoch: "", kind: one(), fromUser: user(), toUser: optional { $0.user() },
        addTime: .unset,
        requestMsg: ""), reader: user(), isRead: flag())
  }

  private mutating func infoChange() -> InfoChange {
    flag() ? .customInfo(text(), text()) : .maxMemberNum(7)
  }

  mutating func status() -> UserStatusInfo {
    UserStatusInfo(
      userID: user(), platformList: flag() ? [.iOS, .web] : [], customStatus: text(), lastOnlineTime: instant())
  }

  /// An event of that name.
  mutating func event(_ name: EventName) -> any Event {
    switch name {
    case .onSelfInfoUpdated:
      return SessionEvent.onSelfInfoUpdated(
        UserInfoFields(
          nickName: optional { $0.text() }, faceURL: optional { $0.text() }, customInfo: flag() ? ["k": text()] : nil),
        opTime: instant())
    case .onUsersStatusChanged:
      return SessionEvent.onUsersStatusChanged(list { Encoded($0.status()) }, opTime: instant())
    case .onConnectSuccess: return SessionEvent.onConnectSuccess(session(), streamKey: optional { $0.text() })
    case .onKickedOffline: return SessionEvent.onKickedOffline(reason: text(), message: optional { $0.text() })
    case .onUserSigExpired: return SessionEvent.onUserSigExpired(expiresAt: instant())
    case .onServerDraining: return SessionEvent.onServerDraining(retryAfterMs: number())
    default: return GroupEvent(groupID: .generate(), opTime: instant(), groupEvent(name), senderProfile: profile())
    }
  }

  private mutating func groupEvent(_ name: EventName) -> GroupEvent.Content {
    let by = EventOperator(memberInfo(), on: one())
    let tip = optional { EventTip(seq: $0.number(), msgID: $0.text()) }
    let list = list { $0.memberInfo() }
    let (id, reason, count) = (text(), text(), list.count)
    return switch name {
    case .onMemberEnter: .onMemberEnter(list, memberCount: count, on: optional { $0.one() }, tip)
    case .onMemberLeave: .onMemberLeave(list, memberCount: count, on: optional { $0.one() }, tip)
    case .onMemberInvited: .onMemberInvited(list, memberCount: count, by: by, isAccepted: flag(), tip)
    case .onMemberKicked: .onMemberKicked(list, memberCount: count, reason: reason, by: by, tip)
    case .onGroupMemberInfoChanged: .onGroupMemberInfoChanged([memberChange()], by: by, tip)
    case .onGroupCreated: .onGroupCreated(on: one(), tip)
    case .onGroupDismissed: .onGroupDismissed(by: by)
    case .onGroupRecycled: .onGroupRecycled(by: by)
    case .onGroupInfoChanged: .onGroupInfoChanged([infoChange()], by: by, tip)
    case .onReceiveJoinApplication:
      .onReceiveJoinApplication(applicationID: id, member: memberInfo(), on: one(), opReason: reason)
    case .onReceiveGroupInvitation:
      .onReceiveGroupInvitation(
        applicationID: id, opReason: reason, attach: text(), by: by,
        to: InvitedGroup(groupName: text(), groupType: one(), faceURL: text(), memberCount: count))
    case .onApplicationProcessed: .onApplicationProcessed(applicationID: id, isAgreeJoin: flag(), opReason: reason, by: by)
    case .onGroupApplicationListChanged: .onGroupApplicationListChanged(application())
    case .onGrantAdministrator: .onGrantAdministrator(list, by: by, tip)
    case .onRevokeAdministrator: .onRevokeAdministrator(list, by: by, tip)
    case .onQuitFromGroup: .onQuitFromGroup(on: one())
    case .onReceiveMessageOptChanged: .onReceiveMessageOptChanged(one())
    case .onGroupAttributeChanged: .onGroupAttributeChanged(map(), holders: optional { $0.map() })
    case .onGroupCounterChanged: .onGroupCounterChanged(counters())
    case .onRecvNewMessage: .onRecvNewMessage(message())
    case .onRecvMessageRevoked: .onRecvMessageRevoked(msgID: id, seq: number(), changeSeq: number(), by: by)
    case .onRecvMessageModified: .onRecvMessageModified(MessageInfo(message()))
    case .onRecvMessageReactionsChanged:
      .onRecvMessageReactionsChanged(
        ReactionsChange(
          seq: number(), changeSeq: number(), reactions: self.list { ReactionCount(reaction: $0.text(), count: 2) }, reaction: id,
          isAdded: flag()), by: by)
    case .onGroupMessagePinned:
      .onGroupMessagePinned(
        seq: number(), changeSeq: number(), optional { MessageInfo($0.message()) }, by: by)
    case .onMessageDropped: .onMessageDropped(msgID: id, clientMsgID: optional { $0.text() }, one(), one())
    case .onConversationRead: .onConversationRead(readSeq: number())
    case .onConversationChanged: .onConversationChanged(conversationChange(), clearedSeq: optional { $0.number() })
    case .onRecvMessageReadReceipts:
      .onRecvMessageReadReceipts([ReadReceiptCount(seq: number(), readCount: count, unreadCount: count + 1)])
    case .onGroupSignal:
      .onGroupSignal(GroupSignal(name: id, data: optional { $0.text() }, sender: user(), nameCard: text()))
    case .onReceiveRESTCustomData, .onSelfInfoUpdated, .onUsersStatusChanged, .onConnectSuccess, .onKickedOffline,
      .onUserSigExpired, .onServerDraining:
      .onReceiveRESTCustomData(text(), on: one())
    }
  }
}
