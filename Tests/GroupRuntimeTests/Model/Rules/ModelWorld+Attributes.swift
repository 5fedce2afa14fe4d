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
    try countWrite()
    g.attributes = edited
    return .object([:])
  }

  /// "10 in any 5 s per user and group → 8511; by application administrators 5 in any 1 s per group
  /// → 10049. Only calls that would otherwise succeed count."
  private mutating func countWrite() throws(ModelRefusal) {
    if let user = operation.by.name {
      try ModelWorld.count(&g.writeTimes[user, default: []], limit: 10, window: 5000, at: now, else: 8511)
    } else {
      try ModelWorld.count(&g.writeTimes["administrator", default: []], limit: 5, window: 1000, at: now, else: 10049)
    }
  }

  /// "Attribute reads 20 in any 5 s per user and group."
  mutating func readAttributes() throws(ModelRefusal) -> JSON {
    try requireMembership()
    try require(.attributes)
    if let user = operation.by.name {
      try ModelWorld.count(&g.readTimes[user, default: []], limit: 20, window: 5000, at: now, else: 8511)
    }
    let keys = operation["keys"] == .null ? Array(g.attributes.keys) : operation["keys"].strings
    return ["attributes": .texts(g.attributes.filter { keys.contains($0.key) })]
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
