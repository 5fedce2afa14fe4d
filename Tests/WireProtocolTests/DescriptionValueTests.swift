import Foundation
import GroupModel
import Testing
import ThrongTestKit

@testable import WireProtocol

/// The named types against what is really written: neither has a member that the other lacks.
@Suite struct DescriptionValueTests {
  private let user: UserID
  private let profile = UserProfile.make(nickName: "N", faceURL: "F")
  private let member = Member(
    userID: .administrator, role: .custom(100), joinTime: 1, ordinal: 1, receiveOption: .receive, inviter: .administrator)

  init() throws { user = try #require(UserID("u")) }

  private func names(_ value: some WireEncodable) throws -> Set<String> {
    let text = JSONWriter.text { $0.value(value) }
    return Set(try #require(try JSONSerialization.jsonObject(with: Data(text)) as? [String: Any]).keys)
  }

  private func described(_ type: String, required: Bool = false) throws -> Set<String> {
    let fields = try #require(NamedType.named(type)).fields
    return Set(fields.filter { !required || !$0.isOptional }.map(\.name))
  }

  private func message(_ content: Message.Content) throws -> Message {
    Message(
      msgID: "m", groupID: try #require(GroupID("g")), seq: 1, sender: .administrator, nameCard: "card", timestamp: 1,
      content: content,
      priority: .high, clientMsgID: "c", atUserIDList: ["@all"], isRevoked: false, platform: .unknown)
  }

  private func group(_ type: GroupType, _ reader: GroupInfo.Reader) throws -> GroupInfo {
    let record = GroupRecord(
      id: try #require(GroupID("g")), type: type, epoch: "e", createTime: 1, owner: .administrator, name: "n", maxMemberNum: 5,
      policy: GroupPolicy(
        joinMode: .any, inviteMode: .any, beInviteMode: .none, updateInfoMode: .any, updateCustomMode: .any,
        ownerQuitMode: .forbid,
        memberChangeNotification: true, isSearchable: true, isMemberVisible: true,
        historyVisibility: .all))
    return GroupInfo(
      record: record, now: 2, memberCount: 1, onlineCount: 1, lastSeq: 1, lastMessageTime: 1,
      lastMessage: MessageInfo(try message(.text("x"))),
      reader: reader)
  }

  @Test func groupInfo() throws {
    let whole = try names(group(.public, .member(GroupInfo.SelfInfo(member: member, unreadCount: 0))))
    #expect(whole == (try described("GroupInfo")))
    #expect(try names(group(.bChatRoom, .outsider)) == (try described("GroupInfo", required: true)))
  }

  @Test func selfInfoAndMute() throws {
    #expect(try names(GroupInfo.SelfInfo(member: member, unreadCount: 0)) == (try described("SelfInfo", required: true)))
    var chosen = member
    (chosen.conversation.isPinned, chosen.conversation.isHidden, chosen.conversation.isMarkedUnread) = (true, true, true)
    chosen.conversation.marks = ["later"]
    #expect(try names(GroupInfo.SelfInfo(member: chosen, unreadCount: 0)) == (try described("SelfInfo")))
    #expect(try names(GroupMute(mode: .custom, roles: [.member], muteUntil: 3)) == (try described("GroupMute")))
    #expect(try names(GroupMute.none) == (try described("GroupMute", required: true)))
  }

  @Test func memberInfo() throws {
    let listed = ListedMember(member, isOnline: true, isReader: true)
    let withoutProfile = ShownMember(listed, profiles: [:])
    #expect(try names(withoutProfile) == (try described("MemberInfo")).subtracting(["nickName", "faceURL"]))
    let profiles = [member.userID: try #require(profile)]
    #expect(try names(ShownMember(listed, profiles: profiles)) == (try described("MemberInfo")))
    #expect(try names(MemberInfo.administrator) == (try described("MemberInfo", required: true)))
    #expect(try names(MemberInfo(member)).isSubset(of: try described("MemberInfo")))
    let words = String(decoding: JSONWriter.text { $0.value(MemberInfo.outsider(user)) }, as: UTF8.self)
    let role = try #require(NamedType.named("MemberInfo")?.fields.first { $0.name == "role" })
    #expect(words.contains(#""role":"NotMember""#) && role.type.contains(#""NotMember""#))
  }

  /// Left out where it is empty.
  @Test func profiles() throws {
    var info = MemberInfo.outsider(user)
    #expect(try names(info) == ["userID", "nameCard", "role"])
    info.profile = .make(nickName: "N", faceURL: "")
    #expect(try names(info) == ["userID", "nickName", "nameCard", "role"])
    info.profile = .make(nickName: "", faceURL: "F")
    #expect(try names(info) == ["userID", "faceURL", "nameCard", "role"])
    #expect(UserProfile.make(nickName: "", faceURL: "") == nil)
    #expect(try names(UserInfo(userID: user)) == (try described("UserInfo", required: true)))
    #expect(try names(UserInfo(userID: user)) == (try described("UserInfo")))
    #expect(try names(UserStatusInfo(userID: user)) == (try described("UserStatusInfo")))
  }

  @Test func memberChange() throws {
    var change = MemberChange(userID: user)
    #expect(try names(change) == (try described("MemberChange", required: true)))
    change.muteTime = 0
    change.nameCard = ""
    change.customInfo = [:]
    change.role = .member
    #expect(try names(change) == (try described("MemberChange")))
  }

  @Test func application() throws {
    var application = GroupApplication(
      id: "a", groupID: try #require(GroupID("g")), epoch: "e", kind: .join, fromUser: user, toUser: nil, addTime: 1,
      requestMsg: "")
    #expect(
      try names(ApplicationInfo(application, reader: user, isRead: false)) == (try described("Application", required: true)))
    application.attach = "x"
    application.handling = GroupApplication.Handling(isAgreed: true, by: user, time: 2, message: "")
    #expect(try names(ApplicationInfo(application, reader: user, isRead: true)) == (try described("Application")))
  }

  @Test func systemNotification() throws {
    func notification(_ text: String?) throws -> NotificationInfo {
      NotificationInfo(
        number: 1,
        notification: SystemNotification(
          kind: .custom, groupID: try #require(GroupID("g")), groupName: text, opUser: "{}", applicationID: text, reason: text,
          data: text, timestamp: 1, platform: text.map { _ in .web }), isRead: false)
    }
    #expect(try names(notification("x")) == (try described("SystemNotification")))
    #expect(try names(notification(nil)) == (try described("SystemNotification", required: true)))
  }

  @Test func tips() throws {
    let info = MemberInfo(member)
    func written(_ content: GroupTips.Content) throws -> Set<String> {
      try names(GroupTips(content, by: info, memberCount: 1))
    }
    let required = try described("Tips", required: true)
    #expect(try written(.create([])) == required)
    #expect(try written(.create([info])) == required.union(["memberList"]))
    #expect(try written(.invite([info], isAccepted: false)) == required.union(["memberList"]))
    #expect(try written(.invite([info], isAccepted: true)) == required.union(["memberList", "isAccepted"]))
    #expect(try written(.groupInfoChange([])) == required.union(["changeInfoList"]))
    #expect(try described("Tips") == required.union(["memberList", "changeInfoList", "isAccepted"]))
  }

  @Test func messages() throws {
    let written = try [Message.Content.text("x"), .custom("x"), .tips("{}")].map { content in
      var sent = try message(content)
      sent.extras = MessageExtras(
        extension: "x", replyTo: ReplyReference(seq: 1, sender: user), isExcludedFromUnreadCount: true,
        isExcludedFromLastMessage: true, toUserIDList: [user])
      return try names(MessageInfo(sent, senderProfile: profile))
    }
    // No message written here was changed or answered, or has receipts.
    let others: Set = ["isRevoked", "changeSeq", "editTime", "isPinned", "reactions", "needReadReceipt", "replyCount"]
    #expect(written.reduce([]) { $0.union($1) } == (try described("Message")).subtracting(others))
    var changed = Message(
      msgID: "", groupID: try #require(GroupID("g")), seq: 1, sender: .administrator, nameCard: "", timestamp: 1,
      content: .text("x"), priority: .normal, clientMsgID: nil, platform: .web, needReadReceipt: true)
    (changed.changeSeq, changed.editTime, changed.isPinned) = (1, 1, true)
    var info = MessageInfo(changed)
    info.reactions = [.example]
    info.replyCount = 1
    changed.isRevoked = true
    #expect(others.isSubset(of: try names(info).union(names(MessageInfo(changed)))))
    for names in written { #expect(try described("Message", required: true).isSubset(of: names)) }
  }
}
