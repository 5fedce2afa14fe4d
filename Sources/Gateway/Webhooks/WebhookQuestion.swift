import GroupModel
import GroupRuntime
import WireProtocol

/// A before-event: what the application is asked, and about what.
public struct WebhookQuestion: Sendable {
  /// The content that an answer may replace.
  public enum Subject: Sendable, Equatable {
    case text
    case data
    /// No message: it can neither be replaced nor dropped.
    case other
  }

  public let type: WebhookType
  public let subject: Subject
  /// Whose request it is about.
  public let user: UserID
  /// The text of the member `data`, a JSON object.
  public let data: [UInt8]
  /// The trace to which that request belongs; nil = to none.
  public let trace: TraceContext?
}

/// The application's decision.
public enum WebhookVerdict: Sendable, Equatable {
  /// - Parameter replacement: the content of a message in place of its own.
  case allow(replacement: String?)
  case refuse(WireError)
  /// The message is answered as if it were sent.
  case drop
}

/// Asks the application, and knows what its silence means (`webhook.onFailure`).
public protocol WebhookAsking: Sendable {
  /// Whether the configuration names the type.
  func asks(_ type: WebhookType) -> Bool

  /// The application's decision. A request waits for its turn for at most `webhook.timeout`, and then as
  /// long for the answer.
  func verdict(on question: WebhookQuestion) async -> WebhookVerdict
}

/// The parts of webhooks that sessions and the dispatcher use.
public struct WebhookServices: Sendable {
  public let poster: any WebhookPoster
  /// Nil = no before-event is configured.
  public let asking: (any WebhookAsking)?

  /// Parts with everything given.
  public init(poster: any WebhookPoster, asking: (any WebhookAsking)?) {
    self.poster = poster
    self.asking = asking
  }
}

extension AskedRequest {
  /// The type under which the application is asked about it; nil = it is not asked.
  func type(by caller: Caller, _ asking: any WebhookAsking) -> WebhookType? {
    // "Application administrators without asUser are not asked about."
    guard caller.userID != nil else { return nil }
    return types.first { asking.asks($0) }
  }

  /// The types that ask about the request: the first that is configured does.
  private var types: [WebhookType] {
    switch self {
    case .creation: [.beforeCreateGroup]
    case .selfInfo: [.beforeSetSelfInfo]
    case .group(_, .join): [.beforeJoinGroup]
    case .group(_, .invitation): [.beforeInvite]
    case .group(_, .groupInfo): [.beforeSetGroupInfo]
    case .group(_, .memberInfo): [.beforeSetMemberInfo]
    case .group(_, .message(.text)), .group(_, .message(.custom)): [.beforeSendMessage]
    // An edit must not bring in what could not be sent.
    case .group(_, .message(.edit)): [.beforeModifyMessage, .beforeSendMessage]
    }
  }
}

extension WebhookQuestion {
  /// - Parameter message: the message of an edit, as it is before it.
  init(_ type: WebhookType, about request: AskedRequest, editing message: Message? = nil, by caller: Caller) {
    self.type = type
    // Administrators without a user are not asked about.
    user = caller.userID ?? .administrator
    trace = caller.trace
    subject = request.subject(editing: message)
    data = JSONWriter.text(capacity: 512) { writer in
      writer.object { writer in
        writer.member("userID", ifPresent: caller.userID?.rawValue)
        writer.member("platform", caller.platform.rawValue)
        request.encodeQuestion(editing: message, into: &writer)
      }
    }
  }
}

extension AskedRequest {
  fileprivate func subject(editing message: Message?) -> WebhookQuestion.Subject {
    switch self {
    case .creation, .selfInfo, .group(_, .join), .group(_, .invitation), .group(_, .groupInfo), .group(_, .memberInfo): .other
    case .group(_, .message(.text)): .text
    case .group(_, .message(.custom)): .data
    case .group(_, .message(.edit(let request))): request.content(over: message)?.subject ?? .other
    }
  }

  /// "…the request's params", for messages `{groupID, message}`.
  fileprivate func encodeQuestion(editing message: Message?, into writer: inout JSONWriter) {
    switch self {
    case .creation(let request): request.encodeQuestion(into: &writer)
    case .selfInfo(let request): request.fields.encodeQuestion(into: &writer)
    case .group(let id, let request):
      writer.member("groupID", id.rawValue)
      request.encodeQuestion(editing: message, into: &writer)
    }
  }
}

extension AskedGroupRequest {
  fileprivate func encodeQuestion(editing message: Message?, into writer: inout JSONWriter) {
    switch self {
    case .join(let request): writer.member("message", ifPresent: request.message)
    case .invitation(let request):
      writer.member("userIDList", request.userIDList.map(\.rawValue))
      writer.member("message", ifPresent: request.message)
      writer.member("attach", ifPresent: request.attach)
    case .groupInfo(let request): request.encodeQuestion(into: &writer)
    case .memberInfo(let request): request.encodeQuestion(into: &writer)
    case .message(.text(let request)): writer.message("Text", "text", request.text, request.options)
    case .message(.custom(let request)): writer.message("Custom", "data", request.data, request.options)
    case .message(.edit(let request)): writer.edit(request, of: message)
    }
  }
}

