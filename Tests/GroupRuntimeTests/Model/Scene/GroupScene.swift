import GroupModel
import GroupPermissions
import Testing
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// A `GroupState` with everything around it that has an influence on it: a clock and alarms, a
/// store, sessions with what they get. Does what the group's actor, the store and the gateway would
/// do, one thing after the other.
struct GroupScene {
  /// The outcome of one operation.
  struct Outcome {
    struct Event {
      let name: String
      let params: JSON
      let receivers: Set<SessionName>
      /// A slow connection may miss it.
      let isSkippable: Bool
    }

    var code = 0
    var retryAfterMs: Int64?
    var result: JSON = .null
    /// In the order in which they left.
    var events: [Event] = []
    var notifications: [ModelExpectation.Notification] = []
    var delivers = false
  }

  struct Fault: Error { let text: String }

  static let group: GroupID = "g"
  static let offlineGrace: Int64 = 300_000

  let rules: GroupRules
  var now: WallInstant = 1_700_000_000_000
  /// Both clocks show the same number.
  var reading: ClockReading { ClockReading(both: now.milliseconds) }
  var state: GroupState?
  var picture = StorePicture()
  var sessions: Set<SessionName> = []
  /// Everybody was here once.
  var offlineSince: [UserID: WallInstant]
  /// The users whose sessions get what is published, and which chat they want.
  var attached: [UserID: ReceiveOption] = [:]
  var profiles: [UserID: UserProfile] = [:]
  var outcome = Outcome()
  /// What live rooms remember; nil = nothing. Another one after a restart.
  var recent: RecentMessages?
  var recentRoom: RecentRoom?
  private let recentMessages: Int
  let parser = RequestParser()

  init(server: ModelServer) {
    let bounded: [GroupType] = [.work, .public, .meeting]
    // The gate has tests of its own: it lets the same happen later.
    var limits = GroupLimits(maxMemberNum: Dictionary(uniqueKeysWithValues: bounded.map { ($0, server.maxMemberNum) }))
    limits.messagesPerSecond = Dictionary(
      uniqueKeysWithValues: bounded.compactMap { type in server.messagesPerSecond.map { (type, $0) } })
    limits.readReceiptMembers = server.readReceiptMembers
    limits.signalMembers = server.signalMembers
    limits.storesCreationTip = server.creationTip
    limits.offlineGrace = .milliseconds(GroupScene.offlineGrace)
    limits.editWindow = .milliseconds(server.editWindow)
    limits.reactionsPerMessage = server.reactionsPerMessage
    var rights = RightsConfiguration()
    rights.attributeTypes = Set(server.attributeTypes.compactMap { GroupType(wireName: $0) })
    rights.ownerDisbandsWork = server.ownerMayDisband
    rights.moderatesLiveRooms = server.moderation
    rights.remembersLiveMessages = server.recentMessages > 0
    offlineSince = Dictionary(uniqueKeysWithValues: ModelWorld.users.map { (UserID($0)!, 1_700_000_000_000) })
    rules = GroupRules(permissions: GroupPermissions(rights), limits: limits)
    recent = GroupScene.memory(of: server.recentMessages)
    recentMessages = server.recentMessages
  }

  /// An empty memory, or nil.
  private static func memory(of messages: Int) -> RecentMessages? {
    messages > 0 ? RecentMessages(messages: messages, bytes: 1 << 30, duration: nil) : nil
  }

  /// Gives a live room the numbers of what is remembered.
  mutating func openRecentRoom() {
    guard let recent, state?.record.type == .avChatRoom else { return }
    if recentRoom == nil { recentRoom = recent.open(GroupScene.group) }
    state?.live = recentRoom?.history
  }

  /// The process has ended.
  mutating func loseRecentMessages() { (recent, recentRoom) = (GroupScene.memory(of: recentMessages), nil) }

  /// - Parameter operation: with values instead of pointers and names instead of tokens.
  mutating func perform(_ operation: Operation) async throws -> Outcome {
    outcome = Outcome()
    switch operation.verb {
    case .wait: try pass(operation["ms"].integer!)
    case .signIn: try signIn(operation.by.session!)
    case .signOut: signOut(operation.by.session!)
    case .setSelfInfo: setProfile(operation)
    case .reload: try reload(isFailure: operation["$failed"] != .null)
    case .retain: retain(after: operation["seq"].integer!)
    case .restart: try restart(downtime: operation["ms"].integer!)
    case .deleteUser: try await deleteUser(operation)
    default: try await ask(operation)
    }
    return outcome
  }

  func users(with sessions: some Sequence<SessionName>) -> Set<UserID> { Set(sessions.map { user($0.user) }) }
  var usersSignedIn: Int { users(with: sessions).count }
  func user(_ name: String) -> UserID { UserID(stored: name)! }

  // MARK: Acting

  mutating func setProfile(_ operation: Operation) {
    let user = user(operation.by.name!)
    let former = profiles[user]
    profiles[user] = .make(
      nickName: operation["nickName"].string ?? former?.nickName ?? "",
      faceURL: operation["faceURL"].string ?? former?.faceURL ?? "")
  }

  mutating func apply(_ decision: Decision) throws {
    var decision = decision
    let shown = Set(decision.shownUsers)
    decision.show(profiles.filter { shown.contains($0.key) })
    let before = seenBefore(decision)
    try picture.apply(decision.changes)
    outcome.notifications += try picture.notifications.map { try noted($0, $1) }
    if decision.counts.contains(where: { $0.steps.contains(.delivered) }) { outcome.delivers = true }
    for effect in decision.effects { try perform(effect) }
    if let before { try expectStamp(of: decision, since: before) }
    if decision.disbands { state = nil }
  }

