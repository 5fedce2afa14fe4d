import GroupModel
import GroupPermissions
import WireProtocol

/// New members: joinGroup, inviteUserToGroup, and the decisions on applications (Protocol.md,
/// "Joining a group", "Invitations" and "Applications").
extension GroupState {
  mutating func join(_ request: JoinGroup, _ turn: inout Turn) throws(WireError) -> JoinGroup.Result {
    let user = try checkJoin(turn)
    if record.policy.joinMode == .auth {
      try submitJoinApplication(request.message ?? "", of: user, &turn)
      return JoinGroup.Result(status: .pending)
    }
    // Messages that leave together with the notice of this join reach the new member.
    let result = JoinGroup.Result(status: .joined, lastSeq: live?.lastSeq, epoch: live?.epoch)
    addJoiner(user, .join, &turn)
    return result
  }

  /// The user who may join, or apply for it.
  @discardableResult
  func checkJoin(_ turn: borrowing Turn) throws(WireError) -> UserID {
    guard let user = turn.userID else { throw WireError(.noRight, "Only users join groups") }
    if roster[user] != nil, !record.type.everyoneIsMember { throw WireError(.alreadyMember) }
    try require(.join, turn)
    try requireNotBanned(user, turn)
    try checkCapacity(for: user, turn)
    return user
  }

  /// Throws during a ban that was set with the user's removal (kickGroupMember, `banTime`).
  private func requireNotBanned(_ user: UserID, _ turn: borrowing Turn) throws(WireError) {
    guard !roster.isBanned(user, at: turn.wall) else {
      throw WireError(.noRight, "Removed from this group and not to come back yet")
    }
  }

  /// Whether the group has its maximum of members. "A full group answers joinGroup 10014 in any
  /// mode."
  var isFull: Bool { record.type.limitsMembers && roster.count >= record.maxMemberNum }

  /// Throws where the group has the maximum of members, or the user of groups.
  private func checkCapacity(for user: UserID, _ turn: borrowing Turn) throws(WireError) {
    if isFull { throw WireError(.groupFull) }
    if record.type.isListed, turn.facts.atGroupLimit.contains(user) { throw WireError(.tooManyGroups) }
  }

  // MARK: Invitations

  mutating func invite(_ request: InviteUserToGroup, _ turn: inout Turn) throws(WireError) -> [MemberResult] {
    try require(.invite, turn)
    var (rows, joining): ([MemberResult], [UserID]) = ([], [])
    // Rule 3: an application administrator is not bound by beInviteMode.
    let isUser = turn.userID != nil
    let needsConsent = record.policy.beInviteMode == .auth && isUser
    for user in request.userIDList {
      var result = invitationOutcome(of: user, joining: joining.count, turn)
      if result == .success, needsConsent {
        let isSubmitted = submitInvitation(of: user, message: request.message ?? "", attach: request.attach, &turn)
        result = isSubmitted ? .pending : .overLimit
      } else if result == .success, isUser {
        if roster.hasQuit(user, at: turn.wall) {
          result = .fail
        } else if turn.facts.beyondStrangers.contains(user) {
          result = .overLimit
        }
      }
      if result == .success { joining.append(user) }
      rows.append(MemberResult(userID: user, result: result))
    }
    if !joining.isEmpty { addInvitees(joining, .invited, &turn) }
    return rows
  }

  /// "Everything about one target is that target's result"; `success` = the user can be invited.
  private func invitationOutcome(of user: UserID, joining: Int, _ turn: borrowing Turn) -> MemberResult.Outcome {
    if user == turn.userID || roster[user] != nil { return .invalid }
    if roster.isBanned(user, at: turn.wall) || turn.facts.unknown.contains(user) { return .fail }
    if record.type.limitsMembers, roster.count + joining >= record.maxMemberNum { return .overLimit }
    return record.type.isListed && turn.facts.atGroupLimit.contains(user) ? .overLimit : .success
  }

  // MARK: Adding members

  /// Adds a user who joins without an inviter, and is the operator: onMemberEnter.
  /// - Parameter decider: who has accepted the application; nil = there was none.
  private mutating func addJoiner(
    _ user: UserID, _ how: WebhookContent.Joining, decidedBy decider: EventOperator? = nil, _ turn: inout Turn
  ) {
    addNewMembers([user], invitedBy: nil, &turn)
    let info = memberInfo(of: user)
    let tip = appendTips(.join([info]), &turn)
    markReadThroughNewest([user], &turn)
    let content = GroupEvent.Content.onMemberEnter([info], memberCount: roster.count, on: turn.caller.platform, tip)
    if record.type.storesMessages {
      announce(content, whenOff: [user], &turn)
    } else {
      announceJoin(of: info, content, &turn)
    }
    postJoined([info], how, by: decider, &turn)
  }

