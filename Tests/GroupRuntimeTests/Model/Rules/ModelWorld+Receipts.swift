import ThrongTestKit

/// Read receipts: "who is a member when it is sent counts, the sender not; who has left since counts
/// as they were".
extension ModelWorld {
  /// "Work and Public, else 10007."
  func requireReceiptType() throws(ModelRefusal) {
    if operation["needReadReceipt"] == true, g.type != "Work", g.type != "Public" { throw ModelRefusal(10007) }
  }

  /// "Groups of more than `limits.readReceiptMembers` members 10054", "after 10017".
  func requireFewMembers() throws(ModelRefusal) {
    if operation["needReadReceipt"] == true, g.members.count > server.readReceiptMembers { throw ModelRefusal(10054) }
  }

  mutating func confirm() throws(ModelRefusal) -> JSON {
    try requireHistory()
    let reader = operation.by.name!
    var told: [String: [ModelMessage]] = [:]
    for seq in distinct() {
      guard let message = seen(seq), message.readers(otherThan: reader)?.contains(reader) == true,
        !message.isRevoked, !message.readBy.contains(reader)
      else { continue }
      g.messages[seq - 1].readBy.insert(reader)
      told[message.sender, default: []].append(g.messages[seq - 1])
    }
    for (sender, messages) in told {
      // A sender who has left, or does not see the message any more, is not told.
      let seen = messages.filter { message in g.member(sender).map { g.sees($0, message) } ?? false }
      let rows = seen.sorted { $0.seq! < $1.seq! }.map(\.receipts)
      if !rows.isEmpty { tell("onRecvMessageReadReceipts", [sender], ["receiptList": .array(rows)]) }
    }
    return .object([:])
  }

  func receipts() throws(ModelRefusal) -> JSON {
    try requireHistory()
    let own = distinct().compactMap { seen($0) }.filter {
      $0.sender == operation.by.name && $0.receiptMembers != nil && !$0.isRevoked
    }
    return ["receiptList": .array(own.map(\.receipts))]
  }

  func readMembersOfMessage() throws(ModelRefusal) -> JSON {
    try requireHistory()
    guard let message = seen(operation["seq"].int!), !message.isRevoked else { throw ModelRefusal(10030) }
    guard message.sender == operation.by.name, let members = message.readers(otherThan: "") else { throw ModelRefusal(10032) }
    let wantsReaders = operation["filter"].string != "Unread"
    let rows = members.filter { message.readBy.contains($0) == wantsReaders }.sorted().map { user in
      g.member(user).map { listed($0) }
        ?? [
          "userID": .string(user), "nameCard": "", "role": "NotMember", "joinTime": 0, "muteUntil": 0,
          "customInfo": .object([:]), "isOnline": false,
        ]
    }
    return ["memberList": .array(rows), "nextSeq": 0]
  }

  private func requireHistory() throws(ModelRefusal) {
    try requireMembership()
    if !g.keepsHistory { throw ModelRefusal(10033) }
  }

  private func distinct() -> [Int] {
    var seqs: [Int] = []
    for seq in operation["seqList"].elements.compactMap(\.int) where !seqs.contains(seq) { seqs.append(seq) }
    return seqs
  }

  /// The message, where the caller sees it.
  private func seen(_ seq: Int) -> ModelMessage? {
    guard let message = g.index(of: seq).map({ g.messages[$0] }), let member = asker, g.sees(member, message) else {
      return nil
    }
    return message
  }
}

extension ModelMessage {
  /// Those who may confirm it; nil = it was sent without needReadReceipt.
  fileprivate func readers(otherThan user: String) -> Set<String>? {
    receiptMembers.flatMap { sender == user ? [] : $0.subtracting([sender]) }
  }

  fileprivate var receipts: JSON {
    let all = readers(otherThan: "")!.count
    return ["seq": .int(seq!), "readCount": .int(readBy.count), "unreadCount": .int(all - readBy.count)]
  }
}
