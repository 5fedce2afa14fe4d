import ThrongTestKit

/// "A join request to a group with joinMode Auth, and an invitation to one with beInviteMode Auth,
/// is an application" (Protocol.md, "Applications").
extension ModelWorld {
  /// The managers are asked whether the user may come in.
  mutating func applyToJoin(_ user: String, on who: Operator, message: String) {
    let application = lodge("Join", from: user, to: "", message: message, attach: nil)
    tell(
      "onReceiveJoinApplication", g.managers, on: who,
      ["applicationID": application, "member": person(user), "opReason": .string(message)])
    notify("AddGroupRequest", g.managers, by: person(user), on: who, about: application, reason: message)
    tellLists(of: applications.last!)
  }

  /// The user is asked whether to come in.
  mutating func askToCome(_ user: String, by who: Operator, message: String, attach: String?) {
    let application = lodge("Invite", from: who.name!, to: user, message: message, attach: attach)
    tell(
      "onReceiveGroupInvitation", [user], by: who,
      [
        "applicationID": application, "opReason": .string(message), "attach": .string(attach ?? ""),
        "groupName": .string(g.texts["groupName"]!), "groupType": .string(g.type), "faceURL": .string(g.texts["faceURL"]!),
        "memberCount": .int(g.members.count),
      ])
    notify("InviteRequest", [user], by: person(who), on: who, about: application, reason: message, data: attach)
    tellLists(of: applications.last!)
  }

  /// onGroupApplicationListChanged: "to all sessions of everybody in whose Received or Sent list the
  /// application stands; handleStatus as that user sees it".
  private mutating func tellLists(of application: ModelApplication, readBy readers: [String] = []) {
    let deciders = application.type == "Join" ? g.managers : [application.toUser]
    let senders = deciders.contains(application.fromUser) ? [] : [application.fromUser]
    var users: [JSON: [String]] = [:]
    for user in deciders { users[application.json(for: user, isRead: readers.contains(user)), default: []].append(user) }
    for user in senders { users[application.json(for: user, isRead: true), default: []].append(user) }
    for (view, users) in users { tell("onGroupApplicationListChanged", users, ["application": view]) }
  }

  /// "One user has at most one open application of a kind per group": a second one "renews message
  /// and addTime under the same applicationID".
  private mutating func lodge(_ type: String, from: String, to: String, message: String, attach: String?) -> JSON {
    let candidate = type == "Join" ? from : to
    let index = applications.firstIndex {
      $0.epoch == g.epoch && $0.type == type && $0.candidate == candidate && $0.handling == nil
    }
    let id = index.map { applications.remove(at: $0).id } ?? token("application")
    applications.append(
      ModelApplication(
        id: id, epoch: g.epoch, type: type, fromUser: from, toUser: to, addTime: now, message: message, attach: attach))
    return id
  }

  /// acceptGroupApplication and refuseGroupApplication.
  mutating func decide() throws(ModelRefusal) -> JSON {
    guard let index = applications.firstIndex(where: { $0.id == operation["applicationID"] }) else { throw ModelRefusal(10004) }
    let application = applications[index]
    // "Those of a disbanded group are 10010 even when its ID is used again."
    guard let group, group.epoch == application.epoch else { throw ModelRefusal(10010) }
    try checkDecider(of: application)
    if application.handling != nil { throw ModelRefusal(10024) }
    let agrees = operation.verb == .acceptGroupApplication
    let user = application.candidate
    let joins = agrees && g.member(user) == nil
    if joins {
      if isBanned(user) { throw ModelRefusal(10007) }
      try checkRoom(for: user)
    }
    let reason = operation["reason"].string ?? ""
    applications[index].handling = [
      "isAgreed": .bool(agrees), "by": .string(operation.by.name ?? "administrator"), "time": .int(now),
      "message": .string(reason),
    ]
    if joins { letIn(application, platformOf: operation.by) }
    // "For somebody who is a member by now it closes as Agree without an event."
    if joins || !agrees { tellProcessed(application, agrees, reason, by: operation.by) }
    tellLists(of: applications[index], readBy: operation["$read"].strings)
    return .object([:])
  }

  /// Managers by the table decide requests to join, the invited alone an invitation: 10007
  /// otherwise.
  private func checkDecider(of application: ModelApplication) throws(ModelRefusal) {
    if application.type == "Join" {
      try requireMembership()
      try require(.decide)
    } else if operation.by.name != application.toUser {
      throw ModelRefusal(10007)
    }
  }

  /// "Accepted Join → onMemberEnter (tip Join, opUser the applicant); accepted Invite →
  /// onMemberInvited with the inviter as opUser." The platform is that of who decided.
  private mutating func letIn(_ application: ModelApplication, platformOf decider: Operator) {
    var opUser = decider
    if case .user(_, let session) = decider { opUser = .user(application.fromUser, session: session) }
    if case .administrator = decider { opUser = .user(application.fromUser, session: nil) }
    if application.fromUser == "administrator" { opUser = .administrator }
    if application.type == "Join" {
      enter(application.fromUser, by: opUser)
    } else {
      enter([application.toUser], invitedBy: opUser, about: application.id)
    }
  }

  /// onApplicationProcessed: "the applicant; for an invitation, the inviter".
  private mutating func tellProcessed(_ application: ModelApplication, _ agrees: Bool, _ reason: String, by who: Operator) {
    tell(
      "onApplicationProcessed", [application.fromUser], by: who,
      ["applicationID": application.id, "isAgreeJoin": .bool(agrees), "opReason": .string(reason)])
    let kind = (application.type == "Join" ? "AddGroup" : "Invite") + (agrees ? "Accept" : "Refuse")
    notify(kind, [application.fromUser], by: person(who), on: who, about: application.id, reason: reason)
  }
}
