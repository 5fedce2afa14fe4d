import ThrongTestKit

/// Messages, attributes, and reading.
extension SequenceRandom {
  mutating func talking() -> Operation {
    switch number(0...99) {
    case 0..<34: return message()
    case 34..<44: return recall()
    case 44..<64: return change()
    case 64..<76: return receipts()
    case 76..<82: return Operation(member(), .markGroupMessageAsRead, chance(50) ? [:] : ["seq": seq()])
    case 82..<84: return report()
    case 84..<90: return conversation()
    case 90..<96: return signal()
    default:
      let option: JSON = one(["Receive", "NotReceive", "ReceiveNotNotify", "ReceiveFromManagers", "NotifyFromManagers"])
      return Operation(member(), .setGroupReceiveMessageOpt, ["opt": option])
    }
  }

  private mutating func message() -> Operation {
    let isText = chance(70)
    var params: [String: JSON] = [isText ? "text" : "data": one(["a", "b", "ü \"q\""])]
    if chance(40) { params["clientMsgID"] = .string("c\(number(1...3))") }
    // In other types it is refused.
    if chance(type == "Work" || type == "Public" ? 50 : 4) {
      params["needReadReceipt"] = true
    } else if chance(20) {
      params["onlineUserOnly"] = true
    }
    if chance(20) { params["atUserIDList"] = one([["@all"], ["bob"], ["bob", "zoe"]]) }
    if chance(20) { params["priority"] = one(["High", "Low", "Lowest"]) }
    if chance(10) { params["$times"] = one([2, 3, 5]) }
    params.merge(extras(of: params)) { $1 }
    let sender = chance(8) ? .administrator : type == "BChatRoom" ? manager() : member()
    return Operation(sender, isText ? .sendGroupTextMessage : .sendGroupCustomMessage, params)
  }

  /// What most messages have not.
  private mutating func extras(of params: [String: JSON]) -> [String: JSON] {
    var extras: [String: JSON] = [:]
    if chance(15) { extras["extension"] = one(["e", "f", ""]) }
    if chance(20) { extras["replyTo"] = seq() }
    if chance(12) { extras["isExcludedFromUnreadCount"] = .bool(chance(80)) }
    if chance(12) { extras["isExcludedFromLastMessage"] = .bool(chance(80)) }
    // Both are refused before the group is asked.
    if params["atUserIDList"] == nil, params["onlineUserOnly"] == nil, chance(20) {
      extras["toUserIDList"] = .strings(targets(["member", "member", "member", "outsider"], 3))
    }
    return extras
  }

  /// What members keep for themselves: mostly hidden groups, which messages bring back.
  private mutating func conversation() -> Operation {
    if chance(30) { return Operation(member(), .clearGroupHistory) }
    var params: [String: JSON] = [:]
    for (name, percent) in [("isPinned", 20), ("isHidden", 60), ("isMarkedUnread", 40)] where chance(percent) {
      params[name] = .bool(chance(75))
    }
    if params.isEmpty || chance(20) { params["marks"] = one([["a"], ["b", "a"], ["a", "a"], []]) }
    return Operation(member(), .setConversation, params)
  }

  /// Something of the moment, now and then too often.
  private mutating func signal() -> Operation {
    var params: [String: JSON] = ["name": one(["typing", "a.b-c_9"])]
    if chance(40) { params["data"] = one(["", "{}", "ü \"q\""]) }
    if chance(12) { return Operation(.administrator, .sendGroupSignal, params) }
    if chance(30) { params["$times"] = one([2, 6, 11]) }
    return Operation(member(), .sendGroupSignal, params)
  }

  /// A report of a recent message, now and then as the one that is too many.
  private mutating func report() -> Operation {
    var params: [String: JSON] =
      chance(type == "AVChatRoom" ? 40 : 5) ? ["msgID": .string("$message-\(number(0...4))")] : ["seq": seq()]
    if chance(30) { params["category"] = "spam" }
    if chance(10) { params["$full"] = true }
    return Operation(member(), .reportMessage, params)
  }

