import GroupModel

/// A group as the store keeps it, everything that its actor needs to go on.
public struct StoredGroup: Sendable {
  public var record: GroupRecord
  public var members: [Member]
  /// Those who have left and of whom something is remembered.
  public var former: [FormerMember]
  /// The newest message; nil where there is none.
  public var lastMessage: Message?
  /// The group's attributes.
  public var attributes: GroupAttributes
  /// Applications that nobody has decided yet.
  public var openApplications: [GroupApplication]
  /// When the last session of a member ended, of an AVChatRoom's members alone, and only of those whose last has.
  public var offlineSince: [UserID: Instant]
  /// Stored messages that carry a clientMsgID and were accepted at or after the instant asked for, in order of `seq`.
  public var recentlySent: [Message]

  /// A group with everything given.
  public init(
    record: GroupRecord, members: [Member], former: [FormerMember] = [], lastMessage: Message?, recentlySent: [Message],
    attributes: GroupAttributes = GroupAttributes(), openApplications: [GroupApplication] = [],
    offlineSince: [UserID: Instant] = [:]
  ) {
    self.record = record
    self.members = members
    self.former = former
    self.lastMessage = lastMessage
    self.recentlySent = recentlySent
    self.attributes = attributes
    self.openApplications = openApplications
    self.offlineSince = offlineSince
  }
}

/// A group that a user is a member of, as far as signing in needs it.
public struct Membership: Sendable, Equatable {
  public let groupID: GroupID
  public let type: GroupType
  /// Counts the groups of the store; orders lists that go on from a `nextSeq`. Never changes for a group, never used twice.
  public let groupNumber: Int64

  /// A membership with everything given.
  public init(groupID: GroupID, type: GroupType, groupNumber: Int64) {
    self.groupID = groupID
    self.type = type
    self.groupNumber = groupNumber
  }
}
