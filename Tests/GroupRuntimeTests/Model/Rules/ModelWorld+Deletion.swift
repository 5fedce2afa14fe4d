import ThrongTestKit

/// deleteUser, as far as one group goes, when all of it is done.
extension ModelWorld {
  /// "Sessions close; the user leaves every group; profile, status, notifications, applications, settings,
  /// reactions and receipts go; messages stay with the userID as sender (Keep) or are recalled (Revoke)."
  mutating func deleteUser() {
    let user = operation["userID"].string!
    for session in sessions(of: [user]) { signOut(session) }
    profiles[user] = nil
    leaveForGood(user)
    if group != nil {
      forgetRecord(of: user)
      forgetReactions(of: user)
      if operation["messages"] == "Revoke" { recallAll(of: user) }
      forgetTexts(of: user)
    }
    forgetApplications(of: user)
    departures[user] = nil
    reports = reports.filter { !$0.hasPrefix(user + " ") }
  }

  /// "A group owned passes to the earliest-joined member as with Transfer, whatever ownerQuitMode is;
  /// without another member, and an AVChatRoom, it is disbanded. An owned BChatRoom is disbanded too."
  /// The others hear of the leaving, and the user of nothing.
  private mutating func leaveForGood(_ user: String) {
    guard group != nil, let member = g.member(user) else { return }
    if member.role == "Owner" {
      guard g.keepsHistory, let successor = successor(of: member) else {
        return end("onGroupDismissed", "GroupDismissed", by: .administrator)
      }
      transferOwnership(to: successor.name, by: .administrator)
    }
    let info: JSON = ["userID": .string(user), "nameCard": "", "role": .string(g.member(user)!.role)]
    depart(user)
    // Everybody stays a member, and nobody is told.
    if g.isOfEveryone { return }
    let tip = tip("Quit", by: .administrator, ["memberList": [info]])
    if g.type == "AVChatRoom" {
      noticeLeave(of: [info], by: nil)
    } else if g.notifies {
      tell("onMemberLeave", everybody, tip: tip, ["memberList": [info], "memberCount": .int(g.members.count)])
    }
  }

  /// "So do the groups' own bans and mutes": what else was kept of the time in the group goes. Who asks who
  /// has left since before is told that not all is known.
  private mutating func forgetRecord(of user: String) {
    (g.rolesOfAbsent[user], g.clearedThrough[user], g.quitTimes[user]) = (nil, nil, nil)
    for index in g.messages.indices { g.messages[index].seenBy.remove(user) }
    guard let left = g.leftTimes[user] else { return }
    g.madeTime = max(g.madeTime, left + 1)
    if max(g.mutedUntil[user] ?? 0, g.bannedUntil[user] ?? 0) <= now { g.leftTimes[user] = nil }
  }

  /// "Reactions that go are changes without events."
  private mutating func forgetReactions(of user: String) {
    for index in g.kept.indices {
      for given in g.messages[index].reactions where given.users.contains(user) {
        let place = g.messages[index].reactions.firstIndex { $0.reaction == given.reaction }!
        g.messages[index].reactions[place].users.removeAll { $0 == user }
        if g.messages[index].reactions[place].users.isEmpty { g.messages[index].reactions.remove(at: place) }
        g.changeSeq += 1
        g.messages[index].changeSeq = g.changeSeq
        g.historyTime = now
      }
    }
  }

  /// "Recalled as changes of messages, opUser administrator."
  private mutating func recallAll(of user: String) {
    for index in g.kept.indices {
      let message = g.messages[index]
      if message.sender == user, message.isChat, !message.isRevoked { recall(index) }
    }
    for message in g.memory?.kept ?? [] where message.sender == user && !message.isRevoked {
      recall(message, in: g.memory!)
    }
  }

  /// Name cards of the user, in tips, too, and that the user is somebody who might have read a message. One
  /// that named the user alone is its sender's.
  private mutating func forgetTexts(of user: String) {
    for index in g.kept.indices {
      if g.messages[index].sender == user { g.messages[index].nameCard = "" }
      if !g.messages[index].isChat { g.messages[index].content = forgotten(user, in: g.messages[index].content) }
      g.messages[index].readBy.remove(user)
      g.messages[index].receiptMembers?.remove(user)
      guard g.messages[index].targets.contains(user) else { continue }
      let others = g.messages[index].targets.filter { $0 != user }
      g.messages[index].targets = others.isEmpty ? [g.messages[index].sender] : others
    }
  }

  private func forgotten(_ user: String, in value: JSON) -> JSON {
    switch value {
    case .array(let elements): return .array(elements.map { forgotten(user, in: $0) })
    case .object(let given):
      var members = given.mapValues { forgotten(user, in: $0) }
      guard members["userID"] == .string(user) else { return .object(members) }
      members["customInfo"] = nil
      if members["nameCard"] != nil { members["nameCard"] = "" }
      return .object(members)
    default: return value
    }
  }

  /// Those from and to the user go, and the words of those that the user has decided.
  private mutating func forgetApplications(of user: String) {
    applications.removeAll { $0.fromUser == user || $0.toUser == user }
    for index in applications.indices where applications[index].handling?["by"] == .string(user) {
      applications[index].handling?["message"] = ""
    }
  }
}
