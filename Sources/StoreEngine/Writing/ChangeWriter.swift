import GroupModel
import GroupRuntime

/// A transaction of a store: it writes changes in a dialect of SQL.
///
/// A change that contradicts the stored rows throws `.inconsistent`, at once or when the transaction
/// is checked.
package protocol ChangeWriter: ErasureWriter, AnyObject {
  /// Stores the record of a new group.
  func insert(_ record: GroupRecord) throws
  /// Stores the record of a known group.
  func update(_ record: GroupRecord) throws
  /// Ends what is left of earlier memberships of a group of that ID: the user's departure, and the
  /// rows of disbanded groups that are not cleared away yet. The notification of their end becomes one
  /// of the user's own.
  func endDepartures(of user: UserID, from group: GroupID) throws
  /// Stores a member.
  func put(_ member: Member, in group: GroupID) throws
  /// Removes a member; leaves a departure where the group's type is listed.
  func removeMember(_ user: UserID, from group: GroupID, at time: WallInstant) throws
  /// Members find a group in their lists again that they have hidden there.
  func endHidden(of users: [UserID], at time: WallInstant, in group: GroupID) throws
  /// Stores a former member.
  func put(_ former: FormerMember, in group: GroupID) throws
  /// Removes a former member.
  func forgetFormer(_ user: UserID, in group: GroupID) throws
  /// Stores the newest message of a group that may be its last message, and when it was sent.
  func put(lastShown seq: Int64, at time: WallInstant, in group: GroupID) throws
  /// Stores all attributes of a group.
  func put(_ attributes: GroupAttributes, in group: GroupID) throws
  /// Stores the counters that have a value, and removes the others.
  func put(_ counters: [GroupCounters.Entry], in group: GroupID) throws
  /// Stores an application as the newest of all, and not where it was.
  func insert(_ application: GroupApplication) throws
  /// Stores the state of an application in its place.
  func update(_ application: GroupApplication) throws
  /// Adds a notification for each recipient, or renews one.
  func put(_ notification: SystemNotification, for recipients: NotificationRecipients) throws
  /// Stores the texts of a user, who becomes known.
  func put(_ info: UserInfo) throws
  /// Stores the custom status of a user, who becomes known; empty = none.
  func put(status: String, of user: UserID) throws
  /// Blocks a user; nil = lifts the block, where there is a row.
  func put(_ block: UserAccess.Block?, of user: UserID, at time: WallInstant) throws
  /// Revokes the tokens of a user from before an instant; an earlier instant changes nothing.
  func raiseTokens(of user: UserID, before instant: WallInstant, at time: WallInstant) throws
  /// Stores a report as the newest of all, in the place of the one with its id.
  func put(_ report: MessageReport) throws
  /// Closes a report, where there is one, with a note in the place of the one it has.
  func closeReport(_ id: String, note: String?) throws
  /// Advances a user's mark.
  func advance(_ kind: ReadMark, of user: UserID, to mark: Int64) throws
  /// Stores the next message of its group, with its extras.
  func append(_ message: Message) throws
  /// Stores the content and the extras of a stored message.
  func revise(_ message: Message) throws
  /// Stores the change of a stored message. One that retention has removed stays as it is.
  func noteChange(of message: Message) throws
  /// Stores the number of a group's last change of a message.
  func put(changeSeq: Int64, at time: WallInstant, in group: GroupID) throws
  /// Raises the numbers of a group's visible decisions; lower ones change nothing, and a group that has
  /// ended has none.
  func put(revision: Int64, board: Int64, in group: GroupID) throws
  /// Stores how a message was changed, beside that change. One that retention has removed has nothing.
  func put(_ origin: ChangeOrigin, of seq: Int64, changeSeq: Int64, in group: GroupID) throws
  /// Stores the members from a message on.
  func putReceiptMembers(_ members: [UserID], from seq: Int64, in group: GroupID) throws
  /// Notes that a member has read messages.
  func confirm(_ seqs: [Int64], by reader: UserID, in group: GroupID) throws
  /// Stores a reaction, or removes it.
  func update(_ reaction: ReactionUpdate) throws
  /// Removes the reactions of a message; their users are deleted in the background.
  func removeReactions(of seq: Int64, in group: GroupID) throws
  /// Ends a group: a few rows change now, however big it is.
  func dismiss(_ group: GroupID, at time: WallInstant, notifying notification: SystemNotification?) throws
  /// Adds an after-event with the profiles of this transaction, and numbers it.
  func append(_ entry: WebhookEntry) throws
  /// How many after-events were added so far, those of a body of `apart` that was taken back
  /// included: the place of the next among the answers of `StoreWriter.write`.
  var appendedCount: Int { get }
  /// Removes after-events.
  func removeWebhooks(_ numbers: [Int64]) throws
  /// Adds a failure, where the entry waits no more as well: it was not posted.
  func giveUp(_ entry: WebhookEntry, attempts: Int, _ error: String) throws
  /// Removes failures.
  func removeWebhookFailures(_ numbers: [Int64]) throws
  /// Removes the oldest failures.
  func trimWebhookFailures(keeping count: Int) throws

  /// Runs the body alone within the transaction.
  /// - Returns: why what it has done was taken back; nil = it stays.
  /// - Throws: where the whole transaction has failed.
  func apart(_ body: () throws -> Void) throws -> StoreError?
}

