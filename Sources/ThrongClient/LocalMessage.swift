/// An own message, as it is at one time. `ClientEvent.message` tells of each new state.
public struct LocalMessage: Sendable {
  /// The content of a message.
  public enum Content: Hashable, Sendable {
    case text(String)
    /// Data of the application, in any form of its own.
    case custom(String)
  }

  /// The state of a message.
  public enum State: String, Sendable {
    /// Without an answer yet, across as many connections as it takes.
    case sending
    /// Waits at the server for its place in a busy live room.
    case queued
    /// The group keeps it, under `seq`.
    case stored
    /// Handed to the members of a live type.
    case delivered
    /// The room was too busy.
    case dropped
    /// Refused, or given up: `error` says why.
    case failed

    /// Whether no other state follows, unless the application sends the message again.
    public var isFinal: Bool { self != .sending && self != .queued }

    /// Whether the application may send the message again.
    var isRepeatable: Bool { self == .failed || self == .dropped }
  }

  /// The ID by which the server knows a second try.
  public let clientMsgID: String
  public let groupID: String
  public internal(set) var content: Content
  public internal(set) var options: SendOptions
  public internal(set) var state: State = .sending
  public internal(set) var msgID: String?
  /// In groups that keep messages, and in live rooms that remember the last ones.
  public internal(set) var seq: Int?
  /// When the server took it, in milliseconds since 1970.
  public internal(set) var timestamp: Int?
  /// A ThrongError or a ClientError.
  public internal(set) var error: (any Error)?

  init(_ content: Content, to groupID: String, options: SendOptions, clientMsgID: String) {
    self.content = content
    self.groupID = groupID
    self.options = options
    self.clientMsgID = clientMsgID
  }
}

/// The choices of a message besides its content.
public struct SendOptions: Hashable, Sendable {
  public var priority: MessagePriority?
  /// The users that it mentions, or "@all".
  public var atUserIDList: [String]?
  /// Only members who are online get it, and it is not stored.
  public var onlineUserOnly: Bool?
  /// The sender learns who has read it.
  public var needReadReceipt: Bool?
  /// The application's data beside the content.
  public var `extension`: String?
  /// The `seq` of the message that this one answers.
  public var replyTo: Int?
  /// It does not count as unread.
  public var isExcludedFromUnreadCount: Bool?
  /// It does not become its group's last message.
  public var isExcludedFromLastMessage: Bool?
  /// The only members who see it, besides the sender.
  public var toUserIDList: [String]?
  /// The message's ID where the application has its own; nil = the client makes one.
  public var clientMsgID: String?

  /// Choices; without any the message is an ordinary one.
  public init(
    priority: MessagePriority? = nil, atUserIDList: [String]? = nil, onlineUserOnly: Bool? = nil,
    needReadReceipt: Bool? = nil, extension text: String? = nil, replyTo: Int? = nil,
    isExcludedFromUnreadCount: Bool? = nil, isExcludedFromLastMessage: Bool? = nil, toUserIDList: [String]? = nil,
    clientMsgID: String? = nil
  ) {
    self.priority = priority
    self.atUserIDList = atUserIDList
    self.onlineUserOnly = onlineUserOnly
    self.needReadReceipt = needReadReceipt
    self.extension = text
    self.replyTo = replyTo
    self.isExcludedFromUnreadCount = isExcludedFromUnreadCount
    self.isExcludedFromLastMessage = isExcludedFromLastMessage
    self.toUserIDList = toUserIDList
    self.clientMsgID = clientMsgID
  }
}

extension LocalMessage {
  /// The request that sends the message.
  var request: EncodedRequest {
    switch content {
    case .text(let text):
      EncodedRequest(
        Methods.SendGroupTextMessage(
          groupID: groupID, text: text, priority: options.priority, clientMsgID: clientMsgID,
          atUserIDList: options.atUserIDList, onlineUserOnly: options.onlineUserOnly, needReadReceipt: options.needReadReceipt,
          extension: options.extension, replyTo: options.replyTo, isExcludedFromUnreadCount: options.isExcludedFromUnreadCount,
          isExcludedFromLastMessage: options.isExcludedFromLastMessage, toUserIDList: options.toUserIDList))
    case .custom(let data):
      EncodedRequest(
        Methods.SendGroupCustomMessage(
          groupID: groupID, data: data, priority: options.priority, clientMsgID: clientMsgID,
          atUserIDList: options.atUserIDList, onlineUserOnly: options.onlineUserOnly, needReadReceipt: options.needReadReceipt,
          extension: options.extension, replyTo: options.replyTo, isExcludedFromUnreadCount: options.isExcludedFromUnreadCount,
          isExcludedFromLastMessage: options.isExcludedFromLastMessage, toUserIDList: options.toUserIDList))
    }
  }
}