  /// Members confirm what they have, and senders ask.
  private mutating func receipts() -> Operation {
    let seqs: [JSON] = (0..<number(1...4)).map { _ in seq() }
    switch number(0...9) {
    case 0..<6: return Operation(member(), .sendMessageReadReceipts, ["seqList": .array(seqs)])
    case 6..<8: return Operation(member(), .getMessageReadReceipts, ["seqList": .array(seqs)])
    default:
      return Operation(
        member(), .getGroupMessageReadMemberList,
        ["seq": seq(), "filter": one(["Read", "Unread", "Unread"]), "count": one([1, 2, 50])])
    }
  }

  private mutating func recall() -> Operation {
    if chance(type == "AVChatRoom" ? 40 : 5) {
      return Operation(reader(), .revokeGroupMessage, ["msgID": .string("$message-\(number(0...4))")])
    }
    guard chance(25) else { return Operation(reader(), .revokeGroupMessage, ["seq": seq()]) }
    // Two who may both recall what is not theirs.
    let seq: JSON = .string("$last-\(number(0...2))")
    return Operation(manager(), .revokeGroupMessage, ["seq": seq, "$with": .string(manager().description)])
  }

  /// An edit, a pin or a reaction.
  private mutating func change() -> Operation {
    // Recent messages, so that several changes meet.
    let seq: JSON = .string("$last-\(one([0, 0, 0, 1, 1, 2, 3, 5]))")
    let reaction: JSON = one(["a", "a", "b", "c", "d"])
    switch number(0...99) {
    case 0..<35:
      var edit: [String: JSON] = ["seq": seq]
      if chance(80) { edit[chance(75) ? "text" : "data"] = one(["a", "b", "c"]) }
      if edit.count == 1 || chance(20) { edit["extension"] = one(["e", "f", ""]) }
      return Operation(chance(20) ? .administrator : member(), .modifyGroupMessage, edit)
    case 35..<55: return Operation(manager(), .pinGroupMessage, ["seq": seq, "isPinned": .bool(chance(65))])
    case 55..<80:
      return Operation(member(), .addMessageReaction, ["seq": seq, "reaction": reaction])
    case 80..<90: return Operation(member(), .removeMessageReaction, ["seq": seq, "reaction": reaction])
    case 90..<95: return Operation(reader(), .getPinnedGroupMessageList)
    default:
      return Operation(reader(), .getMessageReactions, ["seqList": ["$last-0", "$last-1"], "userCount": one([0, 1, 10])])
    }
  }

  mutating func attributes() -> Operation {
    let times: JSON = one([1, 1, 1, 2, 6, 11, 22])
    let writer = chance(15) ? Operator.administrator : member()
    switch number(0...99) {
    case 0..<35: return Operation(writer, .setGroupAttributes, holding(["attributes": texts(4), "$times": times]))
    case 35..<45: return Operation(writer, .initGroupAttributes, ["attributes": texts(4)])
    case 45..<55: return Operation(writer, .initGroupAttributes, ["attributes": tooMany()])
    case 55..<75: return Operation(writer, .deleteGroupAttributes, chance(20) ? [:] : ["keys": .strings(keys())])
    default:
      return Operation(
        reader(), .getGroupAttributes,
        ["$times": times, "keys": chance(50) ? .null : .strings(keys()), "withHolders": .bool(chance(50))])
    }
  }

  /// A write with what concerns holders, now and then.
  private mutating func holding(_ params: [String: JSON]) -> [String: JSON] {
    var params = params
    if chance(30) { params["expect"] = .object(["k\(number(1...6))": one([.null, "x", "y"])]) }
    if chance(40) { params["isDeleteAfterHolderLeft"] = .bool(chance(80)) }
    if chance(25) { params["isTakeOver"] = true }
    return params
  }

