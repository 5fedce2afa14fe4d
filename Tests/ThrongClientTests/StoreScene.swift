import Foundation

@testable import ThrongClient

/// A store's rules with rows that a test makes: no disk, no server.
struct StoreScene {
  var draft: StoreDraft

  /// - Parameter groupID: a Public group in which the user has read up to 8, and which is stored from 4 to 10.
  init(limits: StorageLimits = StorageLimits(), groupID: String = "g", type: GroupType = .public) {
    var state = StoreState(userID: "alice", limits: limits)
    state.memberCounts = [groupID: 0]
    state.profileCount = 0
    draft = StoreDraft(state)
    var info = StoreScene.info(groupID, type: type, lastSeq: 3, changeSeq: 1)
    info.selfInfo?.readSeq = 3
    draft.apply(.entered(info))
    for seq in 4...10 { draft.apply(StoreScene.message(seq, in: groupID)) }
    draft.apply(.server(.onConversationRead(.init(groupID: groupID, opTime: 1, readSeq: 8)), bytes: 0))
  }

  static func info(
    _ groupID: String = "g", type: GroupType = .public, lastSeq: Int = 0, changeSeq: Int = 0, epoch: String = "e"
  ) -> GroupInfo {
    GroupInfo(
      groupID: groupID, groupType: type, groupName: "group", introduction: "", faceURL: "", owner: "bob", createTime: 1,
      lastSeq: lastSeq, firstSeq: type == .avChatRoom ? nil : 1, changeSeq: changeSeq, epoch: epoch, memberCount: 3,
      onlineCount: 1, maxMemberNum: 100, customInfo: [:],
      selfInfo: SelfInfo(
        role: "Member", joinTime: 1, nameCard: "", muteUntil: 0, receiveMessageOpt: .receive, readSeq: 0, unreadCount: 0,
        customInfo: [:]))
  }

  static func text(_ seq: Int, in groupID: String = "g", by sender: String = "bob", changeSeq: Int? = nil) -> GroupMessage {
    GroupMessage(
      msgID: "m\(seq)", groupID: groupID, seq: seq, sender: sender, timestamp: 1_000 + seq, type: .text, text: "\(seq)",
      priority: .normal, changeSeq: changeSeq, platform: "Web")
  }

  static func message(_ seq: Int, in groupID: String = "g", by sender: String = "bob") -> StoreEvent {
    .server(
      .onRecvNewMessage(.init(groupID: groupID, opTime: 1_000 + seq, message: text(seq, in: groupID, by: sender))), bytes: 100)
  }

  static func recall(_ seq: Int, changeSeq: Int) -> StoreEvent {
    .server(
      .onRecvMessageRevoked(
        .init(
          groupID: "g", opTime: 1, opUser: MemberInfo(userID: "bob"), platform: "Web", msgID: "m\(seq)", seq: seq,
          changeSeq: changeSeq)), bytes: 100)
  }

  mutating func apply(_ events: StoreEvent...) { for event in events { draft.apply(event) } }

  func row(_ groupID: String = "g") -> ConversationRow? { draft.state.conversations[groupID] }

  var unread: Int? { row()?.info.selfInfo?.unreadCount }
  var window: [Int]? { draft.state.windows["g"] }
}
