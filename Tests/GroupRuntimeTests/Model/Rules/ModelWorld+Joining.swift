import ThrongTestKit

/// joinGroup and inviteUserToGroup.
extension ModelWorld {
  mutating func join() throws(ModelRefusal) -> JSON {
    let user = operation.by.name!
    if !g.isOfEveryone, g.member(user) != nil { throw ModelRefusal(10013) }
    try require(.join, else: g.type == "Work" ? 8508 : 10007)
    if isBanned(user) { throw ModelRefusal(10007) }
    try checkRoom(for: user)
    if g.policy["joinMode"] == "Auth" {
      applyToJoin(user, on: operation.by, message: operation["message"].string ?? "")
      return ["status": "Pending"]
    }
    enter(user, by: operation.by)
    return joined(at: g.memory)
  }

  /// "Until the ban ends the user's joinGroup is 10007 and an invitation of that user Fail."
  func isBanned(_ user: String) -> Bool { g.bannedUntil[user, default: 0] > now }

  /// "A full group answers joinGroup 10014 in any mode."
  func checkRoom(for user: String) throws(ModelRefusal) {
    if g.isFull { throw ModelRefusal(10014) }
    if g.keepsHistory, operation["$atLimit"].strings.contains(user) { throw ModelRefusal(10037) }
  }

  /// onMemberEnter: "all members, the new one included; off: the new member".
  mutating func enter(_ user: String, by who: Operator) {
    bring(user, invitedBy: nil)
    if g.type == "AVChatRoom" { return noticeJoin(of: user, by: who) }
    let list: JSON = [person(user)]
    let tip = tip("Join", by: who, ["memberList": list])
    settle([user])
    tell(
      "onMemberEnter", g.notifies ? everybody : [user], on: who, tip: tip,
      ["memberList": list, "memberCount": .int(g.members.count)])
  }

  /// onMemberInvited: "all members, inviter and invited included; off: inviter and invited".
  /// - Parameter application: the invitation that was accepted.
  mutating func enter(_ users: [String], invitedBy inviter: Operator, about application: JSON? = nil) {
    for user in users { bring(user, invitedBy: inviter.name ?? "administrator") }
    let list = JSON.array(users.map { person($0) })
    // "An Invite tip and onMemberInvited that stand for an accepted invitation carry isAccepted:true."
    let accepted: [String: JSON] = application == nil ? [:] : ["isAccepted": true]
    let tip = tip("Invite", by: inviter, accepted.merging(["memberList": list]) { $1 })
    settle(users)
    // An inviter who has left meanwhile is told by onApplicationProcessed alone.
    let concerned = users + g.members.map(\.name).filter { $0 == inviter.name }
    tell(
      "onMemberInvited", g.notifies ? everybody : concerned, by: inviter, tip: tip,
      accepted.merging(["memberList": list, "memberCount": .int(g.members.count)]) { $1 })
    notify("InvitedToGroup", users, by: person(inviter), on: inviter, about: application)
  }

  mutating func bring(_ user: String, invitedBy inviter: String?) {
    departures[user] = nil
    endAbsence(of: user)
    var member = ModelMember(
      name: user, role: g.rolesOfAbsent.removeValue(forKey: user) ?? "Member", joinTime: now, option: g.defaultOption,
      inviter: inviter, changeTime: now, infoTime: now)
    // The grace of a member who is added without a session begins with that.
    if g.type == "AVChatRoom", sessions(of: [user]).isEmpty { member.awaySince = now }
    g.members.append(member)
  }

  /// The user is back. "For 30 days that they left and which messages were visible to them."
  mutating func endAbsence(of user: String) {
    guard let left = g.leftTimes.removeValue(forKey: user), now - left >= 30 * 86_400_000 else { return }
    for index in g.messages.indices { g.messages[index].seenBy.remove(user) }
  }

  /// A new member has nothing unread.
  mutating func settle(_ users: [String]) {
    for index in g.members.indices where users.contains(g.members[index].name) { g.members[index].readSeq = g.lastSeq }
  }

  // MARK: Inviting

  /// "In a bulk method the caller's rights are an error of the call; everything about one target is
  /// that target's result."
  mutating func invite() throws(ModelRefusal) -> JSON {
    try requireMembership()
    try require(.invite)
    let asksFirst = g.policy["beInviteMode"] == "Auth" && operation.by != .administrator
    var rows: [JSON] = []
    var joining: [String] = []
    for user in operation.users {
      var result = verdict(onInviting: user, joining: joining.count)
      if result == "Success", !asksFirst, operation.by != .administrator, hasQuit(user) { result = "Fail" }
      if result == "Success", asksFirst {
        result = "Pending"
        let message = operation["message"].string ?? ""
        askToCome(user, by: operation.by, message: message, attach: operation["attach"].string)
      } else if result == "Success" {
        joining.append(user)
      }
      rows.append(["userID": .string(user), "result": .string(result)])
    }
    if !joining.isEmpty { enter(joining, invitedBy: operation.by) }
    return ["memberList": .array(rows)]
  }

  /// "Who has quit is not added again within 24 hours without consent."
  private func hasQuit(_ user: String) -> Bool { g.quitTimes[user].map { now - $0 < 86_400_000 } ?? false }

  private func verdict(onInviting user: String, joining: Int) -> String {
    if user == operation.by.name || g.member(user) != nil { return "Invalid" }
    if isBanned(user) || operation["$unknown"].strings.contains(user) { return "Fail" }
    if g.members.count + joining >= g.maxMemberNum || operation["$atLimit"].strings.contains(user) { return "OverLimit" }
    return "Success"
  }
}
