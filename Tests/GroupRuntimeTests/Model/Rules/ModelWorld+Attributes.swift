import ThrongTestKit

/// The attributes of a group, and the application's own data. When onGroupAttributeChanged comes
/// is checked by `AttributeTold`.
extension ModelWorld {
  mutating func writeAttributes() throws(ModelRefusal) -> JSON {
    try requireMembership()
    try require(.attributes)
    var edited = g.attributes
    if operation.verb == .deleteGroupAttributes {
      let keys = operation["keys"] == .null ? Array(edited.keys) : operation["keys"].strings
      // "Deleting one unknown key is 10050 and deletes nothing."
      if keys.contains(where: { edited[$0] == nil }) { throw ModelRefusal(10050) }
      for key in keys { edited[key] = nil }
    } else {
      if operation.verb == .initGroupAttributes { edited = [:] }
      edited.merge(operation["attributes"].members.compactMapValues(\.string)) { $1 }
    }
    if edited.count > 16 { throw ModelRefusal(10047) }
    if edited.map({ $0.key.utf8.count + $0.value.utf8.count }).reduce(0, +) > 16_384 { throw ModelRefusal(10048) }
    let writer = operation.by.name ?? "administrator"
    let times = try writesWithThisOne(of: writer)
    for (key, value) in operation["expect"].members where g.attributes[key] != value.string { throw ModelRefusal(10058) }
    let (holders, leaving) = holdersAfterwards(edited)
    if g.policy["attributeMode"] == "Holder", rank < 2 {
      let foreign = g.holders.filter { $0.value != operation.by.name }
      for (key, holder) in foreign where edited[key] != g.attributes[key] || holders[key] != holder { throw ModelRefusal(10059) }
    }
    g.writeTimes[writer] = times
    (g.attributes, g.holders, g.leavingKeys) = (edited, holders, leaving)
    return .object([:])
  }

  /// "Each key has a holder: the user who created it (an application administrator: nobody)"; a call
  /// may take keys over, and its flag is that of the keys that the caller holds then. Others' changes
  /// leave both.
  private func holdersAfterwards(_ edited: [String: String]) -> (holders: [String: String], leaving: Set<String>) {
    let isSet = operation.verb == .setGroupAttributes
    let given = operation["attributes"].members.filter { $0.value.string != nil }.keys
    var holders = g.holders.filter { edited[$0.key] != nil }
    for key in given where g.attributes[key] == nil || isSet && operation["isTakeOver"] == true {
      holders[key] = operation.by.name
    }
    var leaving = g.leavingKeys.filter { edited[$0] != nil && holders[$0] == g.holders[$0] }
    for key in given where isSet && holders[key] != nil && holders[key] == operation.by.name {
      if operation["isDeleteAfterHolderLeft"] == true { leaving.insert(key) } else { leaving.remove(key) }
    }
    return (holders, leaving)
  }

  /// "10 in any 5 s per user and group → 8511; by application administrators 5 in any 1 s per group
  /// → 10049. Only calls that would otherwise succeed count."
  private func writesWithThisOne(of writer: String) throws(ModelRefusal) -> [Int64] {
    var times = g.writeTimes[writer, default: []]
    if operation.by.name != nil {
      try ModelWorld.count(&times, limit: 10, window: 5000, at: now, else: 8511)
    } else {
      try ModelWorld.count(&times, limit: 5, window: 1000, at: now, else: 10049)
    }
    return times
  }

  /// "Attribute reads 20 in any 5 s per user and group."
  mutating func readAttributes() throws(ModelRefusal) -> JSON {
    try requireMembership()
    try require(.attributes)
    if let user = operation.by.name {
      try ModelWorld.count(&g.readTimes[user, default: []], limit: 20, window: 5000, at: now, else: 8511)
    }
    let keys = operation["keys"] == .null ? Array(g.attributes.keys) : operation["keys"].strings
    let attributes = JSON.texts(g.attributes.filter { keys.contains($0.key) })
    guard operation["withHolders"] == true else { return ["attributes": attributes] }
    return ["attributes": attributes, "holders": .texts(g.holders.filter { keys.contains($0.key) })]
  }

  /// onReceiveRESTCustomData: "the members named by the administrator, or all"; "non-members are
  /// ignored".
  mutating func sendCustomData() throws(ModelRefusal) -> JSON {
    let isForAll = operation["userIDList"] == .null
    let named = isForAll ? everybody : operation.users.filter { g.anyMember($0) != nil }
    tell("onReceiveRESTCustomData", named, on: .administrator, ["customData": operation["content"]])
    notify("Custom", named, by: person("administrator"), on: .administrator, data: operation["content"].string)
    return .object([:])
  }
}
