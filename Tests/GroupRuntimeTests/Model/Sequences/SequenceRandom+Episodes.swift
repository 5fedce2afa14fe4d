import ThrongTestKit

/// Short stories that come to the bounds that rules name: of time, one millisecond beside it, or of
/// how often.
extension SequenceRandom {
  mutating func episode() -> [Operation] {
    switch number(0...8) {
    case 0: lateRecall()
    case 1: repeatedMessage()
    case 2: endOfMute()
    case 3: endOfGroupMute()
    case 4: endOfBan()
    case 5: endOfGrace()
    case 6: attributeFlood()
    case 7: counterFlood()
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
    (0..<24).map { index in
      Operation(.user("$member-\(index % 3)", session: 1), .setGroupAttributes, ["attributes": ["k1": .string("v\(index)")]])
    }
  }

  /// More changes in one moment than a second has events for, and then at a second's other end.
  private mutating func counterFlood() -> [Operation] {
    let raise = (0..<24).map {
      Operation(.user("$member-\($0 % 3)", session: 1), .increaseGroupCounter, ["key": "c1", "value": 1])
    }
    return raise + [Operation(.world, .wait, ["ms": one([100, 219, 220, 221, 999, 1000])])] + raise.prefix(3)
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
