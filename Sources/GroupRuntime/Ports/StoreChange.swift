import GroupModel

/// One thing a decision wants remembered. The changes of one `Commit` become durable together or not at all.
public enum StoreChange: Sendable, Equatable {
  /// A new group, or the new state of a known one. `isNew` is for a groupID that is not in use.
  case putGroup(GroupRecord, isNew: Bool)
  /// A new member, or the new state of a known one; forgets that the user ever left this group.
  case putMember(Member, in: GroupID)
  /// The member goes; where the type is listed, `departures(of:since:)` names the group from then on.
  case removeMember(UserID, from: GroupID, at: Instant)
  /// What the group remembers of somebody who has left.
  case putFormer(FormerMember, in: GroupID)
  /// The group has nothing to remember of that user any more.
  case forgetFormer(UserID, in: GroupID)
  /// The attributes of a group, all of them.
  case putAttributes(GroupAttributes, in: GroupID)
  /// A new application or the new state of a known one, found by its `id`.
  /// - Parameter asNewest: it is new or was made again, and lists name it first; else it keeps its place.
  case putApplication(GroupApplication, asNewest: Bool)
  /// Each recipient has one more notification, or a renewed one (`SystemNotification.applicationID`); of more than
  /// `SystemNotification.kept` the oldest go.
  case notify(SystemNotification, NotificationRecipients)
  /// The user has read the applications with an `addTime` up to an instant; a mark never goes back.
  case markApplicationsRead(UserID, through: Instant)
  /// The user has read the notifications up to a number; a mark never goes back.
  case markNotificationsRead(UserID, through: Int64)
  /// A new message; its `seq` is the next of its group.
  case append(Message)
  /// The new state of a stored message (recalled), found by its group and `seq`.
  case revise(Message)
  /// The group goes with its members and messages; each member has departed, and the groupID is free.
  /// - Parameter notifying: what every member finds among the notifications; nil = nothing.
  case dismiss(GroupID, at: Instant, notifying: SystemNotification?)
}

/// Who finds a notification in the list. However many they are, it is stored once for a group's managers.
public enum NotificationRecipients: Sendable, Equatable {
  case users([UserID])
  /// Whoever is owner or admin of the group when reading.
  case managers(of: GroupID)
}
