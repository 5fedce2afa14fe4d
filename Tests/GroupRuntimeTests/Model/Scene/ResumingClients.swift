import GroupModel
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// Clients that keep the messages of the group: they apply events while connected, lose those that
/// are on their way at a cut, and call syncGroups after it, a page at a time while others go on. In
/// the end each has the server's view (Protocol.md, "Reconnecting").
struct ResumingClients {
  private struct Client {
    /// Nil = the group is loaded anew.
    var epoch: String?
    var joinTime: Int64?
    /// The policy under which the group was loaded.
    var visibility: JSON?
    /// Up to here the user has cleared the history.
    var clearedSeq: Int64 = 0
    var seq: Int64 = 0
    var changeSeq: Int64 = 0
    /// Text and Custom messages by `seq`.
    var messages: [Int64: [String: JSON]] = [:]
    /// Events that were sent and have not arrived.
    var inbox: [(name: String, params: JSON)] = []
    var isConnected = false
    /// Events do not count until the last page is there.
    var isSyncing = false
    /// The receive option has kept messages away: the client asks for them.
    var mayMiss = false
  }

  private var clients: [SessionName: Client] = [:]
  private var random = SeededGenerator(seed: 7)
  /// How many pages of syncGroups were read, and how many brought changes.
  private(set) var pages = 0
  private(set) var pagesWithChanges = 0
  /// How many views were compared with the server's.
  private(set) var views = 0

  /// Goes on after an operation: sessions begin and end, events arrive, clients ask.
  mutating func advance(
    _ operation: Operation, _ outcome: GroupScene.Outcome, _ world: ModelWorld, _ scene: inout GroupScene
  ) async throws {
    for name in Set(clients.keys).union(world.sessions).sorted() {
      var client = clients[name] ?? Client()
      // Name cards go without a change: a client shows what it has until it loads the group anew.
      if operation.verb == .deleteUser { client = Client(isConnected: client.isConnected, isSyncing: true) }
      if world.sessions.contains(name) {
        if !client.isConnected { (client.isConnected, client.isSyncing) = (true, true) }
        // A short cut: another session is there at once.
        if Int.random(in: 0..<8, using: &random) == 0 { (client.inbox, client.isSyncing) = ([], true) }
        // Imports send no events.
        if !isOfGroup(client, name, world, scene) || operation.verb == .importGroupMessages { client.isSyncing = true }
        client.inbox += outcome.events.filter { $0.receivers.contains(name) }.map { ($0.name, $0.params) }
        if name == operation.by.session, let message = sent(operation, outcome, world) {
          client.inbox.append(("onRecvNewMessage", ["message": message]))
        }
        let arrivals = Int.random(in: 0...client.inbox.count, using: &random)
        try await arrive(arrivals, name, &client, world, &scene)
        if let option = world.group?.member(name.user)?.option, ["NotReceive", "ReceiveFromManagers"].contains(option) {
          client.mayMiss = true
        }
      } else {
        // Events on their way are lost.
        (client.isConnected, client.inbox) = (false, [])
      }
      clients[name] = client
    }
  }

  /// The new message whose sender has this reply: no event comes back to the sending session.
  private func sent(_ operation: Operation, _ outcome: GroupScene.Outcome, _ world: ModelWorld) -> JSON? {
    guard [.sendGroupTextMessage, .sendGroupCustomMessage].contains(operation.verb), outcome.code == 0,
      let seq = outcome.result["seq"].int, let last = world.group?.messages.last, last.seq == seq
    else { return nil }
    return last.json(for: operation.by.name)
  }

  /// Lets everything arrive.
  /// - Returns: a client whose view is not the server's, or nil.
  mutating func finish(_ world: ModelWorld, _ scene: inout GroupScene) async throws -> String? {
    for name in world.sessions.sorted() {
      guard var client = clients[name] else { continue }
      if client.mayMiss || !isOfGroup(client, name, world, scene) { client.isSyncing = true }
      try await arrive(client.inbox.count, name, &client, world, &scene)
      while client.isSyncing { try await sync(name, &client, world, &scene) }
      clients[name] = client
      guard let member = world.group?.member(name.user), let group = world.group, group.keepsHistory else { continue }
      views += 1
      let visible = group.kept.filter { group.sees(member, $0) && $0.isChat }
      let expected = Dictionary(
        uniqueKeysWithValues: visible.map { (Int64($0.seq!), ResumingClients.view($0.json(for: name.user))) })
      let kept = client.messages.filter { $0.key >= Int64(group.firstSeq) }
      let view = kept.mapValues { ResumingClients.view(.object($0)) }
      for seq in Set(expected.keys).union(view.keys).sorted() where !isSame(view[seq], expected[seq]) {
        return "\(name) sees\n    \(view[seq]?.text ?? "nothing"), not\n    \(expected[seq]?.text ?? "nothing")"
      }
    }
    return nil
  }

  private func isSame(_ view: JSON?, _ expected: JSON?) -> Bool {
    guard var view = view?.members, var expected = expected?.members else { return view == nil && expected == nil }
    // The model has tokens for the names that the server makes.
    (view["msgID"], expected["msgID"]) = (nil, nil)
    return view == expected
  }

  /// The part of a message that a client keeps: profiles may change at any time, no event tells the
  /// number of replies, and an event that stands for several reactions does not say which are the
  /// user's own.
  private static func view(_ message: JSON) -> JSON {
    var members = message.members
    for name in ["nickName", "faceURL", "replyCount"] { members[name] = nil }
    if let reactions = members["reactions"] {
      let counts = reactions.elements.map { JSON.object(["reaction": $0["reaction"], "count": $0["count"]]) }
      members["reactions"] = counts.isEmpty ? nil : .array(counts)
    }
    return .object(members)
  }