  // MARK: Stamps

  /// What tells whether a decision raises the stamp that its receivers see.
  private struct Seen {
    let visibility: DecisionVisibility
    let messages: Int
    let changeSeq: Int64?
    let events: Int
  }

  /// Nil where nothing is stored for those who know the group.
  private func seenBefore(_ decision: Decision) -> Seen? {
    guard let record = picture.record, record.type.isStamped, !decision.changes.isEmpty, !decision.disbands else { return nil }
    let visibility = decision.visibility { users, key in !receivers(among: users, except: key).isEmpty }
    return Seen(
      visibility: visibility, messages: picture.messages.count, changeSeq: record.changeSeq, events: outcome.events.count)
  }

  /// "Each durable decision that members see raises a component": where somebody got an event, another
  /// node can tell that it has missed one.
  private func expectStamp(of decision: Decision, since before: Seen) throws {
    let seen = outcome.events.dropFirst(before.events).filter { event in
      // Nobody gets again what is not stored.
      !event.receivers.isEmpty && event.name != "onGroupSignal"
        && !(event.name == "onRecvNewMessage" && event.params["message"]["seq"] == .null)
    }
    let grew =
      picture.messages.count > before.messages || picture.record?.changeSeq != before.changeSeq
      || !before.visibility.isDisjoint(with: [.revision, .board])
    guard grew || seen.isEmpty else {
      throw Fault(text: "no stamp tells of \(seen.map(\.name)), by \(decision.changes)")
    }
    let raises = before.visibility
    guard raises.contains(.message) == (picture.messages.count > before.messages) else {
      throw Fault(text: "\(raises) of \(decision.changes)")
    }
  }

  /// Stores changes of counters, and publishes what is due.
  mutating func commitCounters() throws {
    let now = reading
    if let write = state?.beginCounterWrite(at: now) {
      try picture.apply(write.changes)
      state?.counters.didWrite(write.entries)
    }
    if let event = state?.popCounterEvent(at: now) { try perform(.publish(event, .control, except: nil)) }
  }

  func noted(_ notification: SystemNotification, _ users: [UserID]) throws -> ModelExpectation.Notification {
    // As the store writes it.
    var notification = notification
    let opUser = try JSON(notification.opUser)["userID"].string.flatMap { UserID($0) }
    notification.operatorProfile = opUser.flatMap { profiles[$0] }
    let view = NotificationInfo(number: 1, notification: notification, isRead: false)
    var content = try JSON(reading: JSONWriter.text { $0.value(view) }).members
    content["notificationID"] = nil
    content["isRead"] = nil
    return ModelExpectation.Notification(users: Set(users.map(\.rawValue)), content: .object(content))
  }

  mutating func perform(_ effect: Effect) throws {
    switch effect {
    case .attach(let user, let option), .setReceiveOption(let user, let option): attach(user, receiving: option)
    case .attachSignedInUsers: for user in users(with: sessions) { refreshPresence(of: user) }
    case .detach(let user): attached[user] = nil
    case .publish(let event, let kind, let session):
      if let recentRoom, let message = RecentMessage(event) { recentRoom.append(message, at: reading.monotonic) }
      try deliver(event.frame, to: attached.filter { kind.passes($0.value) }.keys, except: session, isSkippable: kind.isSkippable)
    case .send(let event, let users, let session): try deliver(event.frame, to: users, except: session, isSkippable: false)
    case .sendToSession: Issue.record("a message was dropped where nothing limits them")
    case .forgetContent(let seq, let changeSeq):
      recentRoom?.recall(seq, changeSeq: changeSeq)
      state?.live?.didRecall(seq)
    case .disband:
      attached = [:]
      recent?.remove(GroupScene.group)
      recentRoom = nil
    case .noteReceipts(let seqs):
      // A round at once: ReceiptNoticesTests have rounds that wait.
      let counts = picture.receiptCounts(of: seqs, in: GroupScene.group, epoch: picture.record?.epoch ?? "")
      for effect in state?.receiptEvents(counts, at: now) ?? [] { try perform(effect) }
    case .post: Issue.record("an after-event was made where none is wanted")
    }
  }

  private func receivers(among users: some Sequence<UserID>, except key: SessionKey?) -> Set<SessionName> {
    let names = Set(users.map(\.rawValue))
    return sessions.filter { session in
      names.contains(session.user) && key != SessionKey(loop: session.number, connection: GroupScene.number(of: session.user))
    }
  }

  mutating func deliver(
    _ frame: [UInt8], to users: some Sequence<UserID>, except key: SessionKey?, isSkippable: Bool
  ) throws {
    let receivers = receivers(among: users, except: key)
    let event = try JSON(reading: frame)
    outcome.events.append(
      Outcome.Event(
        name: event["method"].string ?? "?", params: event["params"], receivers: receivers, isSkippable: isSkippable))
  }
}

extension EventClass {
  fileprivate var isSkippable: Bool {
    switch self {
    case .notice, .liveChat, .signal: true
    case .control, .storedChat: false
    }
  }

  /// Whether a member with that option gets it.
  fileprivate func passes(_ option: ReceiveOption) -> Bool {
    switch self {
    case .control, .notice: true
    case .storedChat(let isFromManager), .liveChat(let isFromManager):
      option != .notReceive && (option != .receiveFromManagers || isFromManager)
    case .signal: option != .notReceive
    }
  }
}
