import ThrongTestKit

/// importGroupMembers and importGroupMessages: "no events, no tips, 10007 for AVChatRoom and
/// BChatRoom".
extension ModelWorld {
  mutating func importMembers() throws(ModelRefusal) -> JSON {
    guard g.keepsHistory else { throw ModelRefusal(10007) }
    let list = operation["memberList"].elements
    if g.type == "Work", list.contains(where: { $0["role"] == "Admin" }) { throw ModelRefusal(10007) }
    var rows: [JSON] = []
    for given in list where !rows.contains(where: { $0["userID"] == given["userID"] }) {
      let result = verdict(onImporting: given)
      rows.append(["userID": given["userID"], "result": .string(result)])
      if result == "Success" { bring(given) }
    }
    return ["memberList": .array(rows)]
  }

  private func verdict(onImporting given: JSON) -> String {
    let user = given["userID"].string!
    if g.member(user) != nil { return "Invalid" }
    if hasBadValue(given) || isBanned(user) || operation["$unknown"].strings.contains(user) { return "Fail" }
    return g.isFull || operation["$atLimit"].strings.contains(user) ? "OverLimit" : "Success"
  }

  /// "A row with a nameCard, customInfo or muteUntil outside its bounds is Fail."
  private func hasBadValue(_ given: JSON) -> Bool {
    let texts = given["customInfo"].members.filter { $0.1 != .null && $0.1 != "" }
    return (given["nameCard"].string ?? "").utf8.count > 50 || texts.count > 5 || (given["muteUntil"].integer ?? 0) < 0
  }

  /// Without a joinTime a member was there from the beginning; "with a joinTime" one sees what came
  /// at or after it.
  private mutating func bring(_ given: JSON) {
    let user = given["userID"].string!
    departures[user] = nil
    endAbsence(of: user)
    var member = ModelMember(
      name: user, role: given["role"].string ?? "Member", joinTime: given["joinTime"].integer ?? g.createTime,
      option: g.defaultOption, changeTime: now, infoTime: now)
    member.unreadFrom = g.lastSeq
    member.unreadSet = g.countsUnread ? given["unreadCount"].int ?? 0 : 0
    member.nameCard = given["nameCard"].string ?? ""
    for (key, value) in given["customInfo"].members { member.customInfo[key] = value.string == "" ? nil : value.string }
    if let until = given["muteUntil"].integer { g.mutedUntil[user] = until > now ? until : 0 }
    g.members.append(member)
    for index in g.messages.indices where sawWhenSent(member, g.messages[index].time) { g.messages[index].seenBy.insert(user) }
  }

  private func sawWhenSent(_ member: ModelMember, _ time: Int64) -> Bool {
    member.joinTime <= g.createTime || member.joinTime <= time
  }

  /// "10007 once the group has a message that was not imported"; ascending, also from one call to
  /// the next.
  mutating func importMessages() throws(ModelRefusal) -> JSON {
    guard g.keepsHistory, g.messages.allSatisfy(\.isImported) else { throw ModelRefusal(10007) }
    let list = operation["messageList"].elements
    let new = list.filter { knownSeq(of: $0) == nil }
    if let first = new.first, let last = g.messages.last, first["timestamp"].integer! < last.time { throw ModelRefusal(10004) }
    let rows = list.map { given -> JSON in ["seq": .int(knownSeq(of: given) ?? append(given)), "code": 0] }
    if !new.isEmpty { g.historyTime = now }
    return ["resultList": .array(rows)]
  }

  private func mark(of given: JSON) -> String? { given["clientMsgID"].string.map { given["sender"].string! + " " + $0 } }

  /// A caller who lost the answer sends the messages again.
  private func knownSeq(of given: JSON) -> Int? {
    guard let mark = mark(of: given), let first = g.marks[mark], now - first.time < ModelWorld.memory else { return nil }
    return first.answer["seq"].int
  }

  /// - Returns: the seq.
  private mutating func append(_ given: JSON) -> Int {
    let sender = given["sender"].string!
    let time = given["timestamp"].integer!
    let isText = given["text"] != .null
    var message = ModelMessage(
      seq: g.lastSeq + 1, id: token("message"), sender: sender, nameCard: g.member(sender)?.nameCard ?? "", time: time,
      type: isText ? "Text" : "Custom", content: isText ? given["text"] : given["data"], platform: "RESTful API")
    message.clientMsgID = given["clientMsgID"].string
    message.extensionText = given["extension"].string
    message.isImported = true
    // The sender's present role stands for the one at the time of the message.
    message.isFromManager = g.member(sender)?.isManager ?? false
    message.seenBy = Set(g.members.filter { sawWhenSent($0, time) }.map(\.name))
    g.messages.append(message)
    if let mark = mark(of: given) {
      let answer: JSON = ["msgID": message.id, "seq": .int(g.lastSeq), "timestamp": .int(time), "status": "Stored"]
      g.marks[mark] = ModelMark(time: now, answer: answer, isStored: true)
    }
    return g.lastSeq
  }
}
