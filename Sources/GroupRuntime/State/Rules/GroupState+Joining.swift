import GroupModel
import GroupPermissions
import WireProtocol

/// New members: joinGroup, inviteUserToGroup, and the decisions on applications (Protocol.md,
/// "Joining a group", "Invitations" and "Applications").
extension GroupState {
  mutating func join(_ request: JoinGroup, _ facts: UserFacts, by caller: Caller, in context: DecisionContext) throws(WireError)
    -> Decision
  {
    let user = try checkJoin(facts, by: caller, in: context)
    if record.policy.joinMode == .auth { return try submitJoinApplication(request, of: user, by: caller, in: context) }
    var decision = Decision(.joinedGroup(JoinGroup.Result(status: .joined)))
    addJoiner(user, by: caller, .join, in: context, into: &decision)
    return decision
  }

  /// The user who may join, or apply for it.
  @discardableResult
  func checkJoin(_ facts: UserFacts, by caller: Caller, in context: DecisionContext) throws(WireError) -> UserID {
    guard let user = caller.userID else { throw WireError(.noRight, "Only users join groups") }
    if roster[user] != nil, !record.type.everyoneIsMember { throw WireError(.alreadyMember) }
    try require(.join, by: caller)
    try requireNotBanned(user, in: context)
    try checkCapacity(for: user, facts)
    return user
  }

  /// Throws during a ban that was set with the user's removal (kickGroupMember, `banTime`).
  private func requireNotBanned(_ user: UserID, in context: DecisionContext) throws(WireError) {
    guard !roster.isBanned(user, at: context.wall) else {
      throw WireError(.noRight, "Removed from this group and not to come back yet")
    }
  }

  /// Whether the group has its maximum of members. "A full group answers joinGroup 10014 in any
  /// mode."
  var isFull: Bool { record.type.limitsMembers && roster.count >= record.maxMemberNum }

  /// Throws where the group has the maximum of members, or the user of groups.
  private func checkCapacity(for user: UserID, _ facts: UserFacts) throws(WireError) {
    if isFull { throw WireError(.groupFull) }
    if record.type.isListed, facts.atGroupLimit.contains(user) { throw WireError(.tooManyGroups) }
  }

  // MARK: Invitations

  mutating func invite(
    _ request: InviteUserToGroup, _ facts: UserFacts, by caller: Caller, in context: DecisionContext
  ) throws(WireError) -> Decision {
    try checkInvite(by: caller)
    var decision = Decision(.empty)
    var rows: [MemberResult] = []
    var joining: [UserID] = []
    // Rule 3: an application administrator is not bound by beInviteMode.
    let needsConsent = record.policy.beInviteMode == .auth && caller.userID != nil
    for user in request.userIDList {
      var result = invitationOutcome(of: user, facts, by: caller, joining: joining.count, in: context)
      if result == .success, caller.userID != nil, !needsConsent {
        if roster.hasQuit(user, at: context.wall) { result = .fail }
        if result == .success, facts.beyondStrangers.contains(user) { result = .overLimit }
      }
      if result == .success, needsConsent {
        let isSubmitted = submitInvitation(
          of: user, message: request.message ?? "", attach: request.attach, by: caller, in: context, into: &decision)
        result = isSubmitted ? .pending : .overLimit
      } else if result == .success {
        joining.append(user)
      }
      rows.append(MemberResult(userID: user, result: result))
    }
    if !joining.isEmpty { addInvitees(joining, invitedBy: caller, .invited, in: context, into: &decision) }
    decision.answer = .reply(.success(.memberResults(MemberResults(memberList: rows))))
    return decision
  }

  func checkInvite(by caller: Caller) throws(WireError) {
    try requireMembership(caller)
    try require(.invite, by: caller)
  }

  /// "Everything about one target is that target's result"; `success` = the user can be invited.
  private func invitationOutcome(
    of user: UserID, _ facts: UserFacts, by caller: Caller, joining: Int, in context: DecisionContext
  ) -> MemberResult.Outcome {
    if user == caller.userID || roster[user] != nil { return .invalid }
    if roster.isBanned(user, at: context.wall) || facts.unknown.contains(user) { return .fail }
    if record.type.limitsMembers, roster.count + joining >= record.maxMemberNum { return .overLimit }
    return record.type.isListed && facts.atGroupLimit.contains(user) ? .overLimit : .success
  }

  // MARK: Adding members

