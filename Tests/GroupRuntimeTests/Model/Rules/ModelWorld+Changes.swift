import ThrongTestKit

/// Edits, pins and reactions. When their events come, and in which form, is checked by
/// `ChangesTold`.
extension ModelWorld {
  /// A change of a message takes the next number, and has an event.
  /// - Parameter by: nil = the event does not say who has done it.
  mutating func change(
    _ index: Int, _ name: String, by who: Operator?, _ params: (ModelMessage) -> [String: JSON]
  ) {
    g.changeSeq += 1
    g.messages[index].changeSeq = g.changeSeq
    g.historyTime = now
    var all = params(g.messages[index])
    all["groupID"] = "g"
    all["changeSeq"] = .int(g.changeSeq)
    if let who { (all["opUser"], all["platform"]) = (person(who), .string(who.platform)) }
    g.changes.append(ModelChange(number: g.changeSeq, index: index, name: name, params: all))
  }

  /// "All who may see the message."
  func audience(of index: Int) -> [String] { g.members.filter { g.sees($0, g.messages[index]) }.map(\.name) }

  /// The message that a request names; "recalled, unknown or invisible 10030".
  private func visibleIndex() throws(ModelRefusal) -> Int {
    guard let index = g.index(of: operation["seq"].int!), asker.map({ g.sees($0, g.messages[index]) }) ?? true,
      !g.messages[index].isRevoked
    else { throw ModelRefusal(10030) }
    return index
  }

  private func requireHistory() throws(ModelRefusal) {
    try requireMembership()
    if !g.keepsHistory { throw ModelRefusal(10033) }
  }

  private func requireNotMuted() throws(ModelRefusal) {
    guard let member = asker else { return }
    if muteUntil(member.name) > 0 || currentMute.silences(member) { throw ModelRefusal(10017) }
  }

  /// "The order: 10033, 10030, 10032, another kind 10004, 10031, 10017, the same content."
  mutating func modify() throws(ModelRefusal) -> JSON {
    try requireHistory()
    let index = try visibleIndex()
    let message = g.messages[index]
    let isOwn = operation.by == .administrator || message.sender == operation.by.name
    if !message.isChat || !isOwn { throw ModelRefusal(10032) }
    let isText = message.type == "Text"
    if operation[isText ? "data" : "text"] != .null { throw ModelRefusal(10004) }
    // What is not given stays.
    let given = operation[isText ? "text" : "data"]
    let content = given == .null ? message.content : given
    var text = message.extensionText
    if let given = operation["extension"].string { text = given.isEmpty ? nil : given }
    if operation.by != .administrator, server.editWindow > 0, now - message.time > server.editWindow { throw ModelRefusal(10031) }
    try requireNotMuted()
    if content == message.content, text == message.extensionText { return .object([:]) }
    (g.messages[index].content, g.messages[index].extensionText) = (content, text)
    g.messages[index].editTime = now
    change(index, "onRecvMessageModified", by: nil) { ["message": $0.json] }
    return ["editTime": .int(now)]
  }

  mutating func pin() throws(ModelRefusal) -> JSON {
    try requireMembership()
    if !g.keepsHistory { throw ModelRefusal(10033) }
    try require(.pin)
    let isPinned = operation["isPinned"] == true
    let found = g.index(of: operation["seq"].int!)
    if isPinned {
      guard let found, asker.map({ g.sees($0, g.messages[found]) }) ?? true else { throw ModelRefusal(10030) }
    }
    // "Unpinning is {} for what is not pinned, and 10032 for a tip."
    guard let index = found else { return .object([:]) }
    if !g.messages[index].isChat { throw ModelRefusal(10032) }
    if isPinned, g.messages[index].isRevoked { throw ModelRefusal(10030) }
    if g.messages[index].isPinned == isPinned { return .object([:]) }
    if isPinned, g.pinned.count >= 10 { throw ModelRefusal(10056) }
    g.messages[index].isPinned = isPinned
    if isPinned { g.pinned.insert(index, at: 0) } else { g.pinned.removeAll { $0 == index } }
    change(index, "onGroupMessagePinned", by: operation.by) { message in
      let params: [String: JSON] = ["seq": .int(index + 1), "isPinned": .bool(isPinned)]
      return isPinned ? params.merging(["message": message.json]) { $1 } : params
    }
    return .object([:])
  }

  func readPinned() throws(ModelRefusal) -> JSON {
    try requireHistory()
    let visible = g.pinned.map { g.messages[$0] }.filter { message in
      asker.map { g.sees($0, message) } ?? true
    }
    return ["messageList": .array(visible.map { read($0) })]
  }

  mutating func react() throws(ModelRefusal) -> JSON {
    try requireHistory()
    let index = try visibleIndex()
    if !g.messages[index].isChat { throw ModelRefusal(10032) }
    try requireNotMuted()
    let (user, reaction) = (operation.by.name!, operation["reaction"].string!)
    var reactions = g.messages[index].reactions
    let known = reactions.firstIndex { $0.reaction == reaction }
    let isGiven = known.map { reactions[$0].users.contains(user) } ?? false
    let isAdded = operation.verb == .addMessageReaction
    if isGiven == isAdded { return .object([:]) }
    if isAdded {
      if known == nil, reactions.count >= server.reactionsPerMessage { throw ModelRefusal(10055) }
      if let known { reactions[known].users.append(user) } else { reactions.append((reaction, [user])) }
    } else {
      reactions[known!].users.removeAll { $0 == user }
      if reactions[known!].users.isEmpty { reactions.remove(at: known!) }
    }
    g.messages[index].reactions = reactions
    change(index, "onRecvMessageReactionsChanged", by: operation.by) { message in
      let counts = message.reactions.map { JSON.object(["reaction": .string($0.reaction), "count": .int($0.users.count)]) }
      return ["seq": .int(index + 1), "reactions": .array(counts), "reaction": .string(reaction), "isAdded": .bool(isAdded)]
    }
    return .object([:])
  }

  func readReactions() throws(ModelRefusal) -> JSON {
    try requireHistory()
    var rows: [JSON] = []
    for seq in operation["seqList"].elements.compactMap(\.int) {
      if rows.contains(where: { $0["seq"].int == seq }) { continue }
      guard let message = g.index(of: seq).map({ g.messages[$0] }) else { continue }
      guard asker.map({ g.sees($0, message) }) ?? true else { continue }
      let reactions = message.reactions.map { given -> JSON in
        [
          "reaction": .string(given.reaction), "count": .int(given.users.count),
          "byMe": .bool(operation.by.name.map(given.users.contains) ?? false),
          "userIDList": .strings(Array(given.users.prefix(operation["userCount"].int ?? 0))),
        ]
      }
      rows.append(["seq": .int(seq), "reactions": .array(reactions)])
    }
    return ["resultList": .array(rows)]
  }
}
