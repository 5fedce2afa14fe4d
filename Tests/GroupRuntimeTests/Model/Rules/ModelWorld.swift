import ThrongTestKit

/// A second, plain statement of the rules for one groupID: `apply` maps an operation to its
/// expected outcome. The extensions beside this file hold the rules by subject. Names that the
/// server makes (epochs, msgIDs, applicationIDs) are tokens that begin with `§`.
struct ModelWorld {
  static let users = ["ann", "bob", "cat", "dan", "eve", "fay"]

  let server: ModelServer
  var now: Int64 = 1_700_000_000_000
  var sessions: Set<SessionName> = []
  /// Nil = the groupID is not in use.
  var group: ModelGroup?
  /// The applications of all groups that ever used it, the newest last.
  var applications: [ModelApplication] = []
  /// When users left the group, or it was disbanded.
  var departures: [String: Int64] = [:]
  /// The present operation: who asks for what.
  var operation = Operation(.administrator, .wait)
  /// What is expected of it so far.
  var said = ModelExpectation()
  /// `nickName` and `faceURL` of the users who have any, without empty ones.
  var profiles: [String: [String: JSON]] = [:]
  /// The reports that are kept, each by its reporter and its message.
  var reports: Set<String> = []
  /// The names that reports have, or have had.
  var reportNames: [String: JSON] = [:]
  private var tokens: [String: Int] = [:]

  init(server: ModelServer) { self.server = server }

  /// A name that the server makes.
  mutating func token(_ kind: String) -> JSON {
    tokens[kind, default: 0] += 1
    return .string("§\(kind) \(tokens[kind]!)")
  }

  /// The expected outcome. A refused operation changes nothing.
  mutating func apply(_ operation: Operation) -> ModelExpectation {
    self.operation = operation
    let before = self
    said = ModelExpectation()
    do throws(ModelRefusal) {
      said.result = try perform()
      return said
    } catch {
      self = before
      var refusal = ModelExpectation()
      (refusal.code, refusal.retryAfterMs) = (error.code, error.retryAfterMs)
      return refusal
    }
  }

  private mutating func perform() throws(ModelRefusal) -> JSON {
    switch operation.verb {
    case .wait, .signIn, .signOut, .setSelfInfo, .reload, .retain, .restart, .deleteUser: return happen()
    case .createGroup, .importGroup:
      guard let group else { return try create() }
      throw ModelRefusal(group.owner?.name == ownerGiven() ? 10025 : 10021)
    case .acceptGroupApplication, .refuseGroupApplication: return try decide()
    default:
      guard group != nil else { throw ModelRefusal(10010) }
      return try ask()
    }
  }

  private mutating func ask() throws(ModelRefusal) -> JSON {
    switch operation.verb {
    case .actTogether: actTogether()
    case .joinGroup: try join()
    case .quitGroup: try quit()
    case .dismissGroup, .recycleGroup: try disband()
    case .setGroupInfo: try setInfo()
    case .muteGroup: try muteGroup()
    case .transferGroupOwner: try transfer()
    case .setGroupMemberRole: try setRole()
    case .setGroupMemberInfo: try setMemberInfo()
    case .muteGroupMember: try muteMember()
    case .inviteUserToGroup: try invite()
    case .kickGroupMember: try kick()
    case .unbanGroupMember: try unban()
    case .sendGroupTextMessage, .sendGroupCustomMessage: try send()
    case .sendGroupSignal: try signal()
    case .revokeGroupMessage: try revoke()
    case .reportMessage: try report()
    case .modifyGroupMessage: try modify()
    case .pinGroupMessage: try pin()
    case .getPinnedGroupMessageList: shown(try readPinned())
    case .addMessageReaction, .removeMessageReaction: try react()
    case .getMessageReactions: try readReactions()
    case .markGroupMessageAsRead: try markRead()
    case .setConversation: try setConversation()
    case .clearGroupHistory: try clearHistory()
    case .sendMessageReadReceipts: try confirm()
    case .getMessageReadReceipts: try receipts()
    case .getGroupMessageReadMemberList: shown(try readMembersOfMessage())
    case .setGroupReceiveMessageOpt: try setReceiveOption()
    case .initGroupAttributes, .setGroupAttributes, .deleteGroupAttributes: try writeAttributes()
    case .getGroupAttributes: try readAttributes()
    case .setGroupCounters, .increaseGroupCounter, .decreaseGroupCounter: try writeCounters()
    case .getGroupCounters: try readCounters()
    case .sendGroupSystemNotification: try sendCustomData()
    case .importGroupMembers: try importMembers()
    case .importGroupMessages: try importMessages()
    case .setUnreadCount: try setUnreadCount()
    default: shown(try read())
    }
  }

  /// The group of a request that got this far.
  var g: ModelGroup {
    get { group! }
    _modify { yield &group! }
  }

  // MARK: Rights

  /// The caller as a member; nil for the application.
  var asker: ModelMember? { operation.by.name.flatMap { g.anyMember($0) } }

  /// "All of these need membership (10007)"; an application administrator is not bound by it.
  func requireMembership() throws(ModelRefusal) {
    if operation.by.name != nil, asker == nil { throw ModelRefusal(10007) }
  }

