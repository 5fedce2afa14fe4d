import GroupModel

/// The limits of groups, by configuration (Operations.md, "Configuration keys").
public struct GroupLimits: Sendable {
  /// `limits.{work,public,meeting}.maxMemberNum`; a type that is not there takes any number.
  public var maxMemberNum: [GroupType: Int]
  /// How many bytes of messages or groups one reply holds at most; a page ends early rather than being more than a connection may have
  /// waiting (`limits.sendQueueBytes`). A single item is never too much.
  public var pageBytes: Int
  /// How many messages a group takes (where it keeps history) or delivers in any one second; a type that is not there, any number
  /// (`limits.<type>.messagesPerSecond`; Protocol.md, "Group message rate").
  public var messagesPerSecond: [GroupType: Int] = [.avChatRoom: 40]
  /// How long senders may recall their own messages, in milliseconds (`limits.revokeWindow`).
  public var revokeWindow: Instant = 120_000
  /// Up to where unread messages are counted; an unread count reads this number beyond (`limits.unreadCount`).
  public var unreadCount = 1000
  /// How long the members of an AVChatRoom stay members without a session, in milliseconds (`avChatRoom.offlineGrace`).
  public var offlineGrace: Instant = 300_000

  /// The defaults: 6000 each.
  public static let standard = GroupLimits(maxMemberNum: [.work: 6000, .public: 6000, .meeting: 6000])

  /// Half of the send queue's default.
  public static let standardPageBytes = 1 << 19

  /// Limits; what is not given has its default.
  public init(maxMemberNum: [GroupType: Int], pageBytes: Int = GroupLimits.standardPageBytes) {
    self.maxMemberNum = maxMemberNum
    self.pageBytes = pageBytes
  }
}