/// How far a user has read; the raw value is the column of `readMark`.
package enum ReadMark: String, Sendable { case applications, notifications }

extension ChangeWriter {
  /// Makes one change.
  package func apply(_ change: StoreChange) throws {
    switch change {
    case .putGroup(let record, isNew: true): try insert(record)
    case .putGroup(let record, isNew: false): try update(record)
    case .putMember(let member, in: let group, isKnown: let isKnown):
      // Only who is new can have left before.
      if !isKnown { try endDepartures(of: member.userID, from: group) }
      try put(member, in: group)
    case .removeMember(let user, from: let group, let time): try removeMember(user, from: group, at: time)
    case .endHidden(let users, at: let time, in: let group): try endHidden(of: users, at: time, in: group)
    case .putFormer(let former, in: let group): try put(former, in: group)
    case .forgetFormer(let user, in: let group): try forgetFormer(user, in: group)
    case .putAttributes(let attributes, in: let group): try put(attributes, in: group)
    case .putCounters(let counters, in: let group): try put(counters, in: group)
    case .putApplication(let application, asNewest: true): try insert(application)
    case .putApplication(let application, asNewest: false): try update(application)
    case .notify(let notification, let recipients): try put(notification, for: recipients)
    case .putUserInfo(let info): try put(info)
    case .putStatus(let user, let status): try put(status: status, of: user)
    case .noteGroup(let users, in: let group): try note(users, in: group)
    case .putBlock(let user, let block, at: let time): try put(block, of: user, at: time)
    case .raiseTokensBefore(let user, let instant, at: let time): try raiseTokens(of: user, before: instant, at: time)
    case .putDeletion(let deletion): try put(deletion)
    case .forgetDeletion(let user): try forgetDeletion(of: user)
    case .erase(let rows): for row in rows { try erase(row) }
    case .removeApplications(let ids, in: let group): try eraseApplications(ids, in: group)
    case .putReport(let report): try put(report)
    case .closeReport(let id, note: let note, at: _): try closeReport(id, note: note)
    case .markApplicationsRead(let user, through: let time): try advance(.applications, of: user, to: time.milliseconds)
    case .markNotificationsRead(let user, through: let number): try advance(.notifications, of: user, to: number)
    case .append(let message): try append(message)
    case .revise(let message):
      try revise(message)
      if message.changeSeq > 0 { try noteChange(of: message) }
    case .putLastShown(let seq, at: let time, in: let group): try put(lastShown: seq, at: time, in: group)
    case .putReceiptMembers(let members, from: let seq, in: let group): try putReceiptMembers(members, from: seq, in: group)
    case .addReadReceipts(let seqs, of: let reader, in: let group): try confirm(seqs, by: reader, in: group)
    case .noteChange(let message): try noteChange(of: message)
    case .putChangeSeq(let changeSeq, at: let time, in: let group): try put(changeSeq: changeSeq, at: time, in: group)
    case .putStamp(let revision, let board, in: let group): try put(revision: revision, board: board, in: group)
    case .putChangeOrigin(let origin, let seq, let changeSeq, in: let group):
      try put(origin, of: seq, changeSeq: changeSeq, in: group)
    case .updateReaction(let update): try self.update(update)
    case .removeReactions(let seq, in: let group): try removeReactions(of: seq, in: group)
    case .dismiss(let group, let time, let notification): try dismiss(group, at: time, notifying: notification)
    case .appendWebhook(let entry): try append(entry)
    case .removeWebhooks(let numbers): try removeWebhooks(numbers)
    case .giveUpWebhook(let entry, let attempts, let error): try giveUp(entry, attempts: attempts, error)
    case .removeWebhookFailures(let numbers): try removeWebhookFailures(numbers)
    case .trimWebhookFailures(let count): try trimWebhookFailures(keeping: count)
    }
  }
}
