import GroupModel

/// A change of stored data. The changes of one `Commit` become durable together or not at all.
public enum StoreChange: Sendable, Equatable {
  /// A new group, or the new state of a known one. `isNew` is for a groupID that is not in use.
  case putGroup(GroupRecord, isNew: Bool)
  /// A new member, or the new state of a known one; forgets that the user ever left this group.
  /// `isKnown` is for one who is a member already, of whom no departure can be left.
  case putMember(Member, in: GroupID, isKnown: Bool = false)
  /// Members find the group in their lists again that they have hidden there: `isHidden` is false, and
  /// `changeTime` this instant. Most messages end it for nobody, some for thousands at once.
  case endHidden([UserID], at: WallInstant, in: GroupID)
  /// Removes a member; `GroupStore.departures` lists the group from then on if its type is listed.
  case removeMember(UserID, from: GroupID, at: WallInstant)
  /// A former member, or the new state of one.
  case putFormer(FormerMember, in: GroupID)
  /// Removes a former member.
  case forgetFormer(UserID, in: GroupID)
  /// The attributes of a group, all of them.
  case putAttributes(GroupAttributes, in: GroupID)
  /// Some counters of a group: new values, and those that are removed.
  case putCounters([GroupCounters.Entry], in: GroupID)
  /// A new application, or the new state of a known one, by its `id`.
  /// - Parameter asNewest: it is new or repeated, and is the first in lists; else it keeps its
  ///   place.
  case putApplication(GroupApplication, asNewest: Bool)
  /// Removes undecided applications of a group, by their `id`; one that is gone does not matter.
  case removeApplications([String], in: GroupID)
  /// Adds a notification for each recipient, or renews one (`SystemNotification.applicationID`).
  /// The oldest beyond `SystemNotification.kept` are removed.
  case notify(SystemNotification, NotificationRecipients)
  /// The texts of a user, all of them. The user becomes known.
  case putUserInfo(UserInfo)
  /// The custom status of a user; empty = none. The user becomes known.
  case putStatus(UserID, String)
  /// Notes users that were ever members of a group of a stored type, or the senders of imported
  /// messages; they stay noted as long as the group is.
  case noteGroup([UserID], in: GroupID)
  /// Blocks a user, or lifts the block; nobody becomes known.
  case putBlock(UserID, UserAccess.Block?, at: WallInstant)
  /// Revokes a user's tokens of before an instant; it never goes back. Nobody becomes known.
  case raiseTokensBefore(UserID, WallInstant, at: WallInstant)
  /// A new deletion of a user's data, or the new state of a known one.
  case putDeletion(UserDeletion)
  /// Removes a deletion that is done; one that runs stays.
  case forgetDeletion(UserID)
  /// Removes what names a deleted user in rows, each by its key; rows that are gone do not matter.
  case erase([ErasedRow])
  /// A new report, or one made again: it is the first in lists.
  case putReport(MessageReport)
  /// Closes a report, or replaces the note of a closed one; an id that is gone does not matter.
  case closeReport(String, note: String?, at: WallInstant)
  /// Marks applications with an `addTime` up to an instant as read; a mark never goes back.
  case markApplicationsRead(UserID, through: WallInstant)
  /// Marks notifications up to a number as read; a mark never goes back.
  case markNotificationsRead(UserID, through: Int64)
  /// The newest message of a group that may be its last message, and when it was sent: the next one
  /// may not.
  case putLastShown(seq: Int64, at: WallInstant, in: GroupID)
  /// A new message; its `seq` is the next of its group.
  case append(Message)
  /// The new state of a stored message (edited or recalled), by its group and `seq`: its content and
  /// its extras.
  case revise(Message)
  /// The members of a group when a message was sent, by userID: also those of later messages, up to
  /// the next such list.
  case putReceiptMembers([UserID], from: Int64, in: GroupID)
  /// A member has read messages; some may be confirmed already.
  case addReadReceipts([Int64], of: UserID, in: GroupID)
  /// The new state of a stored message whose content is the same: its `changeSeq`, and whether it is
  /// pinned.
  case noteChange(Message)
  /// The number of a group's last change of a message, and when that was.
  case putChangeSeq(Int64, at: WallInstant, in: GroupID)
  /// The numbers of a group's last visible decisions (`GroupStamp`); they never go back. A group that is
  /// gone does not matter.
  case putStamp(revision: Int64, board: Int64, in: GroupID)
  /// How a message was changed the last time; beside the change itself.
  case putChangeOrigin(ChangeOrigin, seq: Int64, changeSeq: Int64, in: GroupID)
  /// A reaction of one user.
  case updateReaction(ReactionUpdate)
  /// Removes all reactions of a message.
  case removeReactions(seq: Int64, in: GroupID)
  /// Removes a group with its members and messages; its groupID is free.
  /// - Parameter notifying: a notification for every member; nil = none.
  case dismiss(GroupID, at: WallInstant, notifying: SystemNotification?)
  /// An after-event of the changes beside it, which waits to be posted; `Commit.Answer`
  /// has it with its `storedNumber`.
  case appendWebhook(WebhookEntry)
  /// Removes entries that the application has; numbers that are gone do not matter.
  case removeWebhooks([Int64])
  /// Moves an entry to the failures, or adds one that is in memory only.
  case giveUpWebhook(WebhookEntry, attempts: Int, lastError: String)
  /// Removes failures; numbers that are gone do not matter.
  case removeWebhookFailures([Int64])
  /// Removes the oldest failures, so that about this many are left.
  case trimWebhookFailures(keeping: Int)
}

/// The recipients of a notification, which is stored once for all managers of a group.
public enum NotificationRecipients: Sendable, Equatable {
  case users([UserID])
  /// The owner and admins of the group at the time of reading.
  case managers(of: GroupID)
}
