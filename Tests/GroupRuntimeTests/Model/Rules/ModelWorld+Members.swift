import ThrongTestKit

/// Owners, roles, name cards and mutes of members.
extension ModelWorld {
  /// "A single target that is not a member is 10007."
  private func target() throws(ModelRefusal) -> ModelMember {
    guard let member = g.anyMember(operation["userID"].string!) else { throw ModelRefusal(10007) }
    return member
  }

  private func requireOutranking(_ target: ModelMember) throws(ModelRefusal) {
    if !outranks(target) { throw ModelRefusal(10007) }
  }

  // MARK: Owner

  mutating func transfer() throws(ModelRefusal) -> JSON {
    try requireMembership()
    try require(.transfer)
    let successor = try target()
    let owner = g.owner!
    // An application administrator may name the owner, who stays it.
    if operation.by == .administrator, successor.name == owner.name { return .object([:]) }
    try requireOutranking(successor)
    transferOwnership(to: successor.name, by: operation.by)
    if operation["quit"].bool == true {
      // The former owner is the one who quits, also on behalf of an administrator.
      var quitter = operation.by
      if quitter == .administrator { quitter = .user(owner.name, session: nil) }
      leave(g.member(owner.name)!, by: quitter)
    }
    return .object([:])
  }

  /// "onGroupInfoChanged Owner"; "a transfer sends no grant or revoke event; a former admin who was
  /// owner becomes Member all the same".
  mutating func transferOwnership(to successor: String, by who: Operator) {
    g.update(g.owner!.name, at: now) { $0.role = "Member" }
    g.update(successor, at: now) { $0.role = "Owner" }
    tellInfo([["type": "Owner", "value": .string(successor)]], by: who)
  }

  // MARK: Roles

  mutating func setRole() throws(ModelRefusal) -> JSON {
    try requireMembership()
    try require(.changeRole)
    let role = operation["role"].string!
    guard operation["userIDList"] == .null else {
      let unknown = operation["$unknown"].strings
      let rows = rows(ofAnyUser: true) { member in
        member.role == "Owner" || (!hasRecord(member.name) && unknown.contains(member.name))
      }
      give(role, to: rows.changed.map { g.roleTarget($0)! }, by: operation.by)
      return ["memberList": rows.json]
    }
    guard let member = g.roleTarget(operation["userID"].string!) else { throw ModelRefusal(10007) }
    try checkRole(member)
    try checkKnown()
    give(role, to: [member], by: operation.by)
    return .object([:])
  }

  /// "What concerns one target is its row: no member Invalid; oneself, an equal or higher role Fail."
  private func rows(
    ofAnyUser: Bool = false, failsFor isRefused: (ModelMember) -> Bool = { _ in false }
  ) -> (json: JSON, changed: [String]) {
    let rows = operation.users.map { user -> (String, String) in
      if user == operation.by.name { return (user, "Fail") }
      guard let member = ofAnyUser ? g.roleTarget(user) : g.anyMember(user) else { return (user, "Invalid") }
      return (user, outranks(member) && !isRefused(member) ? "Success" : "Fail")
    }
    return (
      .array(rows.map { ["userID": .string($0.0), "result": .string($0.1)] }), rows.filter { $0.1 == "Success" }.map(\.0)
    )
  }

  /// Rule 1, and no caller "gives the owner another role (transfer first)".
  private func checkRole(_ member: ModelMember) throws(ModelRefusal) {
    try require(.changeRole)
    try requireOutranking(member)
    if member.role == "Owner" { throw ModelRefusal(10007) }
  }

  private func hasRecord(_ user: String) -> Bool { g.member(user) != nil || g.rolesOfAbsent[user] != nil }

  /// In a BChatRoom and an AVChatRoom a role makes a record, of users that are known only.
  private func checkKnown() throws(ModelRefusal) {
    let user = operation["userID"].string!
    if !hasRecord(user), operation["$unknown"].strings.contains(user) { throw ModelRefusal(10019) }
  }

