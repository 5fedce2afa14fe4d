import Foundation
import GroupModel
import Testing
import ThrongTestKit

@testable import WireProtocol

/// `nickName` and `faceURL` beside every userID of a member and every sender, exactly where they
/// are not empty (Protocol.md, "Profiles").
@Suite struct ProfileTests {
  private typealias Object = [String: Any]

  /// Every object in a value, with the names that lead to it.
  private func objects(in value: Any, path: [String] = []) -> [(path: [String], object: Object)] {
    if let list = value as? [Any] { return list.flatMap { objects(in: $0, path: path) } }
    guard let object = value as? Object else { return [] }
    return [(path, object)] + object.flatMap { objects(in: $0.value, path: path + [$0.key]) }
  }

  private func parsed(_ text: [UInt8]) throws -> Any { try JSONSerialization.jsonObject(with: Data(text)) }

  /// Checks that members and senders show their profiles, and nobody else does.
  private func expectShown(_ profiles: [UserID: UserProfile], in text: [UInt8], _ comment: String) throws {
    // "In a message: {seq, sender}": the answered message is named, and not shown.
    for (path, object) in objects(in: try parsed(text)) where path.last != "replyTo" {
      let isMember = !path.contains("changeInfoList") && object["userID"] != nil
      let name = (object["sender"] ?? (isMember ? object["userID"] : nil)) as? String
      let profile = name.flatMap { UserID($0) }.flatMap { profiles[$0] }
      let (nickName, faceURL) = (profile?.nickName ?? "", profile?.faceURL ?? "")
      #expect(object["nickName"] as? String == (nickName.isEmpty ? nil : nickName), "\(comment) \(path)")
      if name != nil {
        #expect(object["faceURL"] as? String == (faceURL.isEmpty ? nil : faceURL), "\(comment) \(path)")
      }
    }
  }

  private static let ofGroups = EventName.allCases.filter { $0.example is GroupEvent && !shownBySender.contains($0) }
  /// These show their sender's profile alone, which comes with the event.
  private static let shownBySender: Set<EventName> = [.onRecvNewMessage, .onGroupSignal]

  @Test(arguments: ofGroups) func anEventShowsThoseThatAreGiven(name: EventName) throws {
    for seed in 1...60 as ClosedRange<UInt64> {
      var samples = Samples(seed: seed)
      guard var event = samples.event(name) as? GroupEvent else { return }
      let users = Set(event.members.map(\.userID)).filter { $0 != .administrator }
      var profiles: [UserID: UserProfile] = [:]
      for user in users { profiles[user] = samples.flag() ? samples.profile() : nil }
      try expectShown([:], in: event.frame, "before")
      event.show(profiles)
      try expectShown(profiles, in: event.frame, "seed \(seed)")
      // Everybody whom the event shows is among those who are looked up.
      let shown = objects(in: try parsed(event.frame)).filter { !$0.path.contains("changeInfoList") }
      let named = Set(shown.compactMap { $0.object["userID"] as? String })
      #expect(named.subtracting(["administrator"]) == Set(users.map(\.rawValue)), "\(name)")
    }
  }

  /// Pages end by their bytes, which are known before they are written.
  @Test func aListedMemberIsNoLongerThanItSays() {
    for seed in 1...200 as ClosedRange<UInt64> {
      var samples = Samples(seed: seed)
      let member = samples.member()
      let profiles = samples.profile().map { [member.userID: $0] } ?? [:]
      let present = ListedMember(member, isOnline: samples.flag(), isReader: samples.flag())
      for listed in [present, ListedMember(former: member.userID)] {
        let shown = ShownMember(listed, profiles: profiles)
        let bytes = Encoded(shown).text.count
        #expect(bytes < shown.byteCount && shown.byteCount <= 6 * bytes + 256, "seed \(seed)")
      }
    }
  }

  // MARK: Messages and tips