  // MARK: One client

  /// Whether what the client has is of the present group and membership.
  private func isOfGroup(_ client: Client, _ name: SessionName, _ world: ModelWorld, _ scene: GroupScene) -> Bool {
    guard let group = world.group, group.keepsHistory, let member = group.member(name.user) else { return client.epoch == nil }
    return client.joinTime == member.joinTime && client.epoch == scene.picture.record?.epoch
      && isOfView(client, member, group)
  }

  /// Whether the client has loaded the group under the present policy, and since the history was
  /// cleared. Other sessions are told of both.
  private func isOfView(_ client: Client, _ member: ModelMember, _ group: ModelGroup) -> Bool {
    client.visibility == group.policy["historyVisibility"] && client.clearedSeq == clearedSeq(member, group)
  }

  private func clearedSeq(_ member: ModelMember, _ group: ModelGroup) -> Int64 {
    Int64(group.clearedThrough[member.name, default: 0])
  }

  private mutating func arrive(
    _ count: Int, _ name: SessionName, _ client: inout Client, _ world: ModelWorld, _ scene: inout GroupScene
  ) async throws {
    for event in client.inbox.prefix(count) { apply(event, &client) }
    client.inbox.removeFirst(count)
    if client.isSyncing { try await sync(name, &client, world, &scene) }
  }

  private func apply(_ event: (name: String, params: JSON), _ client: inout Client) {
    let params = event.params
    if event.name == "onRecvNewMessage" {
      guard let seq = params["message"]["seq"].integer else { return }
      note(seq, &client)
      if seq <= client.clearedSeq { return }
      // It may come behind an answer that shows it changed.
      if client.messages[seq] == nil { client.messages[seq] = params["message"].members }
    } else if ChangesTold.names.contains(event.name) {
      change(event.name, params, &client)
    } else if let seq = params["seq"].integer, params["msgID"] != .null {
      note(seq, &client)
    }
  }

  /// A message has come; where one before it is missing, the client asks.
  private func note(_ seq: Int64, _ client: inout Client) {
    if seq > client.seq + 1 { client.isSyncing = true }
    if !client.isSyncing { client.seq = max(client.seq, seq) }
  }

  private func change(_ name: String, _ params: JSON, _ client: inout Client) {
    let number = params["changeSeq"].integer!
    if !client.isSyncing { client.changeSeq = max(client.changeSeq, number) }
    let seq = params["seq"].integer ?? params["message"]["seq"].integer!
    guard var message = client.messages[seq], number > message["changeSeq"]?.integer ?? 0 else { return }
    switch name {
    case "onRecvMessageModified":
      let reactions = message["reactions"]
      message = params["message"].members
      message["reactions"] = reactions
    case "onRecvMessageReactionsChanged": message["reactions"] = params["reactions"]
    case "onGroupMessagePinned": message["isPinned"] = params["isPinned"] == true ? true : nil
    default:
      for gone in ["text", "data", "extension", "editTime", "isPinned", "reactions"] { message[gone] = nil }
      message["isRevoked"] = true
    }
    message["changeSeq"] = .int(number)
    client.messages[seq] = message
  }

  /// Reads one page of syncGroups, or loads the group anew.
  private mutating func sync(
    _ name: SessionName, _ client: inout Client, _ world: ModelWorld, _ scene: inout GroupScene
  ) async throws {
    guard let group = world.group, group.keepsHistory, let member = world.group?.member(name.user) else {
      client = Client(isConnected: true)
      return
    }
    if client.joinTime != member.joinTime || !isOfView(client, member, group) {
      client = Client(
        joinTime: member.joinTime, visibility: group.policy["historyVisibility"], clearedSeq: clearedSeq(member, group),
        inbox: client.inbox, isConnected: true, isSyncing: true)
    }
    // The group is loaded anew from its firstSeq.
    if client.epoch == nil { client.seq = Int64(group.firstSeq - 1) }
    let caller = scene.caller(.user(name.user, session: name.number))
    let epoch = client.epoch ?? scene.picture.record?.epoch ?? ""
    pages += 1
    let reply = try await scene.answer(
      .sync(epoch: epoch, seq: client.seq, changeSeq: client.changeSeq, bytes: GroupLimits.standardPageBytes), by: caller)
    guard case .success(let value) = reply else { throw GroupScene.Fault(text: "syncGroups is refused") }
    let row = try JSON(reading: Encoded(value).text)
    guard row["recovered"] == true else {
      client = Client(
        joinTime: client.joinTime, visibility: client.visibility, clearedSeq: client.clearedSeq, inbox: client.inbox,
        isConnected: true, isSyncing: true)
      return
    }
    client.epoch = epoch
    if !row["changeList"].elements.isEmpty { pagesWithChanges += 1 }
    for message in row["changeList"].elements + row["messageList"].elements {
      let seq = message["seq"].integer!
      let known = client.messages[seq]?["changeSeq"]?.integer ?? -1
      if message["type"] != "GroupTips", message["changeSeq"].integer ?? 0 >= known { client.messages[seq] = message.members }
    }
    client.changeSeq = max(client.changeSeq, row["changeSeq"].integer!)
    client.seq = max(client.seq, row["messageList"].elements.last?["seq"].integer ?? 0)
    if row["more"] == false {
      client.seq = max(client.seq, row["lastSeq"].integer!)
      (client.isSyncing, client.mayMiss) = (false, false)
    }
  }
}
