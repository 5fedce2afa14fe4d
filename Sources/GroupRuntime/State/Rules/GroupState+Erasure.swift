import GroupModel
import WireProtocol

/// What a group forgets of a user who is deleted (Protocol.md, "Deleting a user"). The job behind
/// deleteUser asks for it as an application administrator, and may ask twice.
extension GroupState {
  mutating func erase(_ erasure: GroupErasure, of user: UserID, _ turn: inout Turn) throws(WireError) {
    switch erasure {
    case .leave: eraseMembership(of: user, &turn)
    case .records: eraseRecords(of: user, &turn)
    case .reaction(let seq, let reaction):
      guard record.type.storesMessages else { return }
      turn.answer(over: .message(MessageLookUp(seq: seq, purpose: .eraseReaction(reaction, of: user))))
    case .recall(let seq): try revoke(.seq(seq), &turn)
    case .texts: messages.eraseTexts(of: user)
    }
  }

  /// The user was in this group, a member or not: there is something to erase in it.
  func noteGroup(of users: [UserID], _ turn: inout Turn) {
    guard record.type.storesMessages, !users.isEmpty else { return }
    turn.store(.noteGroup(users, in: record.id))
  }

  // MARK: The membership

  /// "The user leaves every group; a group owned passes to the earliest-joined member, whatever
  /// ownerQuitMode is; without another member, and an AVChatRoom, it is disbanded." An owned BChatRoom
  /// is, too.
  private mutating func eraseMembership(of user: UserID, _ turn: inout Turn) {
    guard roster[user] != nil else { return }
    if record.owner == user {
      guard record.type.storesMessages, let successor = roster.findSuccessor() else { return disband(.dismissed, &turn) }
      transferOwnership(to: successor, &turn)
    }
    // As it is after the transfer.
    guard let member = roster[user] else { return }
    removeMember(member, keepsRole: false, &turn)
    eraseRecords(of: user, &turn)
    // The application may have made the user a member again behind the job's look at this group.
    noteGroup(of: [user], &turn)
    // Everybody stays a member of a group of everybody, and nobody is told.
    if record.type.everyoneIsMember { return }
    turn.perform(.detach(user))
    let (list, opUser) = ([MemberInfo(member.withoutTexts)], eventOperator(turn))
    let tip = appendTips(.quit(list), &turn)
    announceLeave(of: list, on: nil, tip, &turn)
    postLeft(list, .quit, by: opUser, &turn)
  }

  // MARK: Records and applications

  /// What is kept of a former member, apart from a ban and a mute, which are the group's; and
  /// applications that nobody has decided.
  private mutating func eraseRecords(of user: UserID, _ turn: inout Turn) {
    if let removal = roster.eraseFormer(user, at: turn.wall) {
      if let former = removal.former { turn.store(.putFormer(former, in: record.id)) }
      for user in removal.forgotten { turn.store(.forgetFormer(user, in: record.id)) }
      // Who has left is known since a later instant.
      turn.store(recordChange())
    }
    let own = applications.removeAll(of: user)
    if !own.isEmpty { turn.store(.removeApplications(own.map(\.id), in: record.id)) }
  }

  // MARK: Reactions

  /// "Reactions that go are changes without events."
  mutating func eraseReaction(
    _ found: FoundMessage?, _ reaction: String, to seq: Int64, of user: UserID, _ turn: inout Turn
  ) {
    guard var message = current(found, seq: seq), !message.isRevoked else { return }
    var reactions = messages.recentChanges[seq]?.reactions ?? ReactionsOfMessage(found?.reactions ?? [])
    let isGiven =
      reactions.isGiven(reaction, by: user)
      ?? found?.reactions.contains { $0.isByReader && $0.reaction.isSame(as: reaction) } ?? false
    guard isGiven, let number = reactions.remove(reaction, by: user) else { return }
    noteChange(of: &message, seq: seq, .silent, reactions: reactions, &turn)
    turn.store(.noteChange(message))
    turn.store(
      .updateReaction(
        ReactionUpdate(
          group: record.id, seq: seq, number: number, reaction: reaction, user: user, isAdded: false,
          changeSeq: message.changeSeq)))
  }
}

extension Member {
  /// The same without the texts that the user has given, for what tells of the end of the membership.
  fileprivate var withoutTexts: Member {
    var member = self
    member.nameCard = ""
    member.customInfo = [:]
    return member
  }
}
