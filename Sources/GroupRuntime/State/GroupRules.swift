import GroupModel
import GroupPermissions

/// The rules that all groups share: the table of rights, the limits, what the application is told, and
/// the words that users may not write.
public struct GroupRules: Sendable {
  public let permissions: GroupPermissions
  public let limits: GroupLimits
  /// `limits.offlineGrace` in 64 bits, for every message of a live room.
  let offlineGraceMilliseconds: Int64
  /// The after-events that are made (`webhook.events`).
  public let webhooks: WebhookTypes
  /// The words with which texts of users are compared (`moderation.wordsFile`); nil = with none.
  public let words: CurrentWords?
  /// `GroupServices.keepsStamps`.
  var keepsStamps = false

  /// Rules with everything given.
  public init(
    permissions: GroupPermissions = GroupPermissions(), limits: GroupLimits = .standard, webhooks: WebhookTypes = .none,
    words: CurrentWords? = nil
  ) {
    self.permissions = permissions
    self.limits = limits
    offlineGraceMilliseconds = limits.offlineGrace.wholeMilliseconds
    self.webhooks = webhooks
    self.words = words
  }
}

/// The limits of groups, by configuration (Configuration.md, "Configuration keys").
public struct GroupLimits: Sendable {
  /// `limits.{work,public,meeting}.maxMemberNum`; an absent type has no limit.
  public var maxMemberNum: [GroupType: Int]
  /// How many bytes of messages or groups one reply holds at most (a share of
  /// `limits.sendQueueBytes`); a page ends early instead. A single item always fits.
  public var pageBytes: Int
  /// How many messages a group accepts (where it stores them) or delivers in any one second; an
  /// absent type has no limit (`limits.<type>.messagesPerSecond`; Protocol.md, "Group message
  /// rate").
  public var messagesPerSecond: [GroupType: Int] = [.avChatRoom: 40]
  /// How long senders may recall their own messages (`limits.revokeWindow`).
  public var revokeWindow = Duration.seconds(120)
  /// How long senders may edit their own messages; zero = any time (`limits.editWindow`).
  public var editWindow = Duration.zero
  /// The most different reactions of one message (`limits.reactionsPerMessage`).
  public var reactionsPerMessage = 10
  /// The highest unread count; with more unread messages a count is this number
  /// (`limits.unreadCount`).
  public var unreadCount = 1000
  /// The most members of a group whose messages may have read receipts
  /// (`limits.readReceiptMembers`).
  public var readReceiptMembers = 200
  /// The most members of a group with signals (`limits.signalMembers`).
  public var signalMembers = 500
  /// Whether a new group that stores messages begins with a tip (`history.creationTip`).
  public var storesCreationTip = false
  /// How long members of an AVChatRoom stay members without a session (`avChatRoom.offlineGrace`).
  public var offlineGrace = Duration.seconds(300)

  /// The defaults: 6000 members each.
  public static let standard = GroupLimits(maxMemberNum: [.work: 6000, .public: 6000, .meeting: 6000])

  /// Half of the send queue's default.
  public static let standardPageBytes = 1 << 19

  /// Limits; all others have their defaults.
  public init(maxMemberNum: [GroupType: Int], pageBytes: Int = GroupLimits.standardPageBytes) {
    self.maxMemberNum = maxMemberNum
    self.pageBytes = pageBytes
  }
}
