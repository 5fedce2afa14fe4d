/// A group without its members and messages.
public struct GroupRecord: Sendable, Equatable {
  /// Unique among the groups of the server.
  public let id: GroupID
  /// Never changes.
  public let type: GroupType
  /// Differs when the history of this groupID was lost or the groupID is used again
  /// (Protocol.md, "Sending").
  public let epoch: String
  /// The time of creation.
  public let createTime: WallInstant
  /// The owner, who is a member.
  public var owner: UserID
  /// Not empty, no control characters; `limits.text` bounds this text and those below.
  public var name: String
  /// A text for everybody.
  public var introduction: String
  /// A text for members.
  public var notification: String
  /// The address of a picture.
  public var faceURL: String
  /// The most members of the group; 0 = no bound (AVChatRoom, BChatRoom).
  public var maxMemberNum: Int
  /// The application's own fields: at most 10.
  public var customInfo: [String: String]
  /// The application's own text, which only it can set: up to 4096 bytes.
  public var serverCustomInfo = ""
  /// Without meaning in a BChatRoom, which has no policy fields.
  public var policy: GroupPolicy
  /// The group mute; `current(at:)` tells whether it has ended.
  public var mute: GroupMute
  /// The time at which `mute` was set, by the clock of that time; unset = long ago.
  public var mutedAt = WallInstant.unset
  /// The last change of name, texts, policy, owner or customInfo; the creation at first.
  public var lastInfoTime: WallInstant
  /// The last change of something else that lists show: a message was changed. Clients do not see
  /// it; `updatedSince` compares it.
  public var changeTime = WallInstant.unset
  /// The number of the last change of a stored message; 0 = there was none.
  public var changeSeq: Int64 = 0
  /// The newest imported message; imported messages do not count as unread. 0 = none.
  public var importedThroughSeq: Int64 = 0
  /// The ordinal that the next member gets.
  public var nextOrdinal: Int64
  /// What some of its messages have, or once had.
  public var messageFeatures: MessageFeatures = []
  /// The newest message that may be the last message, where newer ones may not. Out of date while the
  /// newest of all may; 0 = there was none.
  public var lastShownSeq: Int64 = 0
  /// When that message was sent.
  public var lastShownTime = WallInstant.unset
  /// The instant since which every departure of a member has a record; nil = not known, because the
  /// group is older than these records.
  public var departuresSince: WallInstant?
  /// Whether the store has noted everybody who was ever a member, or the sender of an imported
  /// message; false where the group is older than these notes.
  public var listsUsers = true
  /// See `GroupStamp.revision`; 0 where no cluster has changed it.
  public var revision: Int64 = 0
  /// See `GroupStamp.board`; 0 where no cluster has changed it.
  public var board: Int64 = 0

  /// A group with everything given.
  public init(
    id: GroupID, type: GroupType, epoch: String, createTime: WallInstant, owner: UserID, name: String, introduction: String = "",
    notification: String = "", faceURL: String = "", maxMemberNum: Int, customInfo: [String: String] = [:], policy: GroupPolicy,
    mute: GroupMute = .none, lastInfoTime: WallInstant? = nil, nextOrdinal: Int64 = 1
  ) {
    self.id = id
    self.type = type
    self.epoch = epoch
    self.createTime = createTime
    self.owner = owner
    self.name = name
    self.introduction = introduction
    self.notification = notification
    self.faceURL = faceURL
    self.maxMemberNum = maxMemberNum
    self.customInfo = customInfo
    self.policy = policy
    self.mute = mute
    self.lastInfoTime = lastInfoTime ?? createTime
    self.nextOrdinal = nextOrdinal
  }
}

/// What some messages of a group have. A group without them is read as if there were none.
public struct MessageFeatures: OptionSet, Sendable, Equatable {
  public let rawValue: Int64
  /// The features of these bits.
  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// Messages that only the members whom they name see.
  public static let targeted = MessageFeatures(rawValue: 1)
  /// Messages that answer another.
  public static let replies = MessageFeatures(rawValue: 2)
  /// Messages that do not count as unread, or do not become the last message, as their senders chose.
  public static let excluded = MessageFeatures(rawValue: 4)

  /// Messages that do not count as unread.
  public static let uncounted: MessageFeatures = [.targeted, .excluded]
}

/// The roles of a group that may not speak, and until when (Protocol.md, "Group mute").
public struct GroupMute: Sendable, Equatable {
  /// The choice of roles that a mute silences.
  public enum Mode: String, CaseIterable, Sendable {
    case none = "None"
    case ordinary = "Ordinary"
    case all = "All"
    case custom = "Custom"
  }

  /// The choice of silenced roles.
  public var mode: Mode
  /// The roles silenced in mode `custom`; empty otherwise.
  public var roles: [Role]
  /// The end; nil = none.
  public var muteUntil: WallInstant?

  /// No mute.
  public static let none = GroupMute(mode: .none)

  /// A mute with everything given.
  public init(mode: Mode, roles: [Role] = [], muteUntil: WallInstant? = nil) {
    self.mode = mode
    self.roles = roles
    self.muteUntil = muteUntil
  }

  /// The mute at an instant: `none` after its end.
  public func current(at now: WallInstant) -> GroupMute {
    if let muteUntil, muteUntil <= now { return .none }
    return self
  }

  /// GroupInfo.allMuted: the modes that silence every ordinary member.
  public var isAllMuted: Bool { mode == .ordinary || mode == .all }

  /// Whether the mute silences that role at an instant.
  public func silences(_ role: Role, at now: WallInstant) -> Bool {
    if let muteUntil, muteUntil <= now { return false }
    return silences(role)
  }

  /// Whether the mute silences that role.
  public func silences(_ role: Role) -> Bool {
    switch mode {
    case .none: false
    case .ordinary: !role.isManager
    case .all: true
    case .custom: roles.contains(role)
    }
  }
}
