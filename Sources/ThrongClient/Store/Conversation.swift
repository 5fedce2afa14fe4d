/// A group in the user's own list, as the client's store has it: one that the user is in, or was.
public struct Conversation: Hashable, Sendable {
  /// What the user is in the group.
  public enum Status: String, Codable, Sendable {
    case member
    /// The user has quit, or a sign-in has found it gone.
    case left
    /// Somebody has removed the user.
    case removed
    /// There is no such group any more.
    case dismissed
  }

  /// Where a value comes from.
  public enum Source: String, Sendable {
    /// The store: the server may have news.
    case stored
    /// The server, in this client's life.
    case server
    /// A part from each.
    case both
  }

  public var groupID: String { info.groupID }
  /// As the client knows it. Without `selfInfo` where the user is no member any more.
  public var info: GroupInfo
  public var status: Status
  /// When it ended, by the server's clock in milliseconds since 1970; nil while the user is a member.
  public var endedAt: Int?
  /// `stored` until the present session has caught up with the server.
  public var source: Source

  /// Whether a message may be sent there; otherwise it fails with `ClientError.Reason.conversationEnded`.
  public var canSend: Bool { status == .member }

  init(_ row: ConversationRow, source: Source) {
    info = row.info
    status = row.status
    endedAt = row.endedAt
    self.source = source
  }
}

/// A page of a conversation.
public struct StoredMessages: Sendable {
  /// Ascending by `seq`.
  public var messageList: [GroupMessage] = []
  public var source = Conversation.Source.stored
  /// Whether nothing is older. False also where that is not known without a connection.
  public var isFinished = false
}

/// The texts of a user, as they were seen last.
public struct StoredProfile: Codable, Hashable, Sendable {
  public var userID: String
  public var nickName: String
  public var faceURL: String
  /// When, by the server's clock in milliseconds since 1970.
  public var seenAt: Int
}

/// What a store held when it was opened.
public struct StoredStart: Sendable {
  /// Pinned ones first, then the ones where something was said last; without those that the user has hidden.
  public var conversations: [Conversation]
  /// Own messages that are not at their end, and those that have failed, in the order of their sending.
  public var outbox: [LocalMessage]
}

/// A store that failed; the client goes on.
public struct StorageFailure: Hashable, Sendable {
  public var reason: StorageError.Reason
  /// For developers.
  public var message: String
  /// Whether messages may be lost that waited in the store to be sent.
  public var lostOutbox: Bool
}

/// The bounds of a store. Beyond them it forgets what is oldest, but no message that is not sent, and no
/// group of which the user is a member.
public struct StorageLimits: Hashable, Sendable {
  /// The newest messages of each group.
  public var messagesPerGroup: Int
  /// Groups with messages, ended ones included.
  public var groups: Int
  /// The UTF-8 of all keys and values; nil = 64 MiB, and 16 MiB where they are in memory.
  public var bytes: Int?

  /// Bounds; all have a default.
  public init(messagesPerGroup: Int = 200, groups: Int = 1_000, bytes: Int? = nil) {
    self.messagesPerGroup = messagesPerGroup
    self.groups = groups
    self.bytes = bytes
  }
}

extension Sequence<ConversationRow> {
  /// As a list shows them: pinned ones first, then those where something was said last.
  func inOrder() -> [ConversationRow] {
    sorted { one, other in
      let (isPinned, isOtherPinned) = (one.info.selfInfo?.isPinned == true, other.info.selfInfo?.isPinned == true)
      if isPinned != isOtherPinned { return isPinned }
      return one.activeAt != other.activeAt ? one.activeAt > other.activeAt : one.info.groupID < other.info.groupID
    }
  }
}
