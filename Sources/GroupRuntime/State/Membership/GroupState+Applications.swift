import GroupModel
import GroupPermissions
import WireProtocol

/// Applications to join, and invitations that ask first (Protocol.md, "Applications").
extension GroupState {
  /// joinGroup under joinMode Auth: the managers are asked.
  mutating func apply(_ request: JoinGroup, of user: UserID, in context: DecisionContext) throws(WireError) -> Decision {
    var decision = Decision(.joinedGroup(JoinGroup.Result(status: .pending)))
    let message = request.message ?? ""
    guard
      let application = lodge(.join, from: user, to: nil, message: message, attach: nil, in: context, into: &decision)
    else { throw WireError(.groupFull, "Too many applications wait for a decision") }
    let applicant = person(user)
    let event = event(
      .onReceiveJoinApplication(applicationID: application.id, member: applicant, opReason: message), in: context)
    decision.effects.append(.send(event, to: managers))
    notify(
      .addGroupRequest, .managers(of: record.id), by: applicant, about: application, reason: message, in: context, into: &decision
    )
    return decision
  }

  /// An invitation under beInviteMode Auth: the user is asked.
  /// - Returns: false where too many applications wait already.
  mutating func ask(
    _ user: UserID, _ request: InviteUserToGroup, by caller: Caller, in context: DecisionContext, into decision: inout Decision
  ) -> Bool {
    let message = request.message ?? ""
    guard
      let application = lodge(
        .invite, from: caller.senderID, to: user, message: message, attach: request.attach, in: context, into: &decision)
    else { return false }
    let event = event(
      .onReceiveGroupInvitation(
        applicationID: application.id, opReason: message, attach: application.attach ?? "", by: eventOperator(caller)),
      in: context)
    decision.effects.append(.send(event, to: [user]))
    notify(
      .inviteRequest, [user], by: operatorInfo(caller), about: application, reason: message, data: application.attach,
      in: context,
      into: &decision)
    return true
  }

  /// Makes an application, or makes it again: "renews message and addTime under the same applicationID".
  /// - Returns: nil where too many wait for a decision.
  private mutating func lodge(
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
    return application
  }

  private static func makeApplicationID() -> String {
    RandomID.with128Bits()
  }

  // MARK: Deciding

  /// acceptGroupApplication and refuseGroupApplication.
  mutating func decide(
    _ stored: GroupApplication, agrees: Bool, reason: String, _ facts: UserFacts, by caller: Caller, in context: DecisionContext
  ) throws(WireError) -> Decision {
    // "Those of a disbanded group are 10010 even when its ID is used again."
    guard stored.epoch == record.epoch else { throw WireError(.noSuchGroup) }
    try checkDecider(caller, of: stored)
    guard var application = applications.open(stored) else { throw WireError(.applicationHandled) }
    var decision = Decision(.empty)
    let candidate = application.candidate
    let joins = agrees && members[candidate] == nil
    if joins { try checkEntry(of: candidate, facts, in: context) }
    application.handling = GroupApplication.Handling(
      isAgreed: agrees, by: caller.senderID, time: context.now, message: reason)
    applications.remove(application)
    decision.changes.append(.putApplication(application, asNewest: false))
    if joins { admit(by: application, caller: caller, in: context, into: &decision) }
    // "For somebody who is a member by now it closes as Agree without an event."
    if joins || !agrees { tell(of: application, reason: reason, by: caller, in: context, into: &decision) }
    return decision
  }

  /// The managers decide who joins, the invited whether to come: 10007 for everybody else.
  private func checkDecider(_ caller: Caller, of application: GroupApplication) throws(WireError) {
    switch application.kind {
    case .join:
      try requireMembership(caller)
      try require(.decideApplications, by: caller)
    case .invite:
      guard let user = caller.userID, user == application.toUser else { throw WireError(.noRight, "Not your invitation") }
    }
  }

  private func checkEntry(of user: UserID, _ facts: UserFacts, in context: DecisionContext) throws(WireError) {
    if isBanned(user, at: context.wall) { throw WireError(.noRight, "Removed from this group and not to come back yet") }
    try checkRoom(for: user, facts)
  }

  /// "Accepted Join → onMemberEnter (tip Join, opUser the applicant); accepted Invite → onMemberInvited with the inviter as opUser."
  private mutating func admit(
    by application: GroupApplication, caller: Caller, in context: DecisionContext, into decision: inout Decision
  ) {
    switch application.kind {
    case .join:
      let applicant = Caller.user(application.fromUser, platform: caller.platform, session: nil)
      enter(application.fromUser, by: applicant, in: context, into: &decision)
    case .invite:
      let inviter: Caller =
        application.fromUser == .administrator
        ? .administrator : .user(application.fromUser, platform: caller.platform, session: nil)
      enter([application.candidate], invitedBy: inviter, in: context, into: &decision)
    }
  }

  /// onApplicationProcessed "to the applicant; for an invitation, the inviter".
  private func tell(
    of application: GroupApplication, reason: String, by caller: Caller, in context: DecisionContext,
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
    notify(kind, [application.fromUser], by: operatorInfo(caller), reason: reason, in: context, into: &decision)
  }
}
