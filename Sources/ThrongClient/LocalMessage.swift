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
  /// When it was written, by the device's clock in milliseconds since 1970: to show, not to count on.
  public let createdAt: Int
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

  init(_ content: Content, to groupID: String, options: SendOptions, clientMsgID: String, createdAt: Int = 0) {
    self.content = content
    self.groupID = groupID
    self.options = options
    self.clientMsgID = clientMsgID
    self.createdAt = createdAt
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
  /// The method that sends it.
  var method: String {
    switch content {
    case .text: Methods.SendGroupTextMessage.name
    case .custom: Methods.SendGroupCustomMessage.name
    }
  }

  /// - Parameter firstSentAt: when it was sent first; nil = it never was.
  func params(firstSentAt: Int? = nil) -> SendParams {
    SendParams(
      groupID: groupID, text: content.text, data: content.data, priority: options.priority, clientMsgID: clientMsgID,
      atUserIDList: options.atUserIDList, onlineUserOnly: options.onlineUserOnly, needReadReceipt: options.needReadReceipt,
      extension: options.extension, replyTo: options.replyTo, isExcludedFromUnreadCount: options.isExcludedFromUnreadCount,
      isExcludedFromLastMessage: options.isExcludedFromLastMessage, toUserIDList: options.toUserIDList,
      firstSentAt: firstSentAt)
  }

  /// The request that sends the message.
  func request(firstSentAt: Int? = nil) -> EncodedRequest {
    EncodedRequest(method: method, params(firstSentAt: firstSentAt))
  }

  /// The message as the group's history holds it, once the server has stored it.
  func stored(by sender: String, on platform: Platform?) -> GroupMessage? {
    guard let msgID, let seq, let timestamp else { return nil }
    var message = GroupMessage(
      msgID: msgID, groupID: groupID, seq: seq, sender: sender, timestamp: timestamp, type: .text,
      priority: options.priority ?? .normal, clientMsgID: clientMsgID, platform: (platform ?? .unknown).rawValue)
    switch content {
    case .text(let text): message.text = text
    case .custom(let data):
      message.type = .custom
      message.data = data
    }
    // What is empty, or not so, counts as absent.
    message.extension = options.extension?.isEmpty == false ? options.extension : nil
    message.atUserIDList = options.atUserIDList?.isEmpty == false ? options.atUserIDList : nil
    message.toUserIDList = options.toUserIDList?.isEmpty == false ? options.toUserIDList : nil
    message.replyTo = options.replyTo.map { GroupMessage.ReplyToRow(seq: $0, sender: "") }
    message.isExcludedFromUnreadCount = options.isExcludedFromUnreadCount == true ? true : nil
    message.isExcludedFromLastMessage = options.isExcludedFromLastMessage == true ? true : nil
    message.needReadReceipt = options.needReadReceipt == true ? true : nil
    return message
  }

  /// A message that a store has kept.
  init(_ row: OutboxRow) {
    let params = row.params
    let options = SendOptions(
      priority: params.priority, atUserIDList: params.atUserIDList, onlineUserOnly: params.onlineUserOnly,
      needReadReceipt: params.needReadReceipt, extension: params.extension, replyTo: params.replyTo,
      isExcludedFromUnreadCount: params.isExcludedFromUnreadCount,
      isExcludedFromLastMessage: params.isExcludedFromLastMessage, toUserIDList: params.toUserIDList,
      clientMsgID: row.clientMsgID)
    let isCustom = row.method == Methods.SendGroupCustomMessage.name
    self.init(
      isCustom ? .custom(params.data ?? "") : .text(params.text ?? ""), to: params.groupID, options: options,
      clientMsgID: row.clientMsgID, createdAt: row.createdAt)
    guard row.state == .failed else { return }
    state = row.error == nil ? .dropped : .failed
    error = row.error?.error(of: row.method)
  }
}

extension LocalMessage.Content {
  fileprivate var text: String? { if case .text(let text) = self { text } else { nil } }
  fileprivate var data: String? { if case .custom(let data) = self { data } else { nil } }
}

extension OutboxRow.Failure {
  /// - Parameter error: of a message.
  init(_ error: any Error) {
    switch error {
    case let error as ThrongError: self.init(code: error.code.rawValue, reason: nil, message: error.message)
    case let error as ClientError: self.init(code: nil, reason: error.reason.rawValue, message: error.detail ?? "")
    default: self.init(code: nil, reason: ClientError.Reason.outcomeUnknown.rawValue, message: "\(error)".shortened)
    }
  }

  fileprivate func error(of method: String) -> any Error {
    if let code {
      return ThrongError(
        method: method, code: ErrorCode(rawValue: code), message: message, isTemporary: false, field: nil, retryAfter: .zero)
    }
    // A reason of a later version is none that this one could act upon.
    return ClientError(
      reason.flatMap(ClientError.Reason.init(rawValue:)) ?? .outcomeUnknown, detail: message.isEmpty ? nil : message)
  }
}
