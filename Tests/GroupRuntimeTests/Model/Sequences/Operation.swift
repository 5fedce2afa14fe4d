import ThrongTestKit

/// One of the sessions that a user can have.
struct SessionName: Hashable, Comparable, Sendable, CustomStringConvertible {
  let user: String
  let number: Int

  var description: String { "\(user)/\(number)" }

  static func < (a: SessionName, b: SessionName) -> Bool { (a.user, a.number) < (b.user, b.number) }
}

/// The origin of an operation.
enum Operator: Hashable, Sendable, CustomStringConvertible {
  /// Without a session it is the application's backend with `asUser`.
  case user(String, session: Int?)
  case administrator
  /// Clocks, networks and machines.
  case world

  /// The user; nil for everything else.
  var name: String? { if case .user(let name, _) = self { name } else { nil } }

  var session: SessionName? {
    if case .user(let name, let number?) = self { SessionName(user: name, number: number) } else { nil }
  }

  /// The platform in messages and events.
  var platform: String {
    switch session?.number {
    case 1: "Web"
    case 2: "iOS"
    default: "RESTful API"
    }
  }

  var description: String {
    switch self {
    case .user(let name, let session): "\(name)/\(session.map { String($0) } ?? "backend")"
    case .administrator: "administrator"
    case .world: "world"
    }
  }

  init(_ text: some StringProtocol) {
    let parts = text.split(separator: "/")
    switch (String(text), parts.count) {
    case ("administrator", _): self = .administrator
    case ("world", _): self = .world
    default: self = .user(String(parts[0]), session: parts.count > 1 ? Int(parts[1]) : nil)
    }
  }
}

/// The operations: events around the group, and the methods that one group answers.
enum Verb: String, CaseIterable, Sendable {
  case wait, signIn, signOut
  /// A user has another profile.
  case setSelfInfo
  /// The group is forgotten and read from the store again.
  case reload
  /// Retention removes the messages up to `seq`.
  case retain
  /// The process dies, with all sessions, and another one starts.
  case restart
  /// Members and others make changes of themselves in one moment, and they are decided together:
  /// `joins`, `edits` (of the `nameCard`) and `quits` name the users.
  case actTogether
  /// A user is deleted, and everything is done at once; `messages` says what becomes of theirs.
  case deleteUser

  case createGroup, importGroup, joinGroup, quitGroup, dismissGroup, recycleGroup
  case setGroupInfo, muteGroup, transferGroupOwner, setGroupMemberRole, setGroupMemberInfo, muteGroupMember
  case inviteUserToGroup, acceptGroupApplication, refuseGroupApplication, kickGroupMember, unbanGroupMember
  case sendGroupTextMessage, sendGroupCustomMessage, sendGroupSignal
  case revokeGroupMessage, reportMessage, markGroupMessageAsRead, setGroupReceiveMessageOpt
  case setConversation, clearGroupHistory
  case modifyGroupMessage, pinGroupMessage, addMessageReaction, removeMessageReaction
  case initGroupAttributes, setGroupAttributes, deleteGroupAttributes, getGroupAttributes
  case setGroupCounters, increaseGroupCounter, decreaseGroupCounter, getGroupCounters
  case sendMessageReadReceipts, getMessageReadReceipts, getGroupMessageReadMemberList
  case sendGroupSystemNotification, importGroupMembers, importGroupMessages, setUnreadCount

  case getGroupsInfo, getJoinedGroupList, searchGroups, syncGroups, getGroupUnreadCount, getGroupHistoryMessageList
  case getPinnedGroupMessageList, getMessageReactions, getGroupMessages, getGroupMessageReplies
  case getGroupMemberList, getGroupMembersInfo, getGroupMutedMembers, getGroupBannedMembers, getGroupMemberInviters
  case getGroupMemberRoles
  case getGroupOnlineMemberCount
}

/// One step of a sequence, as one line of text: who, what, and the params of the method as on the
/// wire. Params that begin with `$` are not the method's:
/// - `$times`: how often it is done, one after the other;
/// - `$unknown`, `$atLimit`: users whom the store does not know, or who are in as many groups as
///   one may be;
/// - `$roomLimit`: there are as many AVChatRooms as there may be;
/// - `$with`: who recalls the same message at the same time;
/// - `$read`: who has marked the application as read;
/// - `$stale`: the application is given to the group as it was when it was made;
/// - `$full`: the reporter has made as many reports as may be;
/// - `$failed`: the group is read again at once, because the store could not keep something;
/// - `$whenGone`: only where the groupID is not in use.
///
/// Values may point at what there is when the step is done: `"$last-2"` is a seq, `"$place-2"` a place, `"$now-1000"` and
/// `"$later-1000"` are instants, `"$application-0"` the newest application, `"$epoch"` the group's
/// epoch. Users may be pointed at by what they are: `$owner`, `$admin-1`, `$lesser-1` (not the
/// owner), `$member-3`, `$outsider-0`, `$user-5` (anybody), and whoever decides by `$decider`.
struct Operation: Hashable, Sendable, CustomStringConvertible {
  var by: Operator
  let verb: Verb
  var params: [String: JSON]

  init(_ by: Operator, _ verb: Verb, _ params: [String: JSON] = [:]) {
    self.by = by
    self.verb = verb
    self.params = params
  }

  struct BadLine: Error { let line: String }

  /// The operation of a line that `description` made.
  init(_ line: some StringProtocol) throws {
    let parts = line.split(separator: " ", maxSplits: 2)
    guard parts.count == 3, let verb = Verb(rawValue: String(parts[1])) else { throw BadLine(line: String(line)) }
    self.init(Operator(parts[0]), verb, try JSON(reading: Array(parts[2].utf8)).members)
  }

  var description: String { "\(by) \(verb) \(JSON.object(params).text)" }

  /// How often it is done.
  var times: Int { params["$times"]?.int ?? 1 }

  subscript(name: String) -> JSON { params[name] ?? .null }

  /// `userIDList`: "one row per distinct userID".
  var users: [String] {
    var users: [String] = []
    for user in self["userIDList"].strings where !users.contains(user) { users.append(user) }
    return users
  }
}
