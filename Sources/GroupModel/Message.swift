/// The rank of a message when a live room is over its limit (Protocol.md, "Waiting messages").
public enum Priority: String, CaseIterable, Sendable, Comparable {
  case high = "High"
  case normal = "Normal"
  case low = "Low"
  case lowest = "Lowest"

  /// Lower priorities are smaller.
  public static func < (a: Priority, b: Priority) -> Bool { a.rank < b.rank }

  private var rank: Int {
    switch self {
    case .high: 3
    case .normal: 2
    case .low: 1
    case .lowest: 0
    }
  }
}

/// One message of a group (Protocol.md, "Sending").
public struct Message: Sendable, Equatable {
  /// The content of a message.
  public enum Content: Sendable, Equatable {
    case text(String)
    case custom(String)
    /// A change in the group: the `tips` object, encoded, without profiles.
    case tips(String)

    /// The bytes of the one long text of a message.
    public var byteCount: Int {
      switch self {
      case .text(let text), .custom(let text), .tips(let text): text.utf8.count
      }
    }
  }

  /// Unique among all messages of the server.
  public let msgID: String
  /// The group it was sent to.
  public let groupID: GroupID
  /// The place in the group's history, from 1 without gaps; nil where the type keeps none.
  public var seq: Int64?
  /// The sender; `.administrator` for the application.
  public let sender: UserID
  /// The sender's name card at `timestamp`; a sender who is deleted loses it.
  public var nameCard: String
  /// The time at which the server accepted it.
  public let timestamp: WallInstant
  /// The text, custom data or tips.
  public var content: Content
  /// The rank in a live room over its limit.
  public let priority: Priority
  /// The sender's own ID: a repeated send with it gets the first result.
  public let clientMsgID: String?
  /// The mentioned users; "@all" is every member.
  public let atUserIDList: [String]
  /// Whether it was recalled: it keeps its place and has no content.
  public var isRevoked: Bool
  /// Whether it is pinned.
  public var isPinned = false
  /// The platform of the sender's session.
  public let platform: Platform
  /// Whether a manager or an application administrator sent it, for the receive option
  /// `receiveFromManagers`.
  public let isFromManager: Bool
  /// Whether its sender learns who has read it (Protocol.md, "Read receipts").
  public let needReadReceipt: Bool
  /// The number of its last change among the changes of its group; 0 = it never changed.
  public var changeSeq: Int64 = 0
  /// When its content was last edited; unset = never.
  public var editTime = WallInstant.unset
  /// The parts that most messages have not; nil = it has none of them.
  public var extras: MessageExtras?

  /// A message that was not changed yet.
  public init(
    msgID: String, groupID: GroupID, seq: Int64?, sender: UserID, nameCard: String, timestamp: WallInstant, content: Content,
    priority: Priority, clientMsgID: String?, atUserIDList: [String] = [], isRevoked: Bool = false, platform: Platform,
    isFromManager: Bool = false, needReadReceipt: Bool = false, extras: MessageExtras? = nil
  ) {
    self.msgID = msgID
    self.groupID = groupID
    self.seq = seq
    self.sender = sender
    self.nameCard = nameCard
    self.timestamp = timestamp
    self.content = content
    self.priority = priority
    self.clientMsgID = clientMsgID
    self.atUserIDList = atUserIDList
    self.isRevoked = isRevoked
    self.platform = platform
    self.isFromManager = isFromManager
    self.needReadReceipt = needReadReceipt
    self.extras = extras
  }

  /// Whether somebody said it: Text and Custom, no tips.
  public var isChat: Bool {
    if case .tips = content { false } else { true }
  }

  /// The bytes of its longest texts: the content, and what most messages have not.
  public var byteCount: Int { content.byteCount + (extras?.byteCount ?? 0) }

  /// Whether it names the only members who see it.
  @inlinable public var isTargeted: Bool { extras?.toUserIDList.isEmpty == false }

  /// Whether it counts as unread for others, unless it is recalled: no tips, none that was sent as
  /// one that does not count, and none that is addressed to a few.
  public var countsAsUnread: Bool { isChat && !isTargeted && extras?.isExcludedFromUnreadCount != true }

  /// Whether it becomes its group's last message.
  @inlinable public var movesLastMessage: Bool { !isTargeted && extras?.isExcludedFromLastMessage != true }
}

/// The platform of a session (Protocol.md, "Ways to sign in"). `restAPI` marks the acts of an
/// application administrator.
public enum Platform: String, CaseIterable, Sendable {
  case iOS
  case android = "Android"
  case windows = "Windows"
  case mac = "Mac"
  case web = "Web"
  case unknown = "Unknown"
  case restAPI = "RESTful API"

  /// Nil where clients may not name that platform at sign-in.
  public init?(signIn name: String) {
    guard let platform = Platform(rawValue: name), platform != .restAPI else { return nil }
    self = platform
  }
}