  /// Adds a user who joins without an inviter: onMemberEnter.
  /// - Parameter decider: who has accepted the application; nil = there was none.
  private mutating func addJoiner(
    _ user: UserID, by caller: Caller, _ how: WebhookContent.Joining, decidedBy decider: Caller? = nil,
    in context: DecisionContext, into decision: inout Decision
  ) {
    addNewMembers([user], invitedBy: nil, in: context, into: &decision)
    let info = memberInfo(of: user)
    let tip = appendTips(.join([info]), by: caller, in: context, into: &decision)
    markReadThroughNewest([user], into: &decision)
    let event = event(.onMemberEnter([info], memberCount: roster.count, on: caller.platform, tip), in: context)
    if record.type.storesMessages {
      announce(event, whenOff: [user], in: context, into: &decision)
    } else {
      announceJoin(of: info, by: caller, event, in: context, into: &decision)
    }
    postJoined([info], how, by: decider.map { eventOperator($0) }, in: context, into: &decision)
  }

  /// Adds users who were invited, and have accepted where that is needed: onMemberInvited.
  /// - Parameter application: the invitation that was accepted.
  private mutating func addInvitees(
    _ users: [UserID], invitedBy inviter: Caller, _ how: WebhookContent.Joining, about application: GroupApplication? = nil,
    in context: DecisionContext,
    into decision: inout Decision
  ) {
    addNewMembers(users, invitedBy: inviter.senderID, in: context, into: &decision)
    let list = users.map { memberInfo(of: $0) }
    let tip = appendTips(.invite(list), by: inviter, in: context, into: &decision)
    markReadThroughNewest(users, into: &decision)
    let event = event(
      .onMemberInvited(list, memberCount: roster.count, by: eventOperator(inviter), tip), in: context)
    // An inviter may have left before the invitation was accepted.
    let present = inviter.userID.flatMap { roster[$0] == nil ? nil : $0 }
    announce(event, whenOff: (present.map { [$0] } ?? []) + users, in: context, into: &decision)
    notify(.invitedToGroup, users, by: eventOperator(inviter), about: application, in: context, into: &decision)
    postJoined(list, how, by: eventOperator(inviter), in: context, into: &decision)
  }

  /// "A joiner's visible history begins with the own Join or Invite tip."
  mutating func addNewMembers(
    _ users: [UserID], invitedBy inviter: UserID?, in context: DecisionContext, into decision: inout Decision
  ) {
    let firstVisibleSeq = messages.lastSeq + 1
    for user in users {
      addMember(user, role: .member, joinTime: context.now, into: &decision) { member in
        member.firstVisibleSeq = firstVisibleSeq
        member.inviter = inviter
      }
    }
  }

  /// A new member has no unread messages, the own tip included. Stores the members.
  mutating func markReadThroughNewest(_ users: [UserID], into decision: inout Decision) {
    let newest = messages.lastSeq
    for user in users {
      guard let member = roster.update(user, { $0.readSeq = newest }) else { continue }
      decision.changes.append(.putMember(member, in: record.id))
    }
  }

  // MARK: Submitting applications

  /// joinGroup under joinMode Auth: the managers decide.
  private mutating func submitJoinApplication(
    _ request: JoinGroup, of user: UserID, by caller: Caller, in context: DecisionContext
  ) throws(WireError) -> Decision {
    var decision = Decision(.joinedGroup(JoinGroup.Result(status: .pending)))
    let message = request.message ?? ""
    let submitted = submitApplication(.join, from: user, to: nil, message: message, attach: nil, in: context, into: &decision)
    guard let application = submitted else { throw WireError(.groupFull, "Too many applications wait for a decision") }
    let applicant = eventOperator(caller)
    let event = event(
      .onReceiveJoinApplication(
        applicationID: application.id, member: applicant.opUser, on: applicant.platform, opReason: message),
      in: context)
    decision.effects.append(.send(event, to: managers))
    notify(
      .addGroupRequest, .managers(of: record.id), by: applicant, about: application, reason: message, in: context, into: &decision
    )
    announceListChange(of: application, in: context, into: &decision)
    return decision
  }

  /// An invitation under beInviteMode Auth: the invited user decides.
  /// - Returns: false where the group has too many applications.
  mutating func submitInvitation(
    of user: UserID, message: String, attach: String?, by caller: Caller, in context: DecisionContext,
    into decision: inout Decision
  ) -> Bool {
    let submitted = submitApplication(
      .invite, from: caller.senderID, to: user, message: message, attach: attach, in: context, into: &decision)
    guard let application = submitted else { return false }
    let event = event(
      .onReceiveGroupInvitation(
        applicationID: application.id, opReason: message, attach: application.attach ?? "", by: eventOperator(caller),
        to: invitedGroup),
      in: context)
    decision.effects.append(.send(event, to: [user]))
    notify(
      .inviteRequest, [user], by: eventOperator(caller), about: application, reason: message, data: application.attach,
      in: context,
      into: &decision)
    announceListChange(of: application, in: context, into: &decision)
    return true
  }

  private var invitedGroup: InvitedGroup {
    InvitedGroup(groupName: record.name, groupType: record.type, faceURL: record.faceURL, memberCount: roster.count)
  }

