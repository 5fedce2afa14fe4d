import ThrongTestKit

/// setGroupInfo and muteGroup.
extension ModelWorld {
  private static let names = [
    "groupName": "GroupName", "introduction": "Introduction", "notification": "Notification", "faceURL": "FaceURL",
  ]

  /// "All or nothing, each under its own row."
  mutating func setInfo() throws(ModelRefusal) -> JSON {
    try requireMembership()
    let given = Set(operation.params.keys)
    let policies = RightsPage.fields.filter(given.contains)
    if !given.isDisjoint(with: ModelWorld.names.keys) { try require(.editInfo) }
    if given.contains("customInfo") { try require(.editCustomInfo) }
    if given.contains("serverCustomInfo") { try require(.editServerCustomInfo) }
    if given.contains("maxMemberNum") || !policies.isEmpty { try require(.editPolicy) }
    if given.contains("allMuted") { try require(.muteGroup) }
    if given.contains("maxMemberNum"), !g.keepsHistory { throw ModelRefusal(10007) }
    for field in policies where !isSettable(field, g.type) && g.policy[field] != operation[field] {
      throw ModelRefusal(10007)
    }

    changeSlowMode()
    var changes = setTexts() + (try setCustomInfo()) + (try setSize())
    for field in policies where g.policy[field] != operation[field] {
      g.policy[field] = operation[field]
      changes.append(["type": .string(field), "value": operation[field]])
    }
    if !g.notifies {
      g.joins.clear()
      g.leaves.clear()
      g.memberNotices.removeAll()
    }
    // "`allMuted:true` is muteGroup Ordinary without end, `false` is None."
    if let allMuted = operation["allMuted"].bool { changes += set(ModelMute(mode: allMuted ? "Ordinary" : "None")) }
    tellInfo(changes, by: operation.by)
    return .object([:])
  }

  /// "A field set to the value it has makes no entry."
  private mutating func setTexts() -> [JSON] {
    var changes: [JSON] = []
    for (field, type) in ModelWorld.names {
      guard let text = operation[field].string, text != g.texts[field] else { continue }
      g.texts[field] = text
      changes.append(["type": .string(type), "value": .string(text)])
    }
    if let text = operation["serverCustomInfo"].string, text != g.serverCustomInfo {
      g.serverCustomInfo = text
      changes.append(["type": "ServerCustomInfo", "value": .string(text)])
    }
    return changes
  }

  /// "customInfo merges; null or "" removes a key; limits hold for the result", which has at most
  /// 10 keys.
  private mutating func setCustomInfo() throws(ModelRefusal) -> [JSON] {
    var changes: [JSON] = []
    for (key, given) in operation["customInfo"].members {
      let value = given.string ?? ""
      guard value != g.customInfo[key, default: ""] else { continue }
      g.customInfo[key] = value.isEmpty ? nil : value
      changes.append(["type": "CustomInfo", "key": .string(key), "value": .string(value)])
    }
    if g.customInfo.count > 10 { throw ModelRefusal(10004) }
    return changes
  }

  /// "maxMemberNum below memberCount: 10038", over the type's cap 8507; 0 is "the type's default".
  private mutating func setSize() throws(ModelRefusal) -> [JSON] {
    guard let given = operation["maxMemberNum"].int else { return [] }
    let size = given == 0 ? server.maxMemberNum : given
    if size > server.maxMemberNum { throw ModelRefusal(8507) }
    if size < g.members.count { throw ModelRefusal(10038) }
    if size == g.maxMemberNum { return [] }
    g.maxMemberNum = size
    return [["type": "MaxMemberNum", "value": .int(size)]]
  }

  /// "Absent or 0 = no end; muteUntil is absent then."
  mutating func muteGroup() throws(ModelRefusal) -> JSON {
    try requireMembership()
    try require(.muteGroup)
    var mute = ModelMute(mode: operation["mode"].string!)
    if mute.mode == "Custom" { mute.roles = operation["roles"].strings }
    let duration = operation["duration"].integer ?? 0
    if mute.mode != "None", duration > 0 { mute.until = now + duration * 1000 }
    tellInfo(set(mute), by: operation.by)
    return mute.until.map { ["muteUntil": .int($0)] } ?? .object([:])
  }

  /// "After its end a timed mute reads None."
  var currentMute: ModelMute { (g.mute.until ?? .max) <= now ? ModelMute() : g.mute }

  /// "Either way one onGroupInfoChanged names AllMuted and Mute."
  private mutating func set(_ mute: ModelMute) -> [JSON] {
    guard mute != currentMute else { return [] }
    g.mute = mute
    return [["type": "AllMuted", "value": .bool(mute.isAllMuted)], ["type": "Mute", "value": mute.json]]
  }

  /// "One onGroupInfoChanged with all entries; nothing changed, no event and no tip."
  mutating func tellInfo(_ changes: [JSON], by who: Operator) {
    guard !changes.isEmpty else { return }
    g.infoTime = now
    let tip = tip("GroupInfoChange", by: who, ["changeInfoList": .array(changes)])
    tell("onGroupInfoChanged", everybody, by: who, tip: tip, ["changeInfoList": .array(changes)])
  }
}
