/// How a message ranks when a live room is over its limit (contract section 6).
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

/// One message of a group (contract section 4).
public struct Message: Sendable, Equatable {
  /// What a message carries.
  public enum Content: Sendable, Equatable {
    case text(String)
    case custom(String)
    /// What happened in the group: the `tips` object, encoded. The server never reads it back.
    case tips(String)
  }

  /// Unique among all messages of the server.
  public let msgID: String
  /// Where it was sent.
  public let groupID: GroupID
  /// The place in the group's history, from 1 without gap; nil where the type keeps none.
  public var seq: Int64?
  /// Who sent it; `.administrator` for the application.
  public let sender: UserID
  /// The sender's name card when it was accepted.
  public let nameCard: String
  /// When it was accepted.
  public let timestamp: Instant
  /// What it carries.
  public var content: Content
  /// How it ranks in a live room over its limit.
  public let priority: Priority
  /// The sender's own mark, under which sending again is answered with the first result.
  public let clientMsgID: String?
  /// Whom it mentions; "@all" is everybody.
  public let atUserIDList: [String]
  /// Recalled: it keeps its place and has no content.
  public var isRevoked: Bool
  /// Where the sender sat.
  public let platform: Platform
  /// A manager or an application administrator sent it; decides for receive option `receiveFromManagers`.
  public let isFromManager: Bool

  /// A message with everything given.
  public init(
    msgID: String, groupID: GroupID, seq: Int64?, sender: UserID, nameCard: String, timestamp: Instant, content: Content,
    priority: Priority, clientMsgID: String?, atUserIDList: [String] = [], isRevoked: Bool = false, platform: Platform,
    isFromManager: Bool = false
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
  }

  /// Text and Custom count as unread; tips do not.
  public var isChat: Bool {
    if case .tips = content { false } else { true }
  }
}
