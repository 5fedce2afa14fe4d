import ThrongTestKit

/// Sending and recalling.
extension ModelWorld {
  /// How long a clientMsgID is remembered.
  static let memory: Int64 = 300_000

  mutating func send() throws(ModelRefusal) -> JSON {
    try requireMembership()
    try require(.send)
    try requireReceiptType()
    let sender = operation.by.name ?? "administrator"
    let member = asker
    let mentions = operation["atUserIDList"].strings
    // "@all": managers only, and the application.
    if let member, !member.isManager, mentions.contains("@all") { throw ModelRefusal(10007) }

    // "The same clientMsgID from the same user within 5 minutes answers the first result again."
    let clientMsgID = operation["clientMsgID"].string
    let mark = clientMsgID.map { sender + " " + $0 }
    if let mark, let first = g.marks[mark], now - first.time < ModelWorld.memory { return first.answer }
    let answered = try answered()
    let targets = try targets()
    if let member, muteUntil(sender) > 0 || currentMute.silences(member) { throw ModelRefusal(10017) }
    try requireFewMembers()
    try countMessage()

    let isStored = g.keepsHistory && operation["onlineUserOnly"].bool != true
    let isText = operation.verb == .sendGroupTextMessage
    // "Unless onlineUserOnly, gets the room's next seq."
    let place = operation["onlineUserOnly"].bool == true ? nil : g.memory.map { $0.lastSeq + 1 }
    var message = ModelMessage(
      seq: isStored ? g.lastSeq + 1 : place, id: token("message"), sender: sender, nameCard: member?.nameCard ?? "", time: now,
      type: isText ? "Text" : "Custom", content: operation[isText ? "text" : "data"], platform: operation.by.platform)
    message.priority = operation["priority"].string ?? "Normal"
    message.clientMsgID = clientMsgID
    message.mentions = mentions
    message.isFromManager = member?.isManager ?? true
    message.extensionText = operation["extension"].string.flatMap { $0.isEmpty ? nil : $0 }
    (message.answered, message.targets) = (answered, targets)
    // "Live types ignore them."
    message.isExcludedFromUnreadCount = g.keepsHistory && operation["isExcludedFromUnreadCount"] == true
    message.isExcludedFromLastMessage = g.keepsHistory && operation["isExcludedFromLastMessage"] == true
    if operation["needReadReceipt"] == true {
      message.receiptMembers = targets.isEmpty ? Set(g.members.map(\.name)) : Set(targets)
    }
    if isStored { message = store(message) }
    if place != nil { g.memory?.messages.append(message) }
    tellMessage(message, except: operation.by.session)
    endHidden(by: message, isStored: isStored)

    var answer: [String: JSON] = ["msgID": message.id, "timestamp": .int(now), "status": isStored ? "Stored" : "Delivered"]
    if let seq = message.seq { answer["seq"] = .int(seq) }
    if let mark { g.marks[mark] = ModelMark(time: now, answer: .object(answer), isStored: isStored) }
    return .object(answer)
  }

  /// "For types that store messages the limit refuses instead: 10023 with retryAfterMs." By slow mode
  /// "messages of Member and custom roles are at least that far apart per user, else 10023": one wait,
  /// the longer of both.
  private mutating func countMessage() throws(ModelRefusal) {
    let seconds = g.policy["slowMode"]?.integer ?? 0
    let slowed = asker.flatMap { $0.isManager || seconds == 0 ? nil : $0.name }
    let own = slowed.flatMap { g.slowTimes[$0] }.map { $0 + seconds * 1000 - now } ?? 0
    do throws(ModelRefusal) {
      if g.keepsHistory, let limit = server.messagesPerSecond {
        try ModelWorld.count(&g.sendTimes, limit: limit, window: 1000, at: now, else: 10023)
      }
    } catch {
      throw ModelRefusal(10023, retryAfterMs: max(own, error.retryAfterMs ?? 0))
    }
    if own > 0 { throw ModelRefusal(10023, retryAfterMs: own) }
    if let slowed { g.slowTimes[slowed] = now }
  }

  /// "Another choice counts at once, for those who wait; 0 forgets them."
  mutating func changeSlowMode() {
    guard let old = g.policy["slowMode"]?.integer, let new = operation["slowMode"].integer, new != old else { return }
    g.slowTimes = new == 0 ? [:] : g.slowTimes.filter { $0.value + old * 1000 > now }
  }

  /// Lets something pass so often in any window of so many milliseconds.
  static func count(
    _ times: inout [Int64], limit: Int, window: Int64, at now: Int64, else code: Int
  ) throws(ModelRefusal) {
    let recent = times.filter { $0 > now - window }
    if recent.count >= limit { throw ModelRefusal(code, retryAfterMs: max(1, recent[0] + window - now)) }
    times = recent + [now]
  }

  /// onRecvNewMessage: "all members but the sending session (the sender's other sessions included),
  /// as their receive option says".
  private mutating func tellMessage(_ message: ModelMessage, except session: SessionName?) {
    let users = everybody.filter { name in
      guard message.isFor(name) else { return false }
      return switch g.anyMember(name)?.option {
      case "NotReceive": false
      case "ReceiveFromManagers": message.isFromManager
      default: true
      }
    }
    said.delivers = true
    tell("onRecvNewMessage", users, except: session, ["message": message.json])
  }

  // MARK: Recalling

  /// "Own within `limits.revokeWindow` (10031 later); others' by the table, any time; a tip 10032;
  /// unknown or invisible 10030; recalled already: {}". With `$with` somebody else recalls the same
  /// message at the same time.
  mutating func revoke() throws(ModelRefusal) -> JSON {
    guard let other = operation["$with"].string else { return try revokeOnce() }
    let codes = [operation.by, Operator(other)].map { who -> JSON in
      operation.by = who
      do throws(ModelRefusal) {
        _ = try revokeOnce()
        return 0
      } catch {
        return .int(error.code)
      }
    }
    return .array(codes)
  }

  private mutating func revokeOnce() throws(ModelRefusal) -> JSON {
    try requireMembership()
    if let memory = g.memory { return try revokeRemembered(in: memory) }
    if RightsPage.cell(.recallOthers, g.type) == "×" { throw ModelRefusal(10033) }
    if operation["msgID"] != .null { throw ModelRefusal(10004) }
    guard let index = g.index(of: operation["seq"].int!), asker.map({ g.sees($0, g.messages[index]) }) ?? true else {
      throw ModelRefusal(10030)
    }
    let message = g.messages[index]
    try checkRecall(of: message)
    if message.isRevoked { return .object([:]) }
    if message.sender == operation.by.name, now - message.time > server.revokeWindow { throw ModelRefusal(10031) }
    recall(index)
    return .object([:])
  }

  /// "It keeps its place with isRevoked:true and no content", and is told of.
  mutating func recall(_ index: Int) {
    g.messages[index].isRevoked = true
    g.messages[index].isPinned = false
    g.messages[index].extensionText = nil
    g.messages[index].reactions = []
    g.pinned.removeAll { $0 == index }
    change(index, "onRecvMessageRevoked", by: operation.by) { ["msgID": $0.id, "seq": .int(index + 1)] }
  }

  func checkRecall(of message: ModelMessage) throws(ModelRefusal) {
    if !message.isChat { throw ModelRefusal(10032) }
    if message.sender == operation.by.name { return }
    try require(.recallOthers, else: 10032)
    // The application stands above all members; a former member ranks as a Member.
    let senderRank = message.sender == "administrator" ? 4 : g.member(message.sender)?.rank ?? 1
    if operation.by != .administrator, rank <= senderRank { throw ModelRefusal(10007) }
  }
}