  /// "Setting the role somebody has changes nothing and sends nothing." To or from Admin it is
  /// onGrantAdministrator or onRevokeAdministrator: "all members; off: the operator and the one
  /// concerned".
  /// "One event and one tip of each kind name all who changed."
  private mutating func give(_ role: String, to members: [ModelMember], by who: Operator) {
    let changed = members.filter { $0.role != role }
    for member in changed {
      if g.anyMember(member.name) == nil {
        g.rolesOfAbsent[member.name] = role == "Member" ? nil : role
      } else {
        g.update(member.name, at: now) { $0.role = role }
      }
    }
    if role == "Admin" { return tellAdmins(changed.map(\.name), are: role, by: who) }
    tellAdmins(changed.filter { $0.role == "Admin" }.map(\.name), are: role, by: who)
    tellChanges(
      changed.filter { $0.role != "Admin" }.map { ["userID": .string($0.name), "role": .string(role)] }, by: who)
  }

  /// "The absent holder of a role gets no event", but the entry of the list shows the role.
  private mutating func tellAdmins(_ users: [String], are role: String, by who: Operator) {
    guard !users.isEmpty else { return }
    let isGrant = role == "Admin"
    for user in users { g.memberNotices.removeRole(of: user) }
    let list = JSON.array(
      users.map { user in
        g.anyMember(user) == nil ? ["userID": .string(user), "nameCard": "", "role": .string(role)] : person(user)
      })
    let tip = tip(isGrant ? "SetAdmin" : "CancelAdmin", by: who, ["memberList": list])
    let concerned = users.filter { g.anyMember($0) != nil } + (who.name.map { [$0] } ?? [])
    tell(
      isGrant ? "onGrantAdministrator" : "onRevokeAdministrator", g.notifies ? everybody : concerned, by: who, tip: tip,
      ["memberList": list])
    notify(isGrant ? "GrantAdmin" : "CancelAdmin", users, by: person(who), on: who)
  }

  // MARK: Name cards, customInfo, mutes

  /// "Each field under the rule of its own method", all of them or none.
  mutating func setMemberInfo() throws(ModelRefusal) -> JSON {
    try requireMembership()
    let member = try target()
    if operation["nameCard"] != .null || operation["customInfo"] != .null { try checkFace(member) }
    if operation["role"] != .null { try checkRole(member) }
    if operation["muteUntil"] != .null {
      try require(.muteMember)
      try requireOutranking(member)
    }
    try checkKnown()

    var change: [String: JSON] = [:]
    if let card = operation["nameCard"].string, card != member.nameCard {
      g.update(member.name, at: now) { $0.nameCard = card }
      change["nameCard"] = .string(card)
    }
    if let info = try merged(member) {
      g.update(member.name, at: now) { $0.customInfo = info }
      change["customInfo"] = .texts(info)
    }
    if let until = operation["muteUntil"].integer { change["muteTime"] = mute(member.name, until: until) }
    let role = operation["role"].string
    tellMemberChange(change, of: member, by: operation.by, role: role)
    return .object([:])
  }

  /// A role between Member and custom ones stands in the same entry; another has an event of its
  /// own.
  private mutating func tellMemberChange(
    _ given: [String: JSON], of member: ModelMember, by who: Operator, role: String?
  ) {
    var change = given
    let isPlain = role.map { $0 != "Admin" && member.role != "Admin" } ?? false
    if let role, isPlain, role != member.role {
      g.update(member.name, at: now) { $0.role = role }
      change["role"] = .string(role)
    }
    if !change.isEmpty {
      change["userID"] = .string(member.name)
      tellChanges([change], by: who)
    }
    if let role, !isPlain { give(role, to: [member], by: who) }
  }

  /// "Own nameCard and customInfo always; others' need Admin (Owner in Work) and rule 1."
  private func checkFace(_ member: ModelMember) throws(ModelRefusal) {
    if operation.by.name == member.name { return }
    if rank < (g.type == "Work" ? 3 : 2) { throw ModelRefusal(10007) }
    try requireOutranking(member)
  }

