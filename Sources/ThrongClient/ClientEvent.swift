/// An event of the server, or of the client itself.
public enum ClientEvent: Sendable {
  /// What the store holds, before there is a connection: only of a client with a storage.
  case stored(StoredStart)
  case server(ServerEvent)
  case state(ConnectionState)
  /// An own message is in a new state.
  case message(LocalMessage)
  /// The missed messages and changes of one group.
  case sync(GroupSync)
  /// The session is in step with its groups.
  case ready(Ready)
  /// A conversation is another one now, and stored so.
  case conversation(Conversation)
  /// The store has failed, and the client goes on: in memory, or with a new one where it was damaged.
  case storageFailed(StorageFailure)
  /// The session goes on with a new token.
  case renewed(Session)
  /// The token function failed, or its token was refused; it is asked again.
  case renewalFailed(any Error)
  /// The groups could not be read: the application reads them anew.
  case resumeFailed(ThrongError)
  /// Statuses of users who are watched, from answers and events alike.
  case status(StatusNews)
  /// Users are not watched, because the server refused it.
  case watchFailed(WatchFailure)
  /// The reader of the sequence was too slow: these events are gone for it.
  case lost(LostEvents)
}

/// A signed-in session.
public typealias Session = Methods.Login.Result

/// The state of a client's connection.
public enum ConnectionState: Sendable {
  /// `connect` was not called.
  case idle
  /// A connection is made, or the token function is asked.
  case connecting
  case online(Session)
  /// The connection was lost; the next one is tried after a delay.
  case waiting(ConnectionLoss, retryAfter: Duration)
  /// For good: after `close` or `logout`, or what no new connection could mend.
  case closed(ConnectionLoss)
}

/// The end of a connection.
public struct ConnectionLoss: Sendable {
  /// The close code; 1006 where the connection ended without one, 0 where there was none.
  public var code: CloseCode
  public var reason: String
  public var error: (any Error)?
  /// Whether the WebSocket had opened.
  public var didOpen: Bool

  init(_ code: Int, _ reason: String, error: (any Error)? = nil, didOpen: Bool = false) {
    self.code = CloseCode(rawValue: code)
    self.reason = reason.shortened
    self.error = error
    self.didOpen = didOpen
  }
}

/// One group after a new connection, or one page of it. Recovered: what came, and what has changed,
/// since the last event; the group's other events follow. Not recovered: the application forgets
/// what it has of the group and reads its history. Live rooms are recovered where they remember
/// their last messages; one whose memory is lost while the connection lives is told as not recovered
/// at that time.
public struct GroupSync: Sendable {
  public var groupID: String
  public var recovered: Bool
  /// New messages, tips included, but no messages of this client.
  public var messageList: [GroupMessage] = []
  /// Messages from before, as they are now.
  public var changeList: [GroupMessage] = []
  /// Whether another page follows.
  public var more = false
  /// The group as it is now, if it has changed.
  public var info: GroupInfo?
}

/// The end of a resume.
public struct Ready: Sendable {
  /// Whether it was the client's first.
  public var isFirst: Bool
  /// The groups of the user at the first sign-in; afterwards, and where a store was there, those that
  /// have changed. Without live rooms. Changes that onConversationChanged has told meanwhile are in
  /// them.
  public var groups: [GroupInfo]
  /// The groupIDs of groups joined meanwhile.
  public var joined: [String]
  /// The groupIDs of groups left meanwhile.
  public var left: [String]
  /// The groupIDs of groups of which nothing was missed, or all of it was told.
  public var recovered: [String]
  /// The groupIDs of groups that the application reads anew.
  public var notRecovered: [String]
}

/// News of users who are watched.
public struct StatusNews: Sendable, Hashable {
  /// The statuses as they are now.
  public var userList: [UserStatusInfo]
  /// Users who were asked about and have no status: nobody knows them, or nobody does any more. They
  /// stay watched.
  public var unknownUserIDs: [String]
}

/// Users who are not watched.
public struct WatchFailure: Sendable {
  public var userIDs: [String]
  /// A ThrongError or a ClientError.
  public var error: any Error
}

/// Events that a sequence could not hold.
public struct LostEvents: Sendable, Hashable {
  /// How many events are gone.
  public var count = 0
  /// Their groups, up to 10,000: the application reads them anew.
  public var groupIDs: Set<String> = []
}

extension ClientEvent {
  /// The group that the event is about.
  public var groupID: String? {
    switch self {
    case .server(let event): event.groupID
    case .message(let message): message.groupID
    case .sync(let sync): sync.groupID
    case .conversation(let conversation): conversation.groupID
    case .stored, .state, .ready, .storageFailed, .renewed, .renewalFailed, .resumeFailed, .status, .watchFailed, .lost: nil
    }
  }
}
