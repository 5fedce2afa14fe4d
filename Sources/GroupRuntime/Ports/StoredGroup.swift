import GroupModel

/// A group as the store keeps it, everything that its actor needs to go on.
public struct StoredGroup: Sendable {
  public var record: GroupRecord
  public var members: [Member]
  /// Those who have left and of whom something is remembered, as many as were asked for.
  public var former: [FormerMember]
  /// The newest message; nil where there is none.
  public var lastMessage: Message?
  /// The group's attributes.
  public var attributes: GroupAttributes
  /// Applications that nobody has decided yet.
  public var openApplications: [GroupApplication]
  /// When the last session of a member ended, of an AVChatRoom's members alone, and only of those whose last has.
  public var offlineSince: [UserID: Instant]
  /// The stored messages that carry a clientMsgID and were accepted at or after the instant asked for, in order of `seq`.
  public var recentlySent: [SentMessage]

  /// A group with everything given.
  public init(
    record: GroupRecord, members: [Member], former: [FormerMember] = [], lastMessage: Message?, recentlySent: [SentMessage],
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

/// What a group remembers of a stored message to recognise its clientMsgID: no content.
public struct SentMessage: Sendable, Equatable {
  public let sender: UserID
  public let clientMsgID: String
  public let msgID: String
  public let seq: Int64
  public let timestamp: Instant

  /// A message with everything given.
  public init(sender: UserID, clientMsgID: String, msgID: String, seq: Int64, timestamp: Instant) {
    self.sender = sender
    self.clientMsgID = clientMsgID
    self.msgID = msgID
    self.seq = seq
    self.timestamp = timestamp
  }

  /// What is remembered of a stored message; nil where it has no clientMsgID, or is not stored.
  public init?(_ message: Message) {
    guard let seq = message.seq, let clientMsgID = message.clientMsgID else { return nil }
    self.init(
      sender: message.sender, clientMsgID: clientMsgID, msgID: message.msgID, seq: seq, timestamp: message.timestamp)
  }
}

/// What a sign-in needs to know of its user.
public struct SignInRecord: Sendable, Equatable {
  /// The groups the user is a member of, by `groupNumber` ascending.
  public let memberships: [Membership]
  /// When the user's last session ended; nil where there is one, or never was.
  public let offlineSince: Instant?

  /// A record with everything given.
  public init(memberships: [Membership], offlineSince: Instant?) {
    self.memberships = memberships
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
