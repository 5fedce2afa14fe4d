import Foundation
import GroupModel
import Testing

@testable import WireProtocol

/// The named types against what is really written: neither has a member that the other lacks.
@Suite struct DescriptionValueTests {
  private let member = Member(
    userID: .administrator, role: .custom(100), joinTime: 1, ordinal: 1, receiveOption: .receive, inviter: .administrator)

  private func names(_ value: some WireEncodable) throws -> Set<String> {
    let text = JSONWriter.text { $0.value(value) }
    return Set(try #require(try JSONSerialization.jsonObject(with: Data(text)) as? [String: Any]).keys)
  }

  private func described(_ type: String, required: Bool = false) throws -> Set<String> {
    let fields = try #require(Vocabulary.type(type)).fields
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
        memberChangeNotification: true, isSearchable: true, isMemberVisible: true))
    return GroupInfo(
      record: record, now: 2, memberCount: 1, onlineCount: 1, lastSeq: 1, lastMessageTime: 1,
      lastMessage: try message(.text("x")),
      reader: reader)
  }

  @Test func groupInfo() throws {
    let whole = try names(group(.public, .member(GroupInfo.SelfInfo(member: member, unreadCount: 0))))
    #expect(whole == (try described("GroupInfo")))
    #expect(try names(group(.bChatRoom, .outsider)) == (try described("GroupInfo", required: true)))
  }

  @Test func selfInfoAndMute() throws {
    #expect(try names(GroupInfo.SelfInfo(member: member, unreadCount: 0)) == (try described("SelfInfo")))
    #expect(try names(GroupMute(mode: .custom, roles: [.member], muteUntil: 3)) == (try described("GroupMute")))
    #expect(try names(GroupMute.none) == (try described("GroupMute", required: true)))
  }

  @Test func memberInfo() throws {
    #expect(try names(ListedMember(member, isOnline: true, isReader: true)) == (try described("MemberInfo")))
    #expect(try names(MemberInfo.administrator) == (try described("MemberInfo", required: true)))
    #expect(try names(MemberInfo(member)).isSubset(of: try described("MemberInfo")))
  }

  @Test func messages() throws {
    let written = try [Message.Content.text("x"), .custom("x"), .tips("{}")].map { try names(message($0)) }
    // No message written here is recalled.
    #expect(written.reduce([]) { $0.union($1) } == (try described("Message")).subtracting(["isRevoked"]))
    var recalled = try message(.text("x"))
    recalled.isRevoked = true
    #expect(try names(recalled).contains("isRevoked"))
    for names in written { #expect(try described("Message", required: true).isSubset(of: names)) }
  }
}