extension JSONWriter {
  fileprivate mutating func message(_ type: String, _ name: StaticString, _ content: String, _ options: MessageOptions) {
    key("message")
    object { writer in
      writer.member("type", type)
      writer.member(name, content)
      writer.member("priority", options.priority.rawValue)
      writer.member("clientMsgID", ifPresent: options.clientMsgID)
      if !options.atUserIDList.isEmpty { writer.member("atUserIDList", options.atUserIDList) }
      if options.onlineUserOnly { writer.member("onlineUserOnly", true) }
      if options.needReadReceipt { writer.member("needReadReceipt", true) }
      guard let extras = options.extras else { return }
      writer.member("extension", ifPresent: extras.extension)
      writer.member("replyTo", ifPresent: extras.replyTo)
      writer.limits(
        extras.toUserIDList, isExcludedFromUnreadCount: extras.isExcludedFromUnreadCount,
        isExcludedFromLastMessage: extras.isExcludedFromLastMessage)
    }
  }

  /// Who sees a message, and what it does not count for.
  fileprivate mutating func limits(
    _ users: [UserID], isExcludedFromUnreadCount: Bool, isExcludedFromLastMessage: Bool
  ) {
    if isExcludedFromUnreadCount { member("isExcludedFromUnreadCount", true) }
    if isExcludedFromLastMessage { member("isExcludedFromLastMessage", true) }
    if !users.isEmpty { member("toUserIDList", users.map(\.rawValue)) }
  }
}

extension ModifyGroupMessage {
  /// The content of the message after the edit.
  fileprivate func content(over message: Message?) -> Message.Content? { content ?? message?.content }

  /// The extension of the message after the edit; nil = none.
  fileprivate func extensionText(over message: Message?) -> String? {
    let text = `extension` ?? message?.extras?.extension
    return text?.isEmpty == false ? text : nil
  }
}

extension Message.Content {
  fileprivate var subject: WebhookQuestion.Subject {
    switch self {
    case .text: .text
    case .custom: .data
    case .tips: .other
    }
  }
}

extension JSONWriter {
  /// The message as the edit would make it, with the options that it was sent with.
  fileprivate mutating func edit(_ request: ModifyGroupMessage, of message: Message?) {
    key("message")
    object { writer in
      switch request.content(over: message) {
      case .text(let text):
        writer.member("type", "Text")
        writer.member("text", text)
      case .custom(let data), .tips(let data):
        writer.member("type", "Custom")
        writer.member("data", data)
      // An edit of the extension alone is asked about with its message.
      case nil: break
      }
      if let message {
        writer.member("priority", message.priority.rawValue)
        writer.member("clientMsgID", ifPresent: message.clientMsgID)
        if !message.atUserIDList.isEmpty { writer.member("atUserIDList", message.atUserIDList) }
        if message.needReadReceipt { writer.member("needReadReceipt", true) }
      }
      writer.member("extension", ifPresent: request.extensionText(over: message))
      if let extras = message?.extras {
        writer.member("replyTo", ifPresent: extras.replyTo?.seq)
        writer.limits(
          extras.toUserIDList, isExcludedFromUnreadCount: extras.isExcludedFromUnreadCount,
          isExcludedFromLastMessage: extras.isExcludedFromLastMessage)
      }
      writer.member("seq", request.seq)
    }
  }
}

extension CreateGroup {
  fileprivate func encodeQuestion(into writer: inout JSONWriter) {
    writer.member("groupID", ifPresent: groupID?.rawValue)
    writer.member("groupType", groupType.rawValue)
    writer.member("groupName", groupName)
    fields.encodeQuestion(into: &writer)
    writer.member("inviteMessage", ifPresent: inviteMessage)
    guard !memberList.isEmpty else { return }
    writer.key("memberList")
    writer.array(memberList) { writer, member in
      writer.object { writer in
        writer.member("userID", member.userID.rawValue)
        writer.member("role", member.role.wireName)
      }
    }
  }
}

extension SetGroupInfo {
  fileprivate func encodeQuestion(into writer: inout JSONWriter) {
    writer.member("groupName", ifPresent: groupName)
    fields.encodeQuestion(into: &writer)
    if let allMuted { writer.member("allMuted", allMuted) }
  }
}

extension GroupFields {
  /// What users may give.
  fileprivate func encodeQuestion(into writer: inout JSONWriter) {
    writer.member("introduction", ifPresent: introduction)
    writer.member("notification", ifPresent: notification)
    writer.member("faceURL", ifPresent: faceURL)
    if let maxMemberNum { writer.member("maxMemberNum", maxMemberNum) }
    if let customInfo { writer.member("customInfo", customInfo) }
    for change in policy {
      writer.key(named: change.field.rawValue)
      writer.value(change.value)
    }
  }
}

extension SetGroupMemberInfo {
  /// The member is not `userID`: that is who asks.
  fileprivate func encodeQuestion(into writer: inout JSONWriter) {
    writer.member("memberUserID", userID.rawValue)
    writer.member("nameCard", ifPresent: nameCard)
    if let customInfo { writer.member("customInfo", customInfo) }
    writer.member("role", ifPresent: role?.wireName)
    if let muteUntil { writer.member("muteUntil", muteUntil) }
  }
}

extension UserInfoFields {
  fileprivate func encodeQuestion(into writer: inout JSONWriter) {
    writer.member("nickName", ifPresent: nickName)
    writer.member("faceURL", ifPresent: faceURL)
    if let customInfo { writer.member("customInfo", customInfo) }
  }
}