  /// With the characters that JSON escapes.
  private static let users = ["mary", #"a"b"#, #"\"#, #""},{""#, "~!"].map { UserID($0)! }

  private func tips(_ content: GroupTips.Content, by user: MemberInfo) throws -> Message {
    let text = String(decoding: Encoded(GroupTips(content, by: user, memberCount: 3)).text, as: UTF8.self)
    return Message(
      msgID: "m", groupID: try #require(GroupID("g")), seq: 1, sender: user.userID, nameCard: #"{"userID":"x"}"#, timestamp: 1,
      content: .tips(text), priority: .normal, clientMsgID: nil, platform: .web)
  }

  private func member(_ user: UserID, card: String = #"","userID":"mary"#) -> MemberInfo {
    MemberInfo(
      Member(userID: user, role: .custom(200), joinTime: 1, ordinal: 1, receiveOption: .receive, nameCard: card))
  }

  private func profiles(of users: [UserID]) -> [UserID: UserProfile] {
    var profiles: [UserID: UserProfile] = [:]
    for user in users { profiles[user] = .make(nickName: #"N "\#(user)" \"#, faceURL: user == Self.users[0] ? "" : "f\n") }
    return profiles
  }

  @Test func tipsShowTheMembersAndTheOperator() throws {
    let list = Self.users.map { member($0) }
    let contents: [GroupTips.Content] = [
      .join(list), .invite(list, isAccepted: false), .invite(list, isAccepted: true), .quit(list), .kicked(list), .setAdmin(list),
      .cancelAdmin(list), .create(list),
    ]
    for content in contents {
      for count in 0...Self.users.count {
        var info = MessageInfo(try tips(content, by: member(Self.users[1])))
        #expect(Set(info.users) == Set(Self.users))
        let before = Encoded(info).text
        try expectShown([:], in: before, "before")
        let shown = profiles(of: Array(Self.users.prefix(count)))
        info.show(shown)
        try expectShown(shown, in: Encoded(info).text, "\(count) profiles")
        info.show([:])
        #expect(count > 0 || Encoded(info).text == before)
      }
    }
  }

  /// Entries of changeInfoList are no members.
  @Test func tipsOfChangesShowTheOperatorAlone() throws {
    var change = MemberChange(userID: Self.users[1])
    change.nameCard = #"],"memberList":[{"userID":"mary""#
    change.role = .custom(100)
    let infos = [InfoChange.text("GroupName", #","memberList":[{"userID":"mary""#), .text("Owner", "mary")]
    for content in [GroupTips.Content.memberInfoChange([change]), .groupInfoChange(infos)] {
      var info = MessageInfo(try tips(content, by: member(Self.users[2])))
      #expect(Set(info.users) == [Self.users[2]])
      info.show(profiles(of: Self.users))
      try expectShown(profiles(of: Self.users), in: Encoded(info).text, "changes")
    }
  }

  @Test func theApplicationHasNone() throws {
    var info = MessageInfo(try tips(.kicked([member(Self.users[0])]), by: .administrator))
    #expect(info.users == [Self.users[0]])
    info.show(profiles(of: Self.users))
    try expectShown(profiles(of: Self.users), in: Encoded(info).text, "kicked by the application")
  }

  @Test(arguments: ["", "{}", "[]", "x", #"{"type":"#, #"{"type":"Join","opUser":{"userID":"a"#]) func textsThatAreNoTipsStay(
    text: String
  ) {
    #expect(TipsProfiles(text).text(showing: profiles(of: Self.users)) == text)
  }

  // MARK: Notifications

  @Test func aNotificationShowsTheOperatorsOfThatTime() throws {
    for profile in [nil, UserProfile.make(nickName: #"""#, faceURL: "f"), .make(nickName: "", faceURL: "f")] {
      let opUser = String(decoding: Encoded(member(Self.users[1])).text, as: UTF8.self)
      let notification = SystemNotification(
        kind: .kickedOff, groupID: try #require(GroupID("g")), opUser: opUser, timestamp: 1, platform: .iOS,
        operatorProfile: profile)
      let text = Encoded(NotificationInfo(number: 1, notification: notification, isRead: false)).text
      let object = try #require(try parsed(text) as? Object)
      let shown = try #require(object["opUser"] as? Object)
      #expect(
        shown["userID"] as? String == #"a"b"# && shown["role"] as? String == "200" && object["platform"] as? String == "iOS")
      #expect(shown["nickName"] as? String == (profile?.nickName.isEmpty == false ? profile?.nickName : nil))
      #expect(shown["faceURL"] as? String == profile?.faceURL)
    }
  }

  // MARK: Changing a user's texts

  @Test func onlyWhatIsDifferentIsToldAndCustomInfoMerges() throws {
    var info = UserInfo(userID: Self.users[0], nickName: "é", customInfo: ["a": "1", "b": "2"])
    #expect(try info.apply(UserInfoFields()) == UserInfoFields())
    #expect(try info.apply(UserInfoFields(nickName: "é", faceURL: "", customInfo: ["a": "1", "c": ""])) == UserInfoFields())
    // The same to Unicode, and other bytes.
    #expect(try info.apply(UserInfoFields(nickName: "e\u{301}")) == UserInfoFields(nickName: "e\u{301}"))
    let changed = try info.apply(UserInfoFields(nickName: "", faceURL: "f", customInfo: ["a": "", "c": "3"]))
    #expect(changed == UserInfoFields(nickName: "", faceURL: "f", customInfo: ["b": "2", "c": "3"]))
    #expect(info == UserInfo(userID: Self.users[0], faceURL: "f", customInfo: ["b": "2", "c": "3"]))
    #expect(throws: WireError.self) {
      try info.apply(UserInfoFields(customInfo: Dictionary(uniqueKeysWithValues: (0..<9).map { ("k\($0)", "v") })))
    }
  }
}
