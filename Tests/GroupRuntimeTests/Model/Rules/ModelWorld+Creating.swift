import ThrongTestKit

/// createGroup and importGroup.
extension ModelWorld {
  func ownerGiven() -> String { operation.by.name ?? operation["ownerUserID"].string! }

  mutating func create() throws(ModelRefusal) -> JSON {
    let type = operation["groupType"].string!
    let owner = ownerGiven()
    if type == "BChatRoom", operation.by != .administrator { throw ModelRefusal(10007) }
    let isLive = type == "AVChatRoom" || type == "BChatRoom"
    if operation.verb == .importGroup, isLive { throw ModelRefusal(10007) }
    if operation["serverCustomInfo"] != .null, operation.by != .administrator { throw ModelRefusal(10007) }
    let list = operation["memberList"].elements
    // "The initial members are invited instead of joined"; an application administrator's join at
    // once.
    let asksFirst = operation["beInviteMode"] == "Auth" && operation.by != .administrator
    if asksFirst, !isLive, list.contains(where: { ($0["role"].string ?? "Member") != "Member" }) { throw ModelRefusal(10004) }
    let policy = try initialPolicy(type)
    if !list.isEmpty, isLive { throw ModelRefusal(10007) }
    if type == "Work", list.contains(where: { $0["role"] == "Admin" }) { throw ModelRefusal(10007) }
    // "createGroup and importGroup take maxMemberNum:0 as absent".
    let given = operation["maxMemberNum"].int ?? 0
    if isLive, given != 0 { throw ModelRefusal(10007) }
    let size = given != 0 ? given : isLive ? 0 : server.maxMemberNum
    if size > server.maxMemberNum { throw ModelRefusal(8507) }
    let atLimit = operation["$atLimit"].strings
    if operation["$unknown"].strings.contains(owner) { throw ModelRefusal(10019) }
    if type == "AVChatRoom", operation["$roomLimit"] != .null { throw ModelRefusal(10036) }
    if !isLive, atLimit.contains(owner) { throw ModelRefusal(10037) }

    var rows = initialRows(list, owner, unknown: operation["$unknown"].strings, atLimit)
    if asksFirst { for index in rows.indices where rows[index].result == "Success" { rows[index].result = "Pending" } }
    let joining = rows.filter { $0.result == "Success" }
    let invited = rows.filter { $0.result == "Pending" }
    if !isLive, joining.count + invited.count + 1 > size { throw ModelRefusal(8507) }
    let createTime = operation.verb == .importGroup ? operation["createTime"].integer ?? now : now
    make(type, policy: policy, size: size, at: createTime)
    seat(owner, "Owner", inviter: nil)
    for row in joining { seat(row.name, row.role, inviter: owner) }
    if operation.verb == .importGroup {
      // However old the group is, to lists that ask what is new it is.
      g.historyTime = now
      return ["groupID": "g"]
    }

    // "The tip Create names those of memberList who are in at once, without the creator (absent when
    // nobody)."
    let named: [String: JSON] = joining.isEmpty ? [:] : ["memberList": .array(joining.map { person($0.name) })]
    let tip = server.creationTip ? tip("Create", by: operation.by, named) : nil
    // "Initial members get onGroupCreated only."
    tell("onGroupCreated", [owner] + joining.map(\.name), on: operation.by, tip: tip, [:])
    notify("GroupCreated", [owner], by: person(owner), on: operation.by)
    for row in invited { askToCome(row.name, by: operation.by, message: operation["inviteMessage"].string ?? "", attach: nil) }
    let results = rows.map { row in JSON.object(["userID": .string(row.name), "result": .string(row.result)]) }
    return ["groupID": "g", "groupType": .string(type), "memberList": .array(results)]
  }

  /// "A fixed field may be set to the value it has; another is 10007."
  private func initialPolicy(_ type: String) throws(ModelRefusal) -> [String: JSON] {
    var policy = RightsPage.policy(of: type)
    for field in RightsPage.fields {
      guard let value = operation.params[field], value != .null else { continue }
      if policy[field] == nil || (!isSettable(field, type) && policy[field] != value) { throw ModelRefusal(10007) }
      policy[field] = value
    }
    return policy
  }

  private typealias Row = (name: String, role: String, result: String)

  /// One row per distinct user: the creator is Invalid, an unknown user Fail, a user in too many
  /// groups OverLimit.
  private func initialRows(_ list: [JSON], _ owner: String, unknown: [String], _ atLimit: [String]) -> [Row] {
    var rows: [Row] = []
    for given in list {
      let name = given["userID"].string!
      if rows.contains(where: { $0.name == name }) { continue }
      let result = name == owner ? "Invalid" : unknown.contains(name) ? "Fail" : atLimit.contains(name) ? "OverLimit" : "Success"
      rows.append((name, given["role"].string ?? "Member", result))
    }
    return rows
  }

  private mutating func make(_ type: String, policy: [String: JSON], size: Int, at time: Int64) {
    let names = ["groupName", "introduction", "notification", "faceURL"]
    let texts = names.map { ($0, operation[$0].string ?? "") }
    group = ModelGroup(
      type: type, epoch: token("epoch"), createTime: time, texts: Dictionary(uniqueKeysWithValues: texts), maxMemberNum: size,
      policy: policy, infoTime: time)
    beginMemory()
    g.madeTime = now
    g.serverCustomInfo = operation["serverCustomInfo"].string ?? ""
    g.customInfo = operation["customInfo"].members.compactMapValues(\.string).filter { !$0.value.isEmpty }
  }

  private mutating func seat(_ name: String, _ role: String, inviter: String?) {
    departures[name] = nil
    g.members.append(
      ModelMember(
        name: name, role: role, joinTime: g.createTime, option: g.defaultOption, inviter: inviter, changeTime: g.createTime,
        infoTime: g.createTime))
  }
}
