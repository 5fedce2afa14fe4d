import ThrongTestKit

/// Groups, who comes and goes, and what managers do.
extension SequenceRandom {
  // MARK: Coming and going

  mutating func coming() -> Operation {
    switch number(0...99) {
    case 0..<2: create()
    case 2..<26: Operation(outsider(), .joinGroup, facts(chance(50) ? ["message": .string("m\(time())")] : [:]))
    case 26..<50: Operation(chance(12) ? .administrator : member(), .inviteUserToGroup, facts(invitation()))
    case 50..<72: decision()
    case 72..<83: Operation(member(), .quitGroup)
    case 83..<94: kick()
    case 94..<97: Operation(manager(), .unbanGroupMember, ["userIDList": .strings(targets(["outsider", "outsider", "user"], 3))])
    case 97..<99: Operation(manager(), .dismissGroup)
    default: Operation(.administrator, .recycleGroup)
    }
  }

  mutating func create() -> Operation {
    var params: [String: JSON] = ["groupType": .string(type), "groupName": "n"]
    // Groups in which little is forbidden have more to tell.
    for field in RightsPage.fields where RightsPage.isSettable(field, type) && chance(40) {
      params[field] = field == "inviteMode" && chance(50) ? "Any" : one(RightsPage.values(of: field))
    }
    if chance(6) { params.merge([policy()]) { $1 } }
    if keepsHistory, chance(85) { params["memberList"] = .array(initialMembers()) }
    if chance(8) { params["maxMemberNum"] = one([0, 1, 3, 4, 5, 6]) }
    if chance(20) { params["customInfo"] = texts(3) }
    if chance(30) { params["inviteMessage"] = "come" }
    if chance(3) { params["serverCustomInfo"] = "s" }
    if chance(12) { params["$roomLimit"] = true }
    if type == "BChatRoom" ? chance(95) : chance(10) {
      params["ownerUserID"] = .string(user(["user"]))
      if chance(20) { params["serverCustomInfo"] = one(["", "s"]) }
      return Operation(.administrator, .createGroup, facts(params))
    }
    return Operation(by(["user"]), .createGroup, facts(params))
  }

  private mutating func initialMembers() -> [JSON] {
    targets(["user"], 4).map { name in
      let other: JSON = type == "Work" && chance(97) ? "200" : self.role()
      let role = chance(75) ? "Member" : other
      return ["userID": .string(name), "role": role]
    }
  }

  private mutating func invitation() -> [String: JSON] {
    var params: [String: JSON] = ["userIDList": .strings(targets(["outsider", "outsider", "outsider", "user"], 3))]
    if chance(50) { params["message"] = "please" }
    if chance(30) { params["attach"] = "a" }
    return params
  }

  private mutating func decision() -> Operation {
    var params: [String: JSON] = ["applicationID": .string("$application-\(one([0, 0, 0, 1, 1, 2, 3]))")]
    if chance(30) { params["reason"] = "because" }
    if chance(20) { params["$stale"] = true }
    if chance(30) { params["$read"] = .strings(targets(["owner", "admin", "outsider", "user"], 3)) }
    let decider = chance(75) ? Operator.user("$decider", session: one([1, nil])) : manager()
    return Operation(decider, chance(55) ? .acceptGroupApplication : .refuseGroupApplication, facts(params))
  }

  private mutating func kick() -> Operation {
    var params: [String: JSON] = ["userIDList": .strings(targets(["lesser", "lesser", "lesser", "admin", "user"], 3))]
    if chance(50) { params["reason"] = "r" }
    if chance(60) { params["banTime"] = seconds() }
    return Operation(manager(), .kickGroupMember, params)
  }

  // MARK: Managing

  mutating func managing() -> Operation {
    switch number(0...99) {
    case 0..<32: Operation(manager(), .setGroupInfo, info())
    case 32..<42: muteGroup()
    case 42..<50: Operation(manager(), .transferGroupOwner, ["userID": .string(target()), "quit": .bool(chance(30))])
    case 50..<68: Operation(manager(), .setGroupMemberRole, facts(targets().merging(["role": role()]) { $1 }))
    case 68..<86: Operation(manager(), .setGroupMemberInfo, facts(memberInfo()))
    default: Operation(manager(), .muteGroupMember, targets().merging(["muteTime": seconds()]) { $1 })
    }
  }

  /// One user, or a list.
  private mutating func targets() -> [String: JSON] {
    if chance(60) { return ["userID": .string(target())] }
    return ["userIDList": .strings((1...number(1...4)).map { _ in target() })]
  }

