import GroupModel

/// The contract's rules for one group, said once more and plainly: who is in, who owns, what the last seq is, who hears what.
struct GroupModelOfRules {
  /// What one operation must come to.
  struct Expectation: Equatable {
    var code = 0
    /// Receivers by the name of the event.
    var events: [String: Set<String>] = [:]
    /// The first use of the clientMsgID, where this is another one.
    var repeats: Int?

    static func refused(_ code: Int) -> Expectation { Expectation(code: code) }
  }

  private struct Mark: Hashable { let user, clientMsgID: String }

  let type: GroupType
  private(set) var exists = false
  /// In the order of their coming; the owner is one of them.
  private(set) var members: [(name: String, role: Role)] = []
  private(set) var lastSeq = 0
  private var settings: [String: String] = [:]
  private var marks: [Mark: (time: Int64, index: Int)] = [:]
  private var time: Int64 = 0
  private var index = -1

  init(type: GroupType) { self.type = type }

  var owner: String? { members.first { $0.role == .owner }?.name }
  private var names: Set<String> { Set(members.map(\.name)) }
  private var notifies: Bool { settings["memberChangeNotification"] == "true" }
  private func role(of user: String) -> Role? { members.first { $0.name == user }?.role }
  private mutating func store() { if type.storesMessages { lastSeq += 1 } }

  mutating func apply(_ operation: Operation) -> Expectation {
    index += 1
    switch operation {
    case .wait(let milliseconds):
      time += milliseconds
      return Expectation()
    case .create(let user, let others): return create(user, others)
    case .join, .quit, .dismiss, .send, .set:
      if !exists { return .refused(10010) }
      return act(operation)
    }
  }

  private mutating func act(_ operation: Operation) -> Expectation {
    switch operation {
    case .join(let user): join(user)
    case .quit(let user): quit(user)
    case .dismiss(let user): dismiss(user)
    case .send(let user, let mark, let onlineUserOnly): send(user, mark, onlineUserOnly)
    case .set(let user, let field, let value): set(user, field, value)
    case .wait, .create: Expectation()
    }
  }

  private mutating func create(_ user: String, _ others: [(name: String, role: Role)]) -> Expectation {
    if exists { return .refused(owner == user ? 10025 : 10021) }
    exists = true
    members = [(user, .owner)] + others.filter { $0.name != user }
    lastSeq = 0
    marks = [:]
    settings = ["groupName": #""n""#, "allMuted": "false", "maxMemberNum": type.limitsMembers ? "6000" : "0"]
    settings["joinMode"] = [.work: #""Forbid""#, .public: #""Auth""#][type] ?? #""Any""#
    settings["ownerQuitMode"] = type == .work ? #""Transfer""# : #""Forbid""#
    settings["memberChangeNotification"] = type == .meeting ? "false" : "true"
    return Expectation(events: ["onGroupCreated": names])
  }

  private mutating func join(_ user: String) -> Expectation {
    if role(of: user) != nil { return .refused(10013) }
    if type == .work { return .refused(8508) }
    if settings["joinMode"] == #""Forbid""# { return .refused(10007) }
    if type.limitsMembers, members.count >= Int(settings["maxMemberNum"] ?? "") ?? 0 { return .refused(10014) }
    if settings["joinMode"] == #""Auth""# { return .refused(10007) }
    members.append((user, .member))
    if notifies { store() }
    return Expectation(events: ["onMemberEnter": notifies ? names : [user]])
  }

  private mutating func quit(_ user: String) -> Expectation {
    guard let role = role(of: user) else { return .refused(10007) }
    var events: [String: Set<String>] = ["onQuitFromGroup": [user]]
    if role == .owner {
      if settings["ownerQuitMode"] == #""Forbid""# { return .refused(10009) }
      guard let heir = members.firstIndex(where: { $0.name != user }) else {
        exists = false
        members = []
        return Expectation(events: ["onQuitFromGroup": [user], "onGroupDismissed": [user]])
      }
      events["onGroupInfoChanged"] = names
      members[heir].role = .owner
      store()
    }
    members.removeAll { $0.name == user }
    if notifies {
      store()
      events["onMemberLeave"] = names
    }
    return Expectation(events: events)
  }

  private mutating func dismiss(_ user: String) -> Expectation {
    guard role(of: user) == .owner, type != .work else { return .refused(10007) }
    defer {
      exists = false
      members = []
    }
    return Expectation(events: ["onGroupDismissed": names])
  }

  private mutating func send(_ user: String, _ clientMsgID: String?, _ onlineUserOnly: Bool) -> Expectation {
    guard let role = role(of: user) else { return .refused(10007) }
    let mark = clientMsgID.map { Mark(user: user, clientMsgID: $0) }
    if let mark, let first = marks[mark], time - first.time < 300_000 { return Expectation(repeats: first.index) }
    if settings["allMuted"] == "true", role == .member { return .refused(10017) }
    if let mark { marks[mark] = (time, index) }
    if !onlineUserOnly { store() }
    let others = names.subtracting([user])
    return Expectation(events: others.isEmpty ? [:] : ["onRecvNewMessage": others])
  }

  private mutating func set(_ user: String, _ field: String, _ value: String) -> Expectation {
    guard let role = role(of: user) else { return .refused(10007) }
    // The lowest role for texts, then for policy, size and mute.
    let bars: (text: Int, policy: Int) = [.work: (1, 3), .public: (2, 2), .meeting: (2, 2)][type] ?? (3, 3)
    if role.rank < (field == "groupName" ? bars.text : bars.policy) { return .refused(10007) }
    if field == "maxMemberNum" {
      guard type.limitsMembers, let size = Int(value) else { return .refused(10007) }
      if size < members.count { return .refused(10038) }
    }
    if settings[field] == value { return Expectation() }
    if field == "joinMode", type == .work { return .refused(10007) }
    if field == "ownerQuitMode", type == .avChatRoom { return .refused(10007) }
    settings[field] = value
    store()
    return Expectation(events: ["onGroupInfoChanged": names])
  }
}