  /// customInfo merges as a group's does, up to 5 keys; nil = nothing changes.
  private func merged(_ member: ModelMember) throws(ModelRefusal) -> [String: String]? {
    var info = member.customInfo
    for (key, value) in operation["customInfo"].members { info[key] = value.string == "" ? nil : value.string }
    if info.count > 5 { throw ModelRefusal(10004) }
    return info == member.customInfo ? nil : info
  }

  mutating func muteMember() throws(ModelRefusal) -> JSON {
    try requireMembership()
    try require(.muteMember)
    let time = operation["muteTime"].integer!
    let until = time == 0 ? 0 : now + time * 1000
    guard operation["userIDList"] == .null else {
      let rows = rows()
      silence(rows.changed, until: until, by: operation.by)
      return ["memberList": rows.json, "muteUntil": .int(until)]
    }
    let member = try target()
    try requireOutranking(member)
    silence([member.name], until: until, by: operation.by)
    return ["muteUntil": .int(until)]
  }

  private mutating func silence(_ users: [String], until: Int64, by who: Operator) {
    var changes: [[String: JSON]] = []
    for user in users {
      if let left = mute(user, until: until) { changes.append(["userID": .string(user), "muteTime": left]) }
    }
    tellChanges(changes, by: who)
  }

  /// The end of a user's own mute, which a member need not be to have; 0 = may speak.
  func muteUntil(_ user: String) -> Int64 {
    let until = g.mutedUntil[user, default: 0]
    return until > now ? until : 0
  }

  /// - Returns: the seconds left, 0 = unmuted; nil where nothing changes.
  private mutating func mute(_ user: String, until wanted: Int64) -> JSON? {
    let until = wanted > now ? wanted : 0
    guard until != muteUntil(user) else { return nil }
    let time = now
    g.update(user, at: time) { $0.infoTime = time }
    g.mutedUntil[user] = until
    return .int(until == 0 ? 0 : (until - now + 999) / 1000)
  }

  /// onGroupMemberInfoChanged: "all members, the one concerned included; off: the one concerned and the
  /// operator". In an AVChatRoom mutes and roles merge, and what else changes is for those concerned.
  mutating func tellChanges(_ changes: [[String: JSON]], by who: Operator) {
    guard !changes.isEmpty else { return }
    if g.type == "AVChatRoom" {
      tellRights(changes.map { $0.filter { ["userID", "muteTime", "role"].contains($0.key) } }.filter { $0.count > 1 }, by: who)
      let details = changes.map { $0.filter { ["userID", "nameCard", "customInfo"].contains($0.key) } }.filter { $0.count > 1 }
      return tellConcerned(details, by: who)
    }
    let list = JSON.array(changes.map { .object($0) })
    let tip = tip("MemberInfoChange", by: who, ["changeInfoList": list])
    let users = g.notifies ? everybody : concerned(by: changes, who)
    tell("onGroupMemberInfoChanged", users, by: who, tip: tip, ["changeInfoList": list])
  }

  private func concerned(by changes: [[String: JSON]], _ who: Operator) -> [String] {
    changes.map { $0["userID"]!.string! }.filter { g.anyMember($0) != nil } + (who.name.map { [$0] } ?? [])
  }

  private mutating func tellConcerned(_ changes: [[String: JSON]], by who: Operator) {
    guard !changes.isEmpty else { return }
    let list = JSON.array(changes.map { .object($0) })
    tell("onGroupMemberInfoChanged", concerned(by: changes, who), by: who, ["changeInfoList": list])
  }

  private mutating func tellRights(_ changes: [[String: JSON]], by who: Operator) {
    guard g.notifies, !changes.isEmpty else { return tellConcerned(changes, by: who) }
    for change in changes {
      let user = change["userID"]!.string!
      g.memberNotices.add(user, isMute: change["muteTime"] != nil, role: change["role"], by: person(who), on: who.platform)
    }
    publishMemberNotices()
  }
}
