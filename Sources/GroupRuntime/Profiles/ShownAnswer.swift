import GroupModel
import WireProtocol

/// A result that shows profiles and needs nothing else of the store.
enum ShownAnswer: Sendable {
  /// The group's info, whose newest message names users.
  /// - Parameter replies: where that message may have replies; nil = it has none.
  case groupInfo(GroupInfo, replies: HistoryScope?)
  /// A page of the list of members.
  /// - Parameter departures: who has left, on the first page of a list of changes.
  case memberList([ListedMember], nextSeq: Int64, departures: GetGroupMemberList.Departures?)
  /// A page of members of some kind.
  case memberPage([ListedMember], nextSeq: Int64)
  /// Some members.
  case membersInfo([ListedMember])

  /// Whether it shows a message that may have reactions or replies.
  var showsChangedMessage: Bool {
    guard case .groupInfo(let info, let replies) = self, let message = info.lastMessage?.message else { return false }
    return replies != nil || message.changeSeq > 0 && !message.isRevoked
  }

  /// The users whose profiles it shows.
  var users: [UserID] {
    switch self {
    case .groupInfo(let info, _): info.lastMessage?.users ?? []
    case .memberList(let members, _, _), .memberPage(let members, _), .membersInfo(let members): members.map(\.member.userID)
    }
  }

  /// The result with profiles.
  /// - Parameter maxBytes: where a list of members ends early, with one member at least.
  func result(showing profiles: [UserID: UserProfile], maxBytes: Int) -> ReplyValue {
    switch self {
    case .groupInfo(var info, _):
      info.lastMessage?.show(profiles)
      return .groupInfo(info)
    case .memberList(let members, let nextSeq, let departures):
      let shown = members.map { ShownMember($0, profiles: profiles) }
      let count = max(1, ShownAnswer.countThatFits(shown, maxBytes: maxBytes))
      let next = count < shown.count ? MemberOrder.nextSeq(after: members[count - 1].member) : nextSeq
      return .memberList(
        GetGroupMemberList.Result(memberList: Array(shown.prefix(count)), nextSeq: next, departures: departures))
    case .memberPage(let members, let nextSeq):
      return .memberPage(MemberPage(memberList: members.map { ShownMember($0, profiles: profiles) }, nextSeq: nextSeq))
    case .membersInfo(let members):
      return .membersInfo(GetGroupMembersInfo.Result(memberList: members.map { ShownMember($0, profiles: profiles) }))
    }
  }

  /// How many of the members have room in so many bytes.
  private static func countThatFits(_ members: [ShownMember], maxBytes: Int) -> Int {
    var bytes = 0
    let end = members.firstIndex { member in
      bytes += member.byteCount
      return bytes > maxBytes
    }
    return end ?? members.count
  }
}
