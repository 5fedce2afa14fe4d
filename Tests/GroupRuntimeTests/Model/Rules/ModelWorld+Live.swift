import ThrongTestKit

/// What a live room remembers: all of its messages, of which the last few are read.
struct ModelMemory {
  let epoch: JSON
  let capacity: Int
  /// All that got a place: the index is the seq - 1.
  var messages: [ModelMessage] = []
  var changeSeq = 0

  var lastSeq: Int { messages.count }
  var kept: [ModelMessage] { Array(messages.suffix(capacity)) }
  /// The oldest that is remembered; the next one where none is.
  var firstSeq: Int { lastSeq - kept.count + 1 }
}

/// Live rooms that remember messages (Protocol.md, "Messages that a live room remembers").
extension ModelWorld {
  /// "Epoch changes when the memory was lost."
  mutating func beginMemory() {
    guard group?.type == "AVChatRoom", server.recentMessages > 0 else { return }
    g.memory = ModelMemory(epoch: token("memory"), capacity: server.recentMessages)
  }

  /// The members of GroupInfo: "lastSeq, epoch, changeSeq, no firstSeq and no lastMessage".
  func infoOfMemory(_ info: [String: JSON]) -> [String: JSON] {
    guard let memory = g.memory else { return info }
    var info = info
    info["firstSeq"] = nil
    (info["lastSeq"], info["changeSeq"], info["epoch"]) = (.int(memory.lastSeq), .int(memory.changeSeq), memory.epoch)
    return info
  }

  /// "joinGroup (status Joined) of an AVChatRoom adds lastSeq and epoch."
  func joined(at memory: ModelMemory?) -> JSON {
    guard let memory else { return ["status": "Joined"] }
    return ["status": "Joined", "lastSeq": .int(memory.lastSeq), "epoch": memory.epoch]
  }

  func history(of memory: ModelMemory) -> JSON {
    let from = operation["fromSeq"].int ?? 0
    let isNewer = operation["direction"] == "Newer"
    let matching =
      isNewer ? memory.kept.filter { $0.seq! > from } : memory.kept.reversed().filter { from == 0 || $0.seq! < from }
    let page = matching.prefix(operation["count"].int ?? 20)
    return ["messageList": .array(page.map(\.json)), "isFinished": .bool(page.count == matching.count)]
  }

  func sync(with memory: ModelMemory) -> JSON {
    let (seq, after) = (operation["seq"].int!, operation["changeSeq"].int)
    let isOfMemory = operation["epoch"] == memory.epoch && seq <= memory.lastSeq && after ?? 0 <= memory.changeSeq
    let isKnown = isOfMemory && seq >= memory.firstSeq - 1
    let kept = isKnown ? memory.kept : []
    let changed = kept.filter { $0.seq! <= seq && $0.changeSeq > after ?? memory.changeSeq }
    let changes = changed.sorted { $0.changeSeq < $1.changeSeq }.prefix(100)
    let isCut = changes.count < changed.count
    let matching = kept.filter { $0.seq! > seq }
    let page = isCut ? [] : matching.prefix(100 - changes.count)
    var row: [String: JSON] = [
      "groupID": "g", "code": 0, "epoch": memory.epoch, "lastSeq": .int(memory.lastSeq), "recovered": .bool(isKnown),
      "messageList": .array(page.map(\.json)), "more": .bool(isCut || page.count < matching.count),
    ]
    if after != nil {
      row["changeList"] = .array(changes.map(\.json))
      row["changeSeq"] = .int(isCut ? changes.last!.changeSeq : memory.changeSeq)
    }
    return .object(row)
  }

  /// "By seq or by msgID; not remembered 10030."
  mutating func revokeRemembered(in memory: ModelMemory) throws(ModelRefusal) -> JSON {
    let (seq, id) = (operation["seq"].int, operation["msgID"])
    guard let message = memory.kept.first(where: { id == .null ? $0.seq == seq : $0.id == id }) else { throw ModelRefusal(10030) }
    try checkRecall(of: message)
    if message.isRevoked { return .object([:]) }
    if message.sender == operation.by.name, now - message.time > server.revokeWindow { throw ModelRefusal(10031) }
    recall(message, in: memory)
    return .object([:])
  }

  /// The message keeps its place without content, and all members are told.
  mutating func recall(_ message: ModelMessage, in memory: ModelMemory) {
    var changed = memory
    changed.changeSeq += 1
    changed.messages[message.seq! - 1].isRevoked = true
    changed.messages[message.seq! - 1].extensionText = nil
    changed.messages[message.seq! - 1].changeSeq = changed.changeSeq
    g.memory = changed
    tell(
      "onRecvMessageRevoked", everybody, by: operation.by,
      ["msgID": message.id, "seq": .int(message.seq!), "changeSeq": .int(changed.changeSeq)])
  }
}