  /// Whether those who may edit policy may change a field; "attributeMode (s) wherever attributes are".
  func isSettable(_ field: String, _ type: String) -> Bool {
    guard field == "attributeMode" else { return RightsPage.isSettable(field, type) }
    return type != "BChatRoom" && server.attributeTypes.contains(type)
  }

  var rank: Int { operation.by == .administrator ? 4 : asker?.rank ?? 0 }

  /// The cells of an AVChatRoom with `avChatRoom.moderation`.
  private static let moderated: [RightsRow: String] = [
    .decide: "Admin", .remove: "Admin", .muteMember: "Admin", .muteGroup: "Admin", .changeRole: "Owner",
  ]

  func may(_ row: RightsRow) -> Bool {
    var cell = RightsPage.cell(row, g.type)
    if row == .attributes, server.attributeTypes.contains(g.type) { cell = "Member" }
    if server.moderation, g.type == "AVChatRoom" { cell = Self.moderated[row] ?? cell }
    if row == .recallOthers, g.memory != nil { cell = server.moderation ? "Admin" : "admin" }
    if row == .disband, g.type == "Work", server.ownerMayDisband { cell = "Owner" }
    return rank >= RightsPage.rank(demandedBy: cell, policy: g.policy)
  }

  /// Rule 2: below the cell's role 10007.
  func require(_ row: RightsRow, else code: Int = 10007) throws(ModelRefusal) {
    if !may(row) { throw ModelRefusal(code) }
  }

  /// Rule 1: "nobody acts on somebody of an equal or higher role, nor, in these actions, on
  /// oneself".
  func outranks(_ target: ModelMember) -> Bool {
    rank > target.rank && target.name != operation.by.name
  }

  // MARK: Telling

  /// A user as events name one.
  func person(_ name: String) -> JSON {
    if name == "administrator" { return ["userID": "administrator"] }
    let member = group?.anyMember(name)
    let (card, role) = (member?.nameCard ?? "", member?.role ?? "NotMember")
    return ["userID": .string(name), "nameCard": .string(card), "role": .string(role)]
  }

  func person(_ who: Operator) -> JSON { person(who.name ?? "administrator") }

  /// The members, in a BChatRoom everyone signed in.
  var everybody: [String] { g.isOfEveryone ? Set(sessions.map(\.user)).sorted() : g.members.map(\.name) }

  func sessions(of users: some Sequence<String>) -> Set<SessionName> {
    let users = Set(users)
    return sessions.filter { users.contains($0.user) }
  }

  /// An event to all sessions of some users. `by` is whom it names as opUser; `on` has done it, and
  /// is not named so.
  mutating func tell(
    _ name: String, _ users: some Sequence<String>, by who: Operator? = nil, on doer: Operator? = nil, tip: ModelMessage? = nil,
    except session: SessionName? = nil, _ params: [String: JSON]
  ) {
    var all = params
    all["groupID"] = "g"
    all["opTime"] = .int(now)
    if let who { all["opUser"] = person(who) }
    if let doer = who ?? doer { all["platform"] = .string(doer.platform) }
    if let tip {
      all["seq"] = .int(tip.seq!)
      all["msgID"] = tip.id
    }
    var receivers = sessions(of: users)
    if let session { receivers.remove(session) }
    if !receivers.isEmpty {
      said.events.append(ModelExpectation.Event(name: name, params: shown(.object(all)), receivers: receivers))
    }
  }

  /// Stores a message in the history; "a joiner's visible history begins with the own Join or
  /// Invite tip".
  mutating func store(_ message: ModelMessage) -> ModelMessage {
    var message = message
    message.seenBy = Set(g.members.map(\.name))
    g.messages.append(message)
    return message
  }

  /// "Every change that a member sees is also stored as a GroupTips message"; "with notification
  /// off tips are stored for changes of the group's info only", and for its creation.
  mutating func tip(_ type: String, by who: Operator, opUser: JSON? = nil, _ content: [String: JSON]) -> ModelMessage? {
    guard g.keepsHistory, g.notifies || type == "GroupInfoChange" || type == "Create" else { return nil }
    let opUser = opUser ?? person(who)
    var tips = content
    tips["type"] = .string(type)
    tips["opUser"] = opUser
    tips["memberCount"] = .int(g.members.count)
    return store(
      ModelMessage(
        seq: g.lastSeq + 1, id: token("message"), sender: who.name ?? "administrator",
        nameCard: opUser["nameCard"].string ?? "", time: now, type: "GroupTips", content: .object(tips), platform: who.platform))
  }

  /// "Personal happenings are also kept as the user's system notifications (not for AVChatRoom and
  /// BChatRoom)."
  mutating func notify(
    _ type: String, _ users: [String], by opUser: JSON, on doer: Operator, about application: JSON? = nil,
    reason: String? = nil, data: String? = nil
  ) {
    let users = Set(users).subtracting(["administrator"])
    guard g.keepsHistory, !users.isEmpty else { return }
    var content: [String: JSON] = [
      "type": .string(type), "groupID": "g", "groupName": .string(g.texts["groupName"]!), "opUser": shown(opUser),
      "timestamp": .int(now), "platform": .string(doer.platform),
    ]
    if let application { content["applicationID"] = application }
    if let reason { content["reason"] = .string(reason) }
    if let data { content["data"] = .string(data) }
    said.notifications.append(ModelExpectation.Notification(users: users, content: .object(content)))
  }
}
