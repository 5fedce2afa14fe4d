import GroupModel

/// One thing a decision wants remembered. The changes of one `Commit` become durable together or not at all.
public enum StoreChange: Sendable, Equatable {
  /// A new group, or the new state of a known one. `isNew` is for a groupID that is not in use.
  case putGroup(GroupRecord, isNew: Bool)
  /// A new member, or the new state of a known one; forgets that the user ever left this group.
  case putMember(Member, in: GroupID)
  /// The member goes; `departures(of:since:)` names the group from then on.
  case removeMember(UserID, from: GroupID, at: Instant)
  /// What the group remembers of somebody who has left.
  case putFormer(FormerMember, in: GroupID)
  /// The group has nothing to remember of that user any more.
  case forgetFormer(UserID, in: GroupID)
  /// A new message; its `seq` is the next of its group.
  case append(Message)
  /// The new state of a stored message (recalled), found by its group and `seq`.
  case revise(Message)
  /// The group goes with its members and messages; each member has departed, and the groupID is free.
  case dismiss(GroupID, at: Instant)
}