  /// Adds users whom the operator has invited, and who have accepted where that is needed:
  /// onMemberInvited.
  /// - Parameter application: the invitation that was accepted.
  private mutating func addInvitees(
    _ users: [UserID], _ how: WebhookContent.Joining, about application: GroupApplication? = nil, _ turn: inout Turn
  ) {
    addNewMembers(users, invitedBy: turn.caller.senderID, &turn)
    let list = users.map { memberInfo(of: $0) }
    let isAccepted = application != nil
    let tip = appendTips(.invite(list, isAccepted: isAccepted), &turn)
    markReadThroughNewest(users, &turn)
    let inviter = eventOperator(turn)
    // An inviter may have left before the invitation was accepted.
    let present = turn.callers.filter { roster[$0] != nil }
    announce(
      .onMemberInvited(list, memberCount: roster.count, by: inviter, isAccepted: isAccepted, tip),
      whenOff: present + users, &turn)
    notify(.invitedToGroup, users, about: application, &turn)
    postJoined(list, how, by: inviter, &turn)
  }

  /// "A joiner's visible history begins with the own Join or Invite tip."
  mutating func addNewMembers(_ users: [UserID], invitedBy inviter: UserID?, _ turn: inout Turn) {
    let firstVisibleSeq = messages.lastSeq + 1
    for user in users {
      addMember(user, role: .member, joinTime: turn.now, &turn) { member in
        member.firstVisibleSeq = firstVisibleSeq
        member.inviter = inviter
      }
    }
    noteGroup(of: users, &turn)
  }

  /// A new member has no unread messages, the own tip included. Stores the members.
  mutating func markReadThroughNewest(_ users: [UserID], _ turn: inout Turn) {
    let newest = messages.lastSeq
    for user in users {
      if let member = roster.update(user, { $0.readSeq = newest }) { turn.store(.putMember(member, in: record.id)) }
    }
  }

  // MARK: Submitting applications

  /// joinGroup under joinMode Auth: the managers decide.
  private mutating func submitJoinApplication(_ message: String, of user: UserID, _ turn: inout Turn) throws(WireError) {
    guard let application = submitApplication(.join, from: user, to: nil, message: message, attach: nil, &turn) else {
      throw WireError(.groupFull, "Too many applications wait for a decision")
    }
    let applicant = eventOperator(turn)
    turn.send(
      .onReceiveJoinApplication(
        applicationID: application.id, member: applicant.opUser, on: applicant.platform, opReason: message),
      to: managers)
    notify(.addGroupRequest, .managers(of: record.id), about: application, reason: message, &turn)
    announceListChange(of: application, &turn)
  }

  /// An invitation under beInviteMode Auth: the invited user decides.
  /// - Returns: false where the group has too many applications.
  mutating func submitInvitation(of user: UserID, message: String, attach: String?, _ turn: inout Turn) -> Bool {
    let submitted = submitApplication(
      .invite, from: turn.caller.senderID, to: user, message: message, attach: attach, &turn)
    guard let application = submitted else { return false }
    let group = InvitedGroup(
      groupName: record.name, groupType: record.type, faceURL: record.faceURL, memberCount: roster.count)
    turn.send(
      .onReceiveGroupInvitation(
        applicationID: application.id, opReason: message, attach: attach ?? "", by: eventOperator(turn), to: group),
      to: [user])
    notify(.inviteRequest, [user], about: application, reason: message, data: attach, &turn)
    announceListChange(of: application, &turn)
    return true
  }

  /// Creates or renews an application: "renews message and addTime under the same applicationID".
  /// - Returns: nil where the group has too many applications.
  private mutating func submitApplication(
    _ kind: GroupApplication.Kind, from: UserID, to: UserID?, message: String, attach: String?, _ turn: inout Turn
  ) -> GroupApplication? {
    var application: GroupApplication
    if let known = applications.application(kind, of: to ?? from) {
      application = known
      application.fromUser = from
      application.addTime = turn.now
      application.requestMsg = message
      application.attach = attach
    } else {
      guard !applications.isFull else { return nil }
      application = GroupApplication(
        id: RandomID.with128Bits(), groupID: record.id, epoch: record.epoch, kind: kind, fromUser: from, toUser: to,
        addTime: turn.now, requestMsg: message, attach: attach)
    }
    applications.put(application)
    turn.store(.putApplication(application, asNewest: true))
    turn.post(.applicationMade, .application(application, isAgreeJoin: nil))
    return application
  }

