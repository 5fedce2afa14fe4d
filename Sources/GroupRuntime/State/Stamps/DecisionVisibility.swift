import GroupModel
import WireProtocol

/// The components of a group's stamp that a decision has to raise, because members see what it changes
/// (Cluster.md, "Stamps").
struct DecisionVisibility: OptionSet, Sendable {
  let rawValue: UInt8

  /// `seq`, which the message has anyway.
  static let message = DecisionVisibility(rawValue: 1)
  /// `changeSeq`, which the change has anyway.
  static let change = DecisionVisibility(rawValue: 2)
  static let revision = DecisionVisibility(rawValue: 4)
  static let board = DecisionVisibility(rawValue: 8)
  /// `board`, by a step: its last state does not tell what has gone.
  static let removal = DecisionVisibility(rawValue: 16)
}

extension Decision {
  /// What the decision has to raise. Nothing where it stores nothing: what it tells is told once, or
  /// stored by an earlier one. Nothing, too, where the group begins or ends with it: the epoch tells.
  /// - Parameter hears: whether an event to some users, one session apart, reaches a session.
  func visibility(hears: ([UserID], SessionKey?) -> Bool) -> DecisionVisibility {
    if changes.isEmpty || disbands { return [] }
    var visibility: DecisionVisibility = []
    for change in changes {
      if case .putGroup(_, isNew: true) = change { return [] }
      visibility.formUnion(change.visibility)
    }
    for effect in effects { visibility.formUnion(effect.visibility(hears)) }
    return visibility
  }
}

extension StoreChange {
  /// What members see of it. What they see of the others, effects tell.
  var visibility: DecisionVisibility {
    switch self {
    // Equal revisions mean that no member, role, option or info has changed, and tips tell of these.
    case .append(let message): message.isChat ? .message : [.message, .revision]
    case .putChangeSeq: .change
    case .putAttributes: .board
    // An event names the counters that have changed, and the last state those that are left.
    case .putCounters(let entries, in: _): entries.contains { $0.value == nil } ? [.board, .removal] : .board
    case .putGroup, .putMember, .endHidden, .removeMember, .putFormer, .forgetFormer, .putApplication, .removeApplications,
      .notify, .putUserInfo, .putStatus, .noteGroup, .putBlock, .raiseTokensBefore, .putDeletion, .forgetDeletion, .erase,
      .putReport, .closeReport, .markApplicationsRead, .markNotificationsRead, .putLastShown, .revise, .putReceiptMembers,
      .addReadReceipts, .noteChange, .putStamp, .putChangeOrigin, .updateReaction, .removeReactions, .dismiss,
      .appendWebhook, .removeWebhooks, .giveUpWebhook, .removeWebhookFailures, .trimWebhookFailures:
      []
    }
  }
}

extension Effect {
  fileprivate func visibility(_ hears: ([UserID], SessionKey?) -> Bool) -> DecisionVisibility {
    switch self {
    case .attach, .setReceiveOption, .attachSignedInUsers, .detach: .revision
    case .publish(let event, _, except: _): event.content.raisesRevision ? .revision : []
    case .send(let event, to: let users, except: let session):
      event.content.raisesRevision && hears(users, session) ? .revision : []
    case .noteReceipts: .board
    // A session is told of its own message of a live room, which nobody tells again.
    case .sendToSession, .forgetContent, .disband, .post: []
    }
  }
}

extension GroupEvent.Content {
  /// Whether nothing but the revision tells that it was sent.
  fileprivate var raisesRevision: Bool {
    switch self {
    // Told by `seq`, or not stored.
    case .onRecvNewMessage, .onMessageDropped, .onGroupSignal: false
    // Told by `changeSeq`; the event of an earlier change may leave with this decision.
    case .onRecvMessageRevoked, .onRecvMessageModified, .onRecvMessageReactionsChanged, .onGroupMessagePinned: false
    // Told by `board`.
    case .onGroupAttributeChanged, .onGroupCounterChanged, .onRecvMessageReadReceipts: false
    case .onMemberEnter, .onMemberLeave, .onMemberInvited, .onMemberKicked, .onGroupMemberInfoChanged, .onGroupCreated,
      .onGroupDismissed, .onGroupRecycled, .onGroupInfoChanged, .onReceiveJoinApplication, .onReceiveGroupInvitation,
      .onApplicationProcessed, .onGroupApplicationListChanged, .onGrantAdministrator, .onRevokeAdministrator,
      .onQuitFromGroup, .onReceiveMessageOptChanged, .onConversationRead, .onConversationChanged, .onReceiveRESTCustomData:
      true
    }
  }
}