  mutating func counters() -> Operation {
    let times: JSON = one([1, 1, 1, 2, 6, 21])
    switch number(0...99) {
    case 0..<40: return Operation(manager(), .setGroupCounters, ["counters": chance(20) ? twentyCounters() : counterValues()])
    case 40..<65: return Operation(reader(), .increaseGroupCounter, counterStep().merging(["$times": times]) { $1 })
    case 65..<80: return Operation(reader(), .decreaseGroupCounter, counterStep())
    default:
      let keys = (0..<number(0...2)).map { "c\($0 + 1)" }
      return Operation(reader(), .getGroupCounters, ["keys": chance(50) ? .null : .strings(keys)])
    }
  }

  private mutating func counterStep() -> [String: JSON] {
    ["key": .string("c\(number(1...4))"), "value": one([1, 1, 5, 2_147_483_647])]
  }

  private mutating func counterValues() -> JSON {
    var values: [String: JSON] = [:]
    for _ in 0..<number(1...4) {
      values["c\(number(1...4))"] = one([0, 7, -3, .null, .int(1 << 53), .int(-1 << 53), .int((1 << 53) - 1)])
    }
    return .object(values)
  }

  /// The limit: with another counter they are too many. Without them there is room again.
  mutating func twentyCounters() -> JSON {
    let value: JSON = one([1, 2, .null])
    return .object(Dictionary(uniqueKeysWithValues: (1...20).map { ("c\($0)", value) }))
  }

  private mutating func keys() -> [String] { (0..<number(0...2)).map { "k\($0 + 1)" } }

  /// At a limit, or one over it: keys, or bytes.
  private mutating func tooMany() -> JSON {
    if chance(50) { return .texts(Dictionary(uniqueKeysWithValues: (0..<one([15, 16, 17])).map { ("key\($0)", "v") })) }
    // Four keys of one byte and four values: 16,384 bytes or one more.
    let last = String(repeating: "x", count: one([4095, 4096, 4096]))
    let others = String(repeating: "x", count: 4095)
    return .texts(["a": others, "b": others, "c": others, "d": last])
  }

  // MARK: Reading

  mutating func reading() -> Operation {
    switch number(0...12) {
    case 12:
      let count: JSON = one([1, 2, 50])
      return Operation(reader(), .getGroupMessageReplies, ["seq": seq(), "count": count])
    case 11:
      return Operation(reader(), .getGroupMessages, ["seqList": .array((0..<number(1...6)).map { _ in seq() })])
    case 10: return Operation(manager(), .getGroupBannedMembers, ["count": one([1, 2, 50])])
    case 0: return Operation(reader(), .getGroupsInfo)
    case 1: return Operation(reader(), .searchGroups, chance(30) ? ["joinedOnly": true] : [:])
    case 2 where keepsHistory: return Operation(member(), .getJoinedGroupList, ["updatedSince": .string("$now-\(time())")])
    case 3:
      var position: [String: JSON] = ["epoch": chance(80) ? "$epoch" : "other", "seq": place()]
      if chance(70) { position["changeSeq"] = one([0, 1, 2, 5, 20]) }
      return Operation(member(), .syncGroups, position)
    case 4, 5:
      let from: JSON = chance(50) ? 0 : seq()
      return Operation(
        reader(), .getGroupHistoryMessageList,
        ["count": one([1, 2, 3, 20]), "fromSeq": from, "direction": one(["Older", "Newer"])])
    case 6:
      var params: [String: JSON] = ["count": one([1, 2, 50]), "filter": one(["All", "Owner", "Admin", "Common"])]
      if chance(50) { params["updatedSince"] = .string("$now-\(time())") }
      return Operation(reader(), .getGroupMemberList, params)
    case 7: return Operation(reader(), .getGroupMutedMembers, ["count": one([1, 50])])
    case 8: return Operation(member(), .getGroupUnreadCount)
    default:
      let verb: Verb = one([.getGroupMembersInfo, .getGroupMemberRoles, .getGroupMemberInviters])
      return Operation(reader(), verb, ["userIDList": .strings(targets(["member", "outsider"], 2))])
    }
  }
}
