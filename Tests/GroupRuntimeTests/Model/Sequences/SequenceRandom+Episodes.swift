import ThrongTestKit

/// Short stories that come to the bounds that rules name: of time, one millisecond beside it, or of
/// how often.
extension SequenceRandom {
  mutating func episode() -> [Operation] {
    switch number(0...12) {
    case 0: lateRecall()
    case 1: repeatedMessage()
    case 2: endOfMute()
    case 3: endOfGroupMute()
    case 4: endOfBan()
    case 5: endOfGrace()
    case 6: attributeFlood()
    case 7: counterFlood()
    case 8: fullCounters()
    case 9: fullReactions()
    case 10: readersOfAMessage()
    case 11: crowd()
    default: refusedAttributes()
    }
  }

  private mutating func wait(about milliseconds: Int64) -> Operation {
    Operation(.world, .wait, ["ms": .int(milliseconds + one([-1, 0, 1]))])
  }

  private mutating func lateRecall() -> [Operation] {
    let sender = member()
    return [
      Operation(sender, .sendGroupTextMessage, ["text": "a"]), wait(about: 120_000),
      Operation(sender, .revokeGroupMessage, ["seq": "$last-0"]),
    ]
  }

  private mutating func repeatedMessage() -> [Operation] {
    let send = Operation(member(), .sendGroupTextMessage, ["text": "a", "clientMsgID": "again"])
    return [send, wait(about: 300_000), send]
  }

  private mutating func endOfMute() -> [Operation] {
    let silenced = user(["lesser"])
    return [
      Operation(manager(), .muteGroupMember, ["userID": .string(silenced), "muteTime": 5]), wait(about: 5000),
      Operation(.user(silenced, session: 1), .sendGroupTextMessage, ["text": "a"]),
    ]
  }

  private mutating func endOfGroupMute() -> [Operation] {
    [
      Operation(manager(), .muteGroup, ["mode": one(["Ordinary", "All"]), "duration": 5]), wait(about: 5000),
      Operation(member(), .sendGroupTextMessage, ["text": "a"]),
    ]
  }

  private mutating func endOfBan() -> [Operation] {
    let removed = one(ModelWorld.users)
    let comesBack =
      chance(50)
      ? Operation(.user(removed, session: 1), .joinGroup)
      : Operation(manager(), .inviteUserToGroup, ["userIDList": [.string(removed)]])
    let kick = Operation(manager(), .kickGroupMember, ["userIDList": [.string(removed)], "banTime": 5])
    return [kick, wait(about: 5000), comesBack]
  }

  private mutating func endOfGrace() -> [Operation] {
    let away = one(ModelWorld.users)
    let (first, second) = (Operator.user(away, session: 1), Operator.user(away, session: 2))
    return [Operation(first, .signOut), Operation(second, .signOut), wait(about: 300_000), Operation(first, .signIn)]
  }

  /// More changes in one moment than a second has events for.
  private mutating func attributeFlood() -> [Operation] {
    let isApplication = chance(30)
    return (0..<24).map { index in
      let writer = isApplication ? Operator.administrator : .user("$member-\(index % 3)", session: 1)
      return Operation(writer, .setGroupAttributes, ["attributes": ["k1": .string("v\(index)")]])
    }
  }

  /// More changes in one moment than a second has events for, and then at a second's other end.
  private mutating func counterFlood() -> [Operation] {
    let raise = (0..<24).map {
      Operation(.user("$member-\($0 % 3)", session: 1), .increaseGroupCounter, ["key": "c1", "value": 1])
    }
    return raise + [Operation(.world, .wait, ["ms": one([100, 219, 220, 221, 999, 1000])])] + raise.prefix(3)
  }

  /// As many counters as a group may have, and one more.
  private mutating func fullCounters() -> [Operation] {
    [
      Operation(manager(), .setGroupCounters, ["counters": twentyCounters()]),
      Operation(member(), .increaseGroupCounter, ["key": "c21", "value": 1]),
    ]
  }

  /// As many reactions as a message may have, and one more.
  private mutating func fullReactions() -> [Operation] {
    let first = Operation(member(), .sendGroupTextMessage, ["text": "a"])
    return [first]
      + (0...10).map { Operation(member(), .addMessageReaction, ["seq": "$last-0", "reaction": .string("r\($0)")]) }
  }

  private mutating func readersOfAMessage() -> [Operation] {
    let sender = Operator.user("$member-\(number(0...4))", session: 1)
    let confirm = Operation(member(), .sendMessageReadReceipts, ["seqList": ["$last-0"]])
    let readers = Operation(sender, .getGroupMessageReadMemberList, ["seq": "$last-0", "filter": one(["Read", "Unread"])])
    return [
      Operation(sender, .sendGroupTextMessage, ["text": "a", "needReadReceipt": true]), confirm, readers,
    ]
  }

  /// Many act at once, some of them twice.
  private mutating func crowd() -> [Operation] {
    (0..<number(1...3)).map { _ in
      Operation(
        .world, .actTogether,
        [
          "joins": .strings(targets(["outsider", "outsider", "user"], 5)), "edits": .strings(targets(["member", "user"], 4)),
          "nameCard": one(["", "Anna", "Bea"]), "quits": .strings(targets(["lesser", "lesser", "user"], 3)),
        ])
    }
  }

  /// "Only calls that would otherwise succeed count."
  private mutating func refusedAttributes() -> [Operation] {
    let writer = member()
    let tooMany = JSON.texts(Dictionary(uniqueKeysWithValues: (0..<17).map { ("key\($0)", "v") }))
    return [
      Operation(writer, .initGroupAttributes, ["attributes": tooMany, "$times": 8]),
      Operation(writer, .setGroupAttributes, ["attributes": ["k1": "x"], "$times": 11]),
    ]
  }
}
