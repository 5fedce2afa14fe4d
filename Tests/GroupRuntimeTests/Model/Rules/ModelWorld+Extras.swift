import ThrongTestKit

/// What most messages have not: the message that a reply answers, the members who see a message, and
/// reading messages and replies by `seq`.
extension ModelWorld {
  /// "A message that the sender may see now, not a tip, not recalled: else 10030 (10033 where the type
  /// stores nothing)."
  func answered() throws(ModelRefusal) -> (seq: Int, json: JSON)? {
    guard let seq = operation["replyTo"].int else { return nil }
    if let memory = g.memory {
      guard let message = memory.kept.first(where: { $0.seq == seq }), !message.isRevoked else { throw ModelRefusal(10030) }
      return (seq, ["seq": .int(seq), "sender": .string(message.sender)])
    }
    if !g.keepsHistory { throw ModelRefusal(10033) }
    guard let message = visibleMessage(seq), message.isChat, !message.isRevoked else { throw ModelRefusal(10030) }
    return (seq, ["seq": .int(seq), "sender": .string(message.sender)])
  }

  /// "Those named who are no members are ignored, and when nobody is left (the sender is nobody) it is
  /// 10004"; "Work, Public, Meeting, else 10007".
  func targets() throws(ModelRefusal) -> [String] {
    if operation["toUserIDList"] == .null { return [] }
    if !g.keepsHistory { throw ModelRefusal(10007) }
    var targets: [String] = []
    for user in operation["toUserIDList"].strings where user != operation.by.name && g.member(user) != nil {
      if !targets.contains(user) { targets.append(user) }
    }
    if targets.isEmpty { throw ModelRefusal(10004) }
    return targets
  }

  /// A message that the caller may see.
  func visibleMessage(_ seq: Int) -> ModelMessage? {
    g.index(of: seq).map { g.messages[$0] }.flatMap { message in
      asker.map { g.sees($0, message) } ?? true ? message : nil
    }
  }

  /// "Replies that I may see and that are not recalled, ascending."
  private func replies(to seq: Int) -> [ModelMessage] {
    g.kept.filter { $0.answered?.seq == seq && !$0.isRevoked && visibleMessage($0.seq!) != nil }
  }

  /// A message as the caller reads it: with the number of its replies.
  func read(_ message: ModelMessage) -> JSON {
    let shown = message.json(for: operation.by.name)
    let count = replies(to: message.seq!).count
    return count == 0 ? shown : .object(shown.members.merging(["replyCount": .int(count)]) { $1 })
  }

  /// "Those I may see, as they are now, in the order of seqList, each once."
  func readMessages() throws(ModelRefusal) -> JSON {
    if !g.keepsHistory, g.memory == nil { throw ModelRefusal(10033) }
    var seqs: [Int] = []
    for seq in operation["seqList"].elements.compactMap(\.int) where !seqs.contains(seq) { seqs.append(seq) }
    if let memory = g.memory {
      let found = seqs.compactMap { seq in memory.kept.first { $0.seq == seq } }
      return ["messageList": .array(found.map(\.json))]
    }
    return ["messageList": .array(seqs.compactMap { visibleMessage($0) }.map { read($0) })]
  }

  /// "Of an unknown or invisible seq 10030, of a recalled message its replies."
  func readReplies() throws(ModelRefusal) -> JSON {
    if !g.keepsHistory { throw ModelRefusal(10033) }
    let seq = operation["seq"].int!
    if visibleMessage(seq) == nil { throw ModelRefusal(10030) }
    let replies = replies(to: seq)
    return [
      "messageList": .array(replies.map { read($0) }), "totalCount": .int(replies.count), "nextSeq": 0,
    ]
  }
}