  /// Creates or renews an application: "renews message and addTime under the same applicationID".
  /// - Returns: nil where the group has too many applications.
  private mutating func submitApplication(
    _ kind: GroupApplication.Kind, from: UserID, to: UserID?, message: String, attach: String?, in context: DecisionContext,
    into decision: inout Decision
  ) -> GroupApplication? {
    var application: GroupApplication
    if let known = applications.application(kind, of: to ?? from) {
      application = known
      application.fromUser = from
      application.addTime = context.now
      application.requestMsg = message
      application.attach = attach
    } else {
      guard !applications.isFull else { return nil }
      application = GroupApplication(
        id: GroupState.makeApplicationID(), groupID: record.id, epoch: record.epoch, kind: kind, fromUser: from, toUser: to,
        addTime: context.now, requestMsg: message, attach: attach)
    }
    applications.put(application)
    decision.changes.append(.putApplication(application, asNewest: true))
    post(.applicationMade, .application(application, isAgreeJoin: nil), at: context.now, into: &decision)
    return application
  }

  private static func makeApplicationID() -> String {
    RandomID.with128Bits()
  }

  // MARK: Deciding applications

  /// acceptGroupApplication and refuseGroupApplication.
  mutating func decide(
    _ stored: GroupApplication, agrees: Bool, reason: String, _ facts: UserFacts, by caller: Caller, in context: DecisionContext
  ) throws(WireError) -> Decision {
    // "Those of a disbanded group are 10010 even when its ID is used again."
    guard stored.epoch == record.epoch else { throw WireError(.noSuchGroup) }
    try requireDecider(caller, of: stored)
    guard var application = applications.open(stored) else { throw WireError(.applicationHandled) }
    var decision = Decision(.empty)
    let candidate = application.candidate
    let joins = agrees && roster[candidate] == nil
    if joins {
      try requireNotBanned(candidate, in: context)
      try checkCapacity(for: candidate, facts)
    }
    application.handling = GroupApplication.Handling(
      isAgreed: agrees, by: caller.senderID, time: context.now, message: reason)
    applications.remove(application)
    decision.changes.append(.putApplication(application, asNewest: false))
    post(.applicationHandled, .application(application, isAgreeJoin: agrees), at: context.now, into: &decision)
    if joins { addCandidate(of: application, decidedBy: caller, in: context, into: &decision) }
    // "For somebody who is a member by now it closes as Agree without an event", but in the lists.
    if joins || !agrees { announceDecision(on: application, reason: reason, by: caller, in: context, into: &decision) }
    announceListChange(of: application, readMarks: facts.readMarks, in: context, into: &decision)
    return decision
  }

  /// Managers decide join applications, invited users their invitations; 10007 for all others.
  private func requireDecider(_ caller: Caller, of application: GroupApplication) throws(WireError) {
    switch application.kind {
    case .join:
      try requireMembership(caller)
      try require(.decideApplications, by: caller)
    case .invite:
      guard let user = caller.userID, user == application.toUser else { throw WireError(.noRight, "Not your invitation") }
    }
  }

  /// "Accepted Join → onMemberEnter (tip Join, opUser the applicant); accepted Invite →
  /// onMemberInvited with the inviter as opUser."
  private mutating func addCandidate(
    of application: GroupApplication, decidedBy caller: Caller, in context: DecisionContext, into decision: inout Decision
  ) {
    switch application.kind {
    case .join:
      let applicant = Caller.user(application.fromUser, platform: caller.platform, session: nil)
      addJoiner(application.fromUser, by: applicant, .accepted, decidedBy: caller, in: context, into: &decision)
    case .invite:
      let inviter: Caller =
        application.fromUser == .administrator
        ? .administrator : .user(application.fromUser, platform: caller.platform, session: nil)
      addInvitees([application.candidate], invitedBy: inviter, .accepted, about: application, in: context, into: &decision)
    }
  }

  /// onApplicationProcessed "to the applicant; for an invitation, the inviter".
  private func announceDecision(
    on application: GroupApplication, reason: String, by caller: Caller, in context: DecisionContext,
    into decision: inout Decision
  ) {
    guard let handling = application.handling, application.fromUser != .administrator else { return }
    let event = event(
      .onApplicationProcessed(
        applicationID: application.id, isAgreeJoin: handling.isAgreed, opReason: reason, by: eventOperator(caller)),
      in: context)
    decision.effects.append(.send(event, to: [application.fromUser]))
    let kind: SystemNotification.Kind =
      switch (application.kind, handling.isAgreed) {
      case (.join, true): .addGroupAccept
      case (.join, false): .addGroupRefuse
      case (.invite, true): .inviteAccept
      case (.invite, false): .inviteRefuse
      }
    notify(
      kind, [application.fromUser], by: eventOperator(caller), about: application, reason: reason, in: context, into: &decision)
  }
}
