#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What an event of the server, or a tip of a history, tells of a group and its members.
struct GroupNews {
  enum Change {
    case came([MemberInfo])
    case left([MemberInfo])
    case roles([MemberInfo])
    case members([MemberChange])
    case info([ServerEvent.GroupInfoChanged.ChangeInfoRow])
  }

  let change: Change
  /// When, by the server's clock.
  let time: Int
  /// The members afterwards; nil = as many as before.
  let memberCount: Int?

  /// Whether it changes what the group is, which a live room's conversation shows too.
  var isOfInfo: Bool { if case .info = change { true } else { false } }

  /// The users whose rows it may change.
  /// - Parameter owner: the group's.
  func userIDs(owner: String?) -> [String] {
    switch change {
    case .came(let members), .left(let members), .roles(let members): return members.map(\.userID)
    case .members(let changes): return changes.map(\.userID)
    case .info(let changes):
      // A new owner's role changes, and that of the owner before.
      let owners = changes.compactMap(\.newOwner)
      return owners.isEmpty ? [] : owners + [owner].compactMap { $0 }
    }
  }
}

extension ServerEvent {
  /// Nil = it tells nothing of the kind.
  var news: GroupNews? {
    switch self {
    case .onMemberEnter(let event):
      GroupNews(change: .came(event.memberList), time: event.opTime, memberCount: event.memberCount)
    case .onMemberInvited(let event):
      GroupNews(change: .came(event.memberList), time: event.opTime, memberCount: event.memberCount)
    case .onMemberLeave(let event):
      GroupNews(change: .left(event.memberList), time: event.opTime, memberCount: event.memberCount)
    case .onMemberKicked(let event):
      GroupNews(change: .left(event.memberList), time: event.opTime, memberCount: event.memberCount)
    case .onGrantAdministrator(let event):
      GroupNews(change: .roles(event.memberList), time: event.opTime, memberCount: nil)
    case .onRevokeAdministrator(let event):
      GroupNews(change: .roles(event.memberList), time: event.opTime, memberCount: nil)
    case .onGroupMemberInfoChanged(let event):
      GroupNews(change: .members(event.changeInfoList), time: event.opTime, memberCount: nil)
    case .onGroupInfoChanged(let event):
      GroupNews(change: .info(event.changeInfoList), time: event.opTime, memberCount: nil)
    default: nil
    }
  }
}

extension GroupMessage {
  /// What a tip tells; nil = it is none, or one of a later server.
  var news: GroupNews? {
    guard let tips else { return nil }
    let members = tips.memberList ?? []
    let change: GroupNews.Change? =
      switch tips.type {
      case .join, .invite: .came(members)
      case .quit, .kicked: .left(members)
      case .setAdmin, .cancelAdmin: .roles(members)
      case .memberInfoChange: tips.changes().map(GroupNews.Change.members)
      case .groupInfoChange: tips.changes().map(GroupNews.Change.info)
      default: nil
      }
    return change.map { GroupNews(change: $0, time: timestamp, memberCount: tips.memberCount) }
  }
}

extension GroupTips {
  /// The entries of changeInfoList; nil = they are of another type.
  fileprivate func changes<Change: Decodable>() -> [Change]? {
    guard let changeInfoList else { return nil }
    do {
      return try JSONDecoder().decode([Change].self, from: try JSONEncoder().encode(changeInfoList))
    } catch {
      // A later server's: the application has the tip as it is.
      return nil
    }
  }
}

extension ServerEvent.GroupInfoChanged.ChangeInfoRow {
  var newOwner: String? {
    if type == "Owner", case .string(let userID) = value { userID } else { nil }
  }
}
