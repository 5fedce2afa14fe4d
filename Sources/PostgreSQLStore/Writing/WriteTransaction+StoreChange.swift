import GroupModel
import GroupRuntime

extension WriteTransaction {
  /// Sends the statements of one change.
  /// - Throws: `StoreError` `.inconsistent` where the change contradicts itself; what contradicts the
  ///   stored rows is found by `check` and `commit`.
  func apply(_ change: StoreChange) throws {
    switch change {
    case .putGroup(let record, isNew: true): try GroupRows.insert(record, self)
    case .putGroup(let record, isNew: false): try GroupRows.update(record, self)
    case .putMember(let member, in: let group): try MemberRows.put(member, in: group, self)
    case .removeMember(let user, from: let group, let time): try MemberRows.remove(user, from: group, at: time, self)
    case .putFormer(let former, in: let group): try FormerMemberRows.put(former, in: group, self)
    case .forgetFormer(let user, in: let group): try FormerMemberRows.forget(user, in: group, self)
    case .putAttributes(let attributes, in: let group): try AttributeRows.put(attributes, in: group, self)
    case .putCounters(let counters, in: let group): try CounterRows.put(counters, in: group, self)
    case .putApplication(let application, asNewest: true): try ApplicationRows.insert(application, self)
    case .putApplication(let application, asNewest: false): try ApplicationRows.update(application, self)
    case .notify(let notification, let recipients): try NotificationRows.put(notification, for: recipients, self)
    case .putUserInfo(let info): try UserInfoRows.put(info, self)
    case .markApplicationsRead(let user, through: let time):
      try ReadMarks.advance(.applications, of: user, to: time.milliseconds, self)
    case .markNotificationsRead(let user, through: let number): try ReadMarks.advance(.notifications, of: user, to: number, self)
    case .append(let message): try MessageRows.append(message, self)
    case .revise(let message): try MessageRows.revise(message, self)
    case .putReceiptMembers(let members, from: let seq, in: let group):
      try ReadReceiptRows.put(members, from: seq, in: group, self)
    case .addReadReceipts(let seqs, of: let reader, in: let group): try ReadReceiptRows.confirm(seqs, by: reader, in: group, self)
    case .noteChange(let message): try MessageChangeRows.put(message, self)
    case .putChangeSeq(let changeSeq, at: let time, in: let group):
      try MessageChangeRows.put(changeSeq, at: time, in: group, self)
    case .updateReaction(let update): try ReactionRows.update(update, self)
    case .removeReactions(let seq, in: let group): try ReactionRows.remove(of: seq, in: group, self)
    case .dismiss(let group, let time, let notification): try dismiss(group, at: time, notifying: notification)
    case .appendWebhook(let entry): try WebhookRows.append(entry, self)
    case .removeWebhooks(let numbers): try WebhookRows.remove(numbers, self)
    case .giveUpWebhook(let entry, let attempts, let error): try WebhookRows.giveUp(entry, attempts: attempts, error, self)
    case .removeWebhookFailures(let numbers): try WebhookRows.removeFailures(numbers, self)
    case .trimWebhookFailures(let count): try WebhookRows.trimFailures(keeping: count, self)
    }
  }

  // A few rows change now, however big the group is; `DisbandedGroupCleanup` clears the others.
  private func dismiss(_ group: GroupID, at time: WallInstant, notifying notification: SystemNotification?) throws {
    if let notification { try NotificationRows.put(notification, forMembersOf: group, self) }
    try runForOne(
      """
      WITH gone AS (DELETE FROM groupRecord WHERE groupID = $1 RETURNING number, groupID, type)
      INSERT INTO dismissedGroup SELECT number, groupID, type, $2 FROM gone
      """, [group.rawValue, time]
    ) { "no group \(group) to disband" }
  }
}