  /// A field with a value that the type may have, or now and then one that it may not.
  private mutating func policy() -> (String, JSON) {
    let field = one(RightsPage.fields)
    if type != "BChatRoom", !RightsPage.isSettable(field, type), chance(90) {
      return (field, RightsPage.policy(of: type)[field]!)
    }
    return (field, one(RightsPage.values(of: field)))
  }

  private mutating func info() -> [String: JSON] {
    // "All or nothing": a size that is often wrong, with something that is not.
    if chance(10) { return ["groupName": one(["n", "m"]), "allMuted": true, "maxMemberNum": one([1, 6])] }
    var params: [String: JSON] = [:]
    for _ in 0..<one([1, 1, 1, 2, 3]) {
      switch number(0...10) {
      case 10: params["serverCustomInfo"] = one(["", "s", "t"])
      case 0: params["groupName"] = one(["n", "m"])
      case 1: params["introduction"] = one(["", "i"])
      case 2: params["notification"] = one(["", "note"])
      case 3: params["faceURL"] = one(["", "u"])
      case 4: params["customInfo"] = texts(4, values: ["x", "y", "", .null])
      case 5: params["maxMemberNum"] = one([0, 1, 2, 3, 4, 5, 5, 6])
      case 6: params["allMuted"] = .bool(chance(50))
      default: params.merge([policy()]) { $1 }
      }
    }
    return params
  }

  private mutating func muteGroup() -> Operation {
    var params: [String: JSON] = ["mode": one(["None", "None", "Ordinary", "All", "Custom"])]
    if params["mode"] == "Custom" { params["roles"] = one([["Member"], ["Admin", "200"], ["200"]]) }
    if chance(60) { params["duration"] = seconds() }
    return Operation(manager(), .muteGroup, params)
  }

  private mutating func memberInfo() -> [String: JSON] {
    var params: [String: JSON] = ["userID": .string(target())]
    if chance(50) { params["nameCard"] = one(["", "Anna", "Özgür"]) }
    if chance(40) { params["customInfo"] = texts(4, values: ["x", "y", "", .null]) }
    if chance(30) { params["role"] = role() }
    if chance(30) { params["muteUntil"] = one([0, "$now-1000", "$later-60000", "$later-1"]) }
    return params
  }

  // MARK: The application's backend

  mutating func backend() -> Operation {
    switch number(0...99) {
    case 0..<8: return importGroup()
    case 8..<40: return importMembers()
    case 40..<55: return importMessages()
    case 55..<80:
      return Operation(.administrator, .setUnreadCount, ["userID": .string(target()), "unreadCount": one([0, 1, 7])])
    default:
      let named: JSON = chance(50) ? .null : .strings(targets(["member", "outsider"], 3))
      return Operation(.administrator, .sendGroupSystemNotification, ["content": "data", "userIDList": named])
    }
  }

  mutating func importGroup() -> Operation {
    var params: [String: JSON] = ["groupType": .string(type), "groupName": "n", "ownerUserID": .string(user(["user"]))]
    if chance(70) { params["createTime"] = one(["$now-500000", "$now-1000"]) }
    if chance(30) { params["memberChangeNotification"] = false }
    if chance(10) { params["maxMemberNum"] = one([0, 3]) }
    return Operation(.administrator, .importGroup, facts(params))
  }

  mutating func importMembers() -> Operation {
    let list = targets(["outsider", "outsider", "user"], 3).map { name in
      var member: [String: JSON] = ["userID": .string(name)]
      if chance(30) { member["role"] = type == "Work" && chance(95) ? "200" : role() }
      if chance(60) { member["joinTime"] = one(["$now-400000", "$now-1500", "$now-900", "$now-0"]) }
      if chance(40) { member["unreadCount"] = 3 }
      if chance(30) { member["nameCard"] = one(["", "Anna", .string(String(repeating: "é", count: 26))]) }
      if chance(20) { member["customInfo"] = texts(chance(20) ? 7 : 3, values: ["x", "y", "", .null]) }
      if chance(30) { member["muteUntil"] = one([0, -1, "$now-1000", "$later-60000"]) }
      return JSON.object(member)
    }
    return Operation(.administrator, .importGroupMembers, facts(["memberList": .array(list)]))
  }

  mutating func importMessages() -> Operation {
    let times = [450_000, 2000, 1000, 1000, 500, 0].filter { _ in chance(50) }
    let list = (times.isEmpty ? [0] : times).map { back in
      var message: [String: JSON] = ["sender": .string(user(["user"])), "timestamp": .string("$now-\(back)")]
      message[chance(70) ? "text" : "data"] = "old"
      if chance(40) { message["clientMsgID"] = .string("c\(number(1...3))") }
      if chance(20) { message["extension"] = "e" }
      return JSON.object(message)
    }
    return Operation(.administrator, .importGroupMessages, ["messageList": .array(list)])
  }
}
