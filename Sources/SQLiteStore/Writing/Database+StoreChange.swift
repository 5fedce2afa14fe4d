import GRDB
import GroupModel
import GroupRuntime

extension Database {
  /// Makes one change inside the transaction that is open.
  /// - Parameter appends: the after-events of the transaction.
  /// - Throws: `StoreError` `.inconsistent` where the change contradicts what is stored, or GRDB's
  ///   error.
  func apply(_ change: StoreChange, _ appends: inout WebhookAppends) throws {
    switch change {
    case .putGroup(let record, isNew: true): try GroupRows.insert(record, in: self)
    case .putGroup(let record, isNew: false): try GroupRows.update(record, in: self)
    case .putMember(let member, in: let group): try MemberRows.put(member, in: group, self)
    case .removeMember(let user, from: let group, let time): try MemberRows.remove(user, from: group, at: time, self)
    case .putFormer(let former, in: let group): try FormerMemberRows.put(former, in: group, self)
    case .forgetFormer(let user, in: let group): try FormerMemberRows.forget(user, in: group, self)
    case .putAttributes(let attributes, in: let group): try AttributeRows.put(attributes, in: group, self)
    case .putCounters(let counters, in: let group): try CounterRows.put(counters, in: group, self)
    case .putApplication(let application, asNewest: true): try ApplicationRows.insert(application, in: self)
    case .putApplication(let application, asNewest: false): try ApplicationRows.update(application, in: self)
    case .notify(let notification, let recipients): try NotificationRows.put(notification, for: recipients, self)
    case .putUserInfo(let info): try UserInfoRows.put(info, self)
    case .markApplicationsRead(let user, through: let time):
      try ReadMarks.advance(.applications, of: user, to: time.milliseconds, self)
    case .markNotificationsRead(let user, through: let number): try ReadMarks.advance(.notifications, of: user, to: number, self)
    case .append(let message): try MessageRows.append(message, in: self)
    case .revise(let message): try MessageRows.revise(message, in: self)
    case .putReceiptMembers(let members, from: let seq, in: let group):
      try ReadReceiptRows.put(members, from: seq, in: group, self)
    case .addReadReceipts(let seqs, of: let reader, in: let group): try ReadReceiptRows.confirm(seqs, by: reader, in: group, self)
    case .noteChange(let message): try MessageChangeRows.put(message, in: self)
    case .putChangeSeq(let changeSeq, at: let time, in: let group):
      try MessageChangeRows.put(changeSeq, at: time, in: group, self)
    case .updateReaction(let update): try ReactionRows.update(update, in: self)
    case .removeReactions(let seq, in: let group): try ReactionRows.remove(of: seq, in: group, self)
    case .dismiss(let group, let time, let notification):
      // The rows of its messages need the group's number.
      try appends.finish(.group(group), in: self)
      try dismiss(group, at: time, notifying: notification)
    case .appendWebhook(let entry): try appends.append(entry, in: self)
    case .removeWebhooks(let numbers): try WebhookRows.remove(numbers, in: self)
    case .giveUpWebhook(let entry, let attempts, let error): try WebhookRows.giveUp(entry, attempts: attempts, error, in: self)
    case .removeWebhookFailures(let numbers): try WebhookRows.removeFailures(numbers, in: self)
    case .trimWebhookFailures(let count): try WebhookRows.trimFailures(keeping: count, in: self)
    }
  }

  // A few rows change now, however big the group is; `DisbandedGroupCleanup` clears the others.
  private func dismiss(_ group: GroupID, at time: WallInstant, notifying notification: SystemNotification?) throws {
    if let notification, let number = try number(of: group) {
      try NotificationRows.put(notification, for: [NotificationRows.members(of: number)], self)
    }
    let moved = try run(
      "INSERT INTO dismissedGroup SELECT number, groupID, type, ? FROM groupRecord WHERE groupID = ?", [time, group.rawValue])
    guard moved == 1 else { throw StoreError(.inconsistent, "no group \(group) to disband") }
    try run("DELETE FROM groupRecord WHERE groupID = ?", [group.rawValue])
  }
}
