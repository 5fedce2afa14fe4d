import GroupModel

/// A group as the store keeps it, for its actor.
public struct StoredGroup: Sendable {
  public var record: GroupRecord
  public var members: [Member]
  /// Former members of whom something is still of use, as many as were asked for.
  public var former: [FormerMember]
  /// The newest message that may be the last message; nil = there is none, or retention has removed it.
  public var lastMessage: Message?
  /// The oldest message that retention keeps; the next message's `seq` where there is none.
  public var firstSeq: Int64
  /// The timestamp of the newest message that retention has removed and that may be a last message.
  public var removedTime: WallInstant
  public var attributes: GroupAttributes
  public var counters = GroupCounters()
  /// Undecided applications.
  public var openApplications: [GroupApplication]
  /// The ends of the last sessions of an AVChatRoom's members, for those without a session.
  public var offlineSince: [UserID: WallInstant]
  /// The messages with a clientMsgID accepted at or after the instant asked for, by `seq`.
  public var recentlySent: [SentMessage]
  /// The instant asked for; unset = `recentlySent` has all messages with a clientMsgID.
  public var sentSince = WallInstant.unset
  /// The `seq` of the pinned messages, the last pinned first.
  public var pinned: [Int64] = []
  /// The newest message, where it may not be the last message.
  private var newest: (seq: Int64, time: WallInstant)?

  /// The newest message's number, removed or not; 0 where there was none.
  public var lastSeq: Int64 { newest?.seq ?? lastMessage?.seq ?? firstSeq - 1 }
  /// The newest message's timestamp, also where retention has removed all.
  public var newestTime: WallInstant { newest?.time ?? lastMessage?.timestamp ?? removedTime }
  /// The timestamp of the newest message that may be the last message, removed or not.
  public var lastTime: WallInstant {
    newest == nil ? newestTime : lastMessage?.timestamp ?? max(record.lastShownTime, removedTime)
  }

  /// From this instant on `recentlySent` has every message with a clientMsgID that was ever stored.
  var receiptsSince: WallInstant {
    guard firstSeq > 1 else { return sentSince }
    // `removedTime` leaves out what was never a last message: how much was removed is not known.
    guard record.messageFeatures.isDisjoint(with: .uncounted) else { return .distantFuture }
    return max(sentSince, removedTime.advanced(byMilliseconds: 1))
  }

  /// The newest message is one that may not be the last message.
  public mutating func setNewest(_ seq: Int64, at time: WallInstant) { newest = (seq, time) }

  /// A group with everything given.
  public init(
    record: GroupRecord, members: [Member], former: [FormerMember] = [], lastMessage: Message?, recentlySent: [SentMessage],
    attributes: GroupAttributes = GroupAttributes(), openApplications: [GroupApplication] = [],
    offlineSince: [UserID: WallInstant] = [:], firstSeq: Int64 = 1, removedTime: WallInstant = .unset
  ) {
    self.record = record
    self.members = members
    self.former = former
    self.lastMessage = lastMessage
    self.recentlySent = recentlySent
    self.attributes = attributes
    self.openApplications = openApplications
    self.offlineSince = offlineSince
    self.firstSeq = firstSeq
    self.removedTime = removedTime
  }
}

/// A stored message without its content, to recognize its clientMsgID.
public struct SentMessage: Sendable, Equatable {
  public let sender: UserID
  public let clientMsgID: String
  public let msgID: String
  public let seq: Int64
  public let timestamp: WallInstant

  /// A message with everything given.
  public init(sender: UserID, clientMsgID: String, msgID: String, seq: Int64, timestamp: WallInstant) {
    self.sender = sender
    self.clientMsgID = clientMsgID
    self.msgID = msgID
    self.seq = seq
    self.timestamp = timestamp
  }

  /// Nil where the message has no clientMsgID, or is not stored.
  public init?(_ message: Message) {
    guard let seq = message.seq, let clientMsgID = message.clientMsgID else { return nil }
    self.init(
      sender: message.sender, clientMsgID: clientMsgID, msgID: message.msgID, seq: seq, timestamp: message.timestamp)
  }
}

/// The stored data of a user who signs in.
public struct SignInRecord: Sendable, Equatable {
  /// The user's groups, by `groupNumber` ascending.
  public let memberships: [Membership]
  /// The end of the user's last session; nil = there is one, or never was.
  public let offlineSince: WallInstant?
  /// Nil = empty.
  public let profile: UserProfile?
  /// What the application has decided about the user's sign-ins.
  public let access: UserAccess
  /// Whether there is a deletion of the user's data, done or not.
  public let hasDeletion: Bool
  /// Whether every node finds the user in the store; false also where the store does not say it.
  public let isKnown: Bool

  /// A record with everything given.
  public init(
    memberships: [Membership], offlineSince: WallInstant?, profile: UserProfile? = nil, access: UserAccess = .unlimited,
    hasDeletion: Bool = false, isKnown: Bool = false
  ) {
    self.memberships = memberships
    self.offlineSince = offlineSince
    self.profile = profile
    self.access = access
    self.hasDeletion = hasDeletion
    self.isKnown = isKnown
  }
}

/// A group of a user, in the terms of a sign-in.
public struct Membership: Sendable, Equatable {
  public let groupID: GroupID
  public let type: GroupType
  /// The group's number in the store, by which lists with a `nextSeq` are ordered: fixed and
  /// unique.
  public let groupNumber: Int64

  /// A membership with everything given.
  public init(groupID: GroupID, type: GroupType, groupNumber: Int64) {
    self.groupID = groupID
    self.type = type
    self.groupNumber = groupNumber
  }
}
