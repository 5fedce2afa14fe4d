import ThrongTestKit

/// quitGroup, dismissGroup, recycleGroup and kickGroupMember.
extension ModelWorld {
  mutating func quit() throws(ModelRefusal) -> JSON {
    if g.isOfEveryone { throw ModelRefusal(10007) }
    try requireMembership()
    let member = asker!
    if member.role == "Owner" {
      try require(.quitAsOwner, else: 10009)
      guard let successor = successor(of: member) else {
        leaveEmpty(member)
        return .object([:])
      }
      transferOwnership(to: successor.name, by: operation.by)
    }
    // The happening names the quitter as the quitter was.
    leave(member, by: operation.by)
    return .object([:])
  }

  /// "The earliest-joined member (ties: the order of memberList)."
  func successor(of owner: ModelMember) -> ModelMember? {
    let others = g.members.filter { $0.name != owner.name }
    let earliest = others.map(\.joinTime).min()
    return others.first { $0.joinTime == earliest }
  }

  /// onMemberLeave "the other members; off: nobody", onQuitFromGroup "all sessions of the user who
  /// quit".
  mutating func leave(_ member: ModelMember, by who: Operator) {
    let info: JSON = ["userID": .string(member.name), "nameCard": .string(member.nameCard), "role": .string(member.role)]
    depart(member.name)
    g.quitTimes[member.name] = now
    let tip = tip("Quit", by: who, opUser: info, ["memberList": [info]])
    tell("onQuitFromGroup", [member.name], on: who, [:])
    notify("QuitGroup", [member.name], by: info, on: who)
    if g.type == "AVChatRoom" {
      noticeLeave(of: [info], by: who)
    } else if g.notifies {
      tell("onMemberLeave", everybody, on: who, tip: tip, ["memberList": [info], "memberCount": .int(g.members.count)])
    }
  }

  /// The user is no member any more. "A mute survives leaving and joining again."
  mutating func depart(_ user: String) {
    // "In AVChatRoom a role outlives leaving."
    if g.type == "AVChatRoom", let role = g.member(user)?.role, role != "Owner", role != "Member" {
      g.rolesOfAbsent[user] = role
    }
    g.members.removeAll { $0.name == user }
    // "The keys go when their holder leaves the group (quit, removal, end of grace)."
    for key in g.leavingKeys where g.holders[key] == user {
      g.attributes[key] = nil
      g.holders[key] = nil
      g.leavingKeys.remove(key)
    }
    g.quitTimes[user] = nil
    if g.keepsHistory {
      departures[user] = now
      g.leftTimes[user] = now
    }
  }

  /// "When the last member quits, the group is disbanded (onQuitFromGroup and onGroupDismissed)."
  private mutating func leaveEmpty(_ member: ModelMember) {
    tell("onQuitFromGroup", [member.name], on: operation.by, [:])
    notify("QuitGroup", [member.name], by: person(operation.by), on: operation.by)
    end("onGroupDismissed", "GroupDismissed", by: operation.by)
  }

  mutating func disband() throws(ModelRefusal) -> JSON {
    try requireMembership()
    try require(.disband)
    let isRecycled = operation.verb == .recycleGroup
    end(isRecycled ? "onGroupRecycled" : "onGroupDismissed", isRecycled ? "GroupRecycled" : "GroupDismissed", by: operation.by)
    return .object([:])
  }

  mutating func end(_ event: String, _ notification: String, by who: Operator) {
    tell(event, everybody, by: who, [:])
    notify(notification, g.members.map(\.name), by: person(who), on: who)
    if g.keepsHistory { for member in g.members { departures[member.name] = now } }
    group = nil
  }

  // MARK: Removing

  mutating func kick() throws(ModelRefusal) -> JSON {
    try requireMembership()
    try require(.remove)
    let rows = operation.users.map { ($0, verdict(onRemoving: $0)) }
    let removed = rows.filter { $0.1 == "Success" }.map(\.0)
    if !removed.isEmpty { remove(removed) }
    return ["memberList": .array(rows.map { ["userID": .string($0.0), "result": .string($0.1)] })]
  }

  /// "Equal or higher role, oneself on removal: Fail; not a member on removal: Invalid"; the owner
  /// cannot be removed.
  private func verdict(onRemoving user: String) -> String {
    if user == operation.by.name { return "Fail" }
    guard let member = g.member(user) else { return "Invalid" }
    return outranks(member) && member.role != "Owner" ? "Success" : "Fail"
  }

  /// onMemberKicked: "all members and the removed; off: the removed and the operator".
  private mutating func remove(_ users: [String]) {
    let audience = g.notifies ? everybody : users + (operation.by.name.map { [$0] } ?? [])
    let list = JSON.array(users.map { person($0) })
    let banTime = operation["banTime"].integer ?? 0
    for user in users {
      depart(user)
      g.bannedUntil[user] = banTime == 0 ? 0 : now + banTime * 1000
      g.banReasons[user] = operation["reason"].string ?? ""
      g.rolesOfAbsent[user] = nil
      g.joins.remove(user)
      g.memberNotices.remove(user)
    }
    let tip = tip("Kicked", by: operation.by, ["memberList": list])
    let reason = operation["reason"].string ?? ""
    tell(
      "onMemberKicked", audience, by: operation.by, tip: tip,
      ["memberList": list, "reason": .string(reason), "memberCount": .int(g.members.count)])
    notify("KickedOff", users, by: person(operation.by), on: operation.by, reason: reason)
  }

  /// "Both by the row 'remove members'; unbanning sends no event."
  mutating func unban() throws(ModelRefusal) -> JSON {
    try requireMembership()
    try require(.remove)
    let rows = operation.users.map { user -> JSON in
      let result = g.bannedUntil[user, default: 0] > now ? "Success" : "Invalid"
      g.bannedUntil[user] = 0
      return ["userID": .string(user), "result": .string(result)]
    }
    return ["memberList": .array(rows)]
  }
}
