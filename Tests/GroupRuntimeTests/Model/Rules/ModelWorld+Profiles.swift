import ThrongTestKit

/// Profiles: "beside `userID` in every MemberInfo and `opUser`, and beside `sender` in every
/// message, left out where empty".
extension ModelWorld {
  mutating func setProfile() {
    for (name, text) in operation.params {
      var profile = profiles[operation.by.name!] ?? [:]
      if text == "" { profile.removeValue(forKey: name) } else { profile[name] = text }
      profiles[operation.by.name!] = profile
    }
  }

  /// A value that is told or read, with the profiles of now. A MemberInfo has a role and a name
  /// card; an entry of changeInfoList is none, and a replyTo no message.
  func shown(_ value: JSON) -> JSON {
    switch value {
    case .array(let elements): return .array(elements.map { shown($0) })
    case .object(var members):
      for (name, member) in members where name != "changeInfoList" && name != "replyTo" { members[name] = shown(member) }
      let isMember = members["role"] != nil && members["nameCard"] != nil
      let user = isMember ? members["userID"]?.string : nil
      if let user = user ?? members["sender"]?.string { members.merge(profiles[user] ?? [:]) { $1 } }
      return .object(members)
    default: return value
    }
  }
}