  // MARK: Deciding applications

  /// acceptGroupApplication and refuseGroupApplication.
  mutating func decide(
    _ stored: GroupApplication, agrees: Bool, reason: String, _ turn: inout Turn
  ) throws(WireError) {
    // "Those of a disbanded group are 10010 even when its ID is used again."
    guard stored.epoch == record.epoch else { throw WireError(.noSuchGroup) }
    try requireDecider(of: stored, turn)
    guard var application = applications.open(stored) else { throw WireError(.applicationHandled) }
    let candidate = application.candidate
    let joins = agrees && roster[candidate] == nil
    if joins {
      try requireNotBanned(candidate, turn)
      try checkCapacity(for: candidate, turn)
    }
    application.handling = GroupApplication.Handling(
      isAgreed: agrees, by: turn.caller.senderID, time: turn.now, message: reason)
    applications.remove(application)
    turn.store(.putApplication(application, asNewest: false))
    turn.post(.applicationHandled, .application(application, isAgreeJoin: agrees))
    if joins { addCandidate(of: application, &turn) }
    // "For somebody who is a member by now it closes as Agree without an event", but in the lists.
    if joins || !agrees { announceDecision(on: application, agrees: agrees, reason: reason, &turn) }
    announceListChange(of: application, &turn)
  }

  /// Managers decide join applications, invited users their invitations; 10007 for all others.
  private func requireDecider(of application: GroupApplication, _ turn: borrowing Turn) throws(WireError) {
    switch application.kind {
    case .join: try require(.decideApplications, turn)
    case .invite:
      guard let user = turn.userID, user == application.toUser else { throw WireError(.noRight, "Not your invitation") }
    }
  }

  /// "Accepted Join → onMemberEnter (tip Join, opUser the applicant); accepted Invite →
  /// onMemberInvited with the inviter as opUser."
  private mutating func addCandidate(of application: GroupApplication, _ turn: inout Turn) {
    let decider = eventOperator(turn)
    turn.act(as: application.fromUser) { turn in
      switch application.kind {
      case .join: addJoiner(application.fromUser, .accepted, decidedBy: decider, &turn)
      case .invite: addInvitees([application.candidate], .accepted, about: application, &turn)
      }
    }
  }

  /// onApplicationProcessed "to the applicant; for an invitation, the inviter".
  private func announceDecision(
    on application: GroupApplication, agrees: Bool, reason: String, _ turn: inout Turn
  ) {
    guard application.fromUser != .administrator else { return }
    turn.send(
      .onApplicationProcessed(applicationID: application.id, isAgreeJoin: agrees, opReason: reason, by: eventOperator(turn)),
      to: [application.fromUser])
    let kind: SystemNotification.Kind =
      switch (application.kind, agrees) {
      case (.join, true): .addGroupAccept
      case (.join, false): .addGroupRefuse
      case (.invite, true): .inviteAccept
      case (.invite, false): .inviteRefuse
      }
    notify(kind, [application.fromUser], about: application, reason: reason, &turn)
  }

  /// onGroupApplicationListChanged "to all sessions of everybody in whose Received or Sent list the
  /// application stands", each with the application as that user sees it (Protocol.md, "Application
  /// lists"). A new or renewed application is unread.
  private func announceListChange(of application: GroupApplication, _ turn: inout Turn) {
    let readMarks = turn.facts.readMarks
    var views: [(application: ApplicationInfo, users: [UserID])] = []
    func add(_ user: UserID, isRead: Bool) {
      let view = ApplicationInfo(application, reader: user, isRead: isRead)
      if let index = views.firstIndex(where: { $0.application == view }) {
        views[index].users.append(user)
      } else {
        views.append((view, [user]))
      }
    }
    let deciders = application.toUser.map { [$0] } ?? managers
    for user in deciders { add(user, isRead: readMarks[user].map { application.addTime <= $0 } ?? false) }
    let sender = application.fromUser
    // An applicant who has become a manager in another way decides the own request.
    if sender != .administrator, !deciders.contains(sender) { add(sender, isRead: true) }
    for view in views { turn.send(.onGroupApplicationListChanged(view.application), to: view.users) }
  }
}
