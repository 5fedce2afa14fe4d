import ThrongTestKit

/// Changes that many make of themselves at once: "joins and quits of a crowd share a tip and its
/// event, which name each user once; lastSeq grows by one for all of them".
extension ModelWorld {
  /// The codes of all changes that may share an event, in their order.
  mutating func actTogether() -> JSON {
    // Which changes may share one is known before any is made.
    let joining = operation["joins"].strings.filter { g.policy["joinMode"] == "Any" && g.member($0) == nil }
    let editing = operation["edits"].strings.filter { g.member($0) != nil }
    let quitting = operation["quits"].strings.filter { g.member($0).map { $0.role != "Owner" } ?? false }
    return .array(
      joinTogether(joining) + editTogether(editing, operation["nameCard"].string!) + quitTogether(quitting))
  }

  private mutating func joinTogether(_ names: [String]) -> [JSON] {
    var entered: [String] = []
    let codes = names.map { name -> JSON in
      operation.by = .user(name, session: 1)
      do throws(ModelRefusal) {
        if g.member(name) != nil { throw ModelRefusal(10013) }
        try require(.join, else: g.type == "Work" ? 8508 : 10007)
        if isBanned(name) { throw ModelRefusal(10007) }
        try checkRoom(for: name)
      } catch {
        return .int(error.code)
      }
      bring(name, invitedBy: nil)
      entered.append(name)
      return 0
    }
    guard let first = entered.first else { return codes }
    let list = JSON.array(entered.map { person($0) })
    let who = Operator.user(first, session: 1)
    let tip = tip("Join", by: who, ["memberList": list])
    settle(entered)
    tell("onMemberEnter", everybody, on: who, tip: tip, ["memberList": list, "memberCount": .int(g.members.count)])
    return codes
  }

  private mutating func editTogether(_ names: [String], _ card: String) -> [JSON] {
    var changed: [String] = []
    for name in names where g.member(name)?.nameCard != card {
      g.update(name, at: now) { $0.nameCard = card }
      changed.append(name)
    }
    if let last = changed.last {
      tellChanges(
        changed.map { ["userID": .string($0), "nameCard": .string(card)] }, by: .user(last, session: 1))
    }
    return names.map { _ in 0 }
  }

  private mutating func quitTogether(_ names: [String]) -> [JSON] {
    var left: [(name: String, info: JSON)] = []
    let codes = names.map { name -> JSON in
      guard g.member(name) != nil else { return 10007 }
      let info = person(name)
      depart(name)
      g.quitTimes[name] = now
      tell("onQuitFromGroup", [name], on: .user(name, session: 1), [:])
      notify("QuitGroup", [name], by: info, on: .user(name, session: 1))
      left.append((name, info))
      return 0
    }
    guard let first = left.first else { return codes }
    let who = Operator.user(first.name, session: 1)
    let list = JSON.array(left.map(\.info))
    let tip = tip("Quit", by: who, opUser: first.info, ["memberList": list])
    tell("onMemberLeave", everybody, on: who, tip: tip, ["memberList": list, "memberCount": .int(g.members.count)])
    return codes
  }
}
