import GroupModel
import GroupRuntime
import ThrongTestKit

let alice = UserID("alice")!
let bob = UserID("bob")!
let carol = UserID("carol")!
let club = GroupID("club")!
let team = GroupID("@TGS#TEAM")!

extension GroupRecord {
  static func sample(_ id: GroupID = club, type: GroupType = .public, epoch: String = "e1") -> GroupRecord {
    GroupRecord(
      id: id, type: type, epoch: epoch, createTime: 1_000, owner: alice, name: "Club", maxMemberNum: 6000,
      policy: GroupPolicy(
        joinMode: .auth, inviteMode: .nobody, beInviteMode: .none, updateInfoMode: .admin, updateCustomMode: .owner,
        ownerQuitMode: .forbid, memberChangeNotification: true, isSearchable: false, isMemberVisible: true,
        historyVisibility: type.defaultHistoryVisibility))
  }
}

extension Member {
  static func sample(_ user: UserID, ordinal: Int64 = 1, at time: WallInstant = 1_000) -> Member {
    Member(userID: user, role: .member, joinTime: time, ordinal: ordinal, receiveOption: .receive)
  }
}

extension Message {
  static func sample(
    _ seq: Int64?, in group: GroupID = club, from sender: UserID = alice, at time: WallInstant? = nil,
    _ content: Content = .text("hi"), clientMsgID: String? = nil, isFromManager: Bool = false,
    needReadReceipt: Bool = false
  ) -> Message {
    Message(
      msgID: "\(group)-\(seq ?? 0)", groupID: group, seq: seq, sender: sender, nameCard: "",
      timestamp: time ?? WallInstant(seq ?? 0),
      content: content, priority: .normal, clientMsgID: clientMsgID, platform: .web,
      isFromManager: isFromManager, needReadReceipt: needReadReceipt)
  }
}

extension GroupApplication {
  /// A request of carol's to join, or bob's invitation of carol.
  static func sample(
    _ id: String, to group: GroupID = club, epoch: String = "e1", _ kind: Kind = .join, from user: UserID? = nil,
    inviting invited: UserID = carol, at time: WallInstant = 10
  ) -> GroupApplication {
    GroupApplication(
      id: id, groupID: group, epoch: epoch, kind: kind, fromUser: user ?? (kind == .join ? carol : bob),
      toUser: kind == .join ? nil : invited, addTime: time, requestMsg: "please")
  }

  /// The same, decided.
  func handled(at time: WallInstant = 20) -> GroupApplication {
    var application = self
    application.handling = Handling(isAgreed: true, by: alice, time: time, message: "")
    return application
  }
}

extension MessageReport {
  /// A report of the first message of the club.
  /// - Parameter isPlain: it has nothing that it may lack.
  static func sample(by reporter: UserID, of msgID: String = "club-1", at time: WallInstant = 10, isPlain: Bool = false)
    -> MessageReport
  {
    MessageReport(
      id: MessageReport.id(of: msgID, by: reporter), groupID: club, epoch: "e1", seq: isPlain ? nil : 1, msgID: msgID,
      reporter: reporter, category: isPlain ? nil : "sp\0am", text: isPlain ? nil : "e\u{301}\0", time: time,
      message: Array(#"{"msgID":"club-1"}"#.utf8))
  }
}

extension SystemNotification {
  static func sample(_ kind: Kind = .quitGroup, at time: WallInstant = 10, data: String? = nil) -> SystemNotification {
    SystemNotification(kind: kind, groupID: club, opUser: "{}", data: data, timestamp: time)
  }
}

extension StoreChange {
  /// A new group of the sample's kind.
  static func create(_ id: GroupID = club, type: GroupType = .public, epoch: String = "e1") -> StoreChange {
    .putGroup(.sample(id, type: type, epoch: epoch), isNew: true)
  }

  static func join(_ user: UserID, _ group: GroupID = club) -> StoreChange { .putMember(.sample(user), in: group) }

  /// A member with a role.
  static func join(_ user: UserID, _ group: GroupID = club, as role: Role) -> StoreChange {
    var member = Member.sample(user)
    member.role = role
    return .putMember(member, in: group)
  }

  /// A new application or one that was made again.
  static func apply(_ application: GroupApplication) -> StoreChange { .putApplication(application, asNewest: true) }
}

/// Texts that a store might change: with NUL, in Unicode forms that compare equal, from all planes,
/// empty.
let difficultTexts = [
  "", "\0", "a\0b", "\0\0end\0", "Füße 群聊 \0 👩‍👩‍👧‍👦", "e\u{301}", "\u{e9}", "\u{feff}bom", "\u{2028}\u{2029}\u{7f}\u{85}",
  "\u{10ffff}\u{fffe}\u{fffd}", "'; DROP TABLE message; --", "line\r\nline\ttab", String(repeating: "长", count: 4096) + "\0",
]

extension String {
  /// Swift's == takes canonically equivalent texts for equal; a store must keep the bytes.
  var bytes: [UInt8] { Array(utf8) }
}

// Shorthands for most tests.

extension StoreChange {
  static func dismiss(_ group: GroupID, at time: WallInstant) -> StoreChange { .dismiss(group, at: time, notifying: nil) }
}

extension GroupStore {
  /// The group with everybody of whom anything was ever to be remembered.
  func group(_ id: GroupID, sentSince: WallInstant) async throws(StoreError) -> StoredGroup? {
    try await group(id, sentSince: sentSince, at: 0, mostFormer: .max)
  }

  func departures(of user: UserID, from type: GroupType?, since: WallInstant) async throws(StoreError) -> [GroupID] {
    try await departures(of: user, type: type, since: since, after: 0, limit: 100).map(\.groupID)
  }
}

extension MessageStore {
  func unreadCount(of group: GroupID, after: Int64, reader: UserID, managersOnly: Bool) async throws(StoreError) -> Int {
    try await unreadCount(
      of: group, in: after + 1...1_000_000, reader: reader, managersOnly: managersOnly, skipsFlagged: true, limit: 1000)
  }
}

extension PersonalStore {
  func unreadApplications(of user: UserID?) async throws(StoreError) -> Int {
    try await unreadApplications(of: user, limit: 1000)
  }
}
