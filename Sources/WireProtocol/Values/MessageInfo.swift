import GroupModel

/// A message for its readers: with the profiles of its users (Protocol.md, "Profiles").
public struct MessageInfo: Equatable, FieldValue {
  public static let notation = "Message"

  public var message: Message
  /// Nil = empty, or not looked up yet.
  public var senderProfile: UserProfile?
  /// As one reader sees them; nil = there are none, or nobody reads: events have none.
  public var reactions: [ReactionInfo]?
  /// How many replies one reader may see; 0 = there are none, or nobody reads: events have none.
  public var replyCount = 0

  /// A message whose sender has a profile, or none.
  public init(_ message: Message, senderProfile: UserProfile? = nil) {
    self.message = message
    self.senderProfile = senderProfile
  }

  public func encode(into writer: inout JSONWriter) {
    message.encode(senderProfile, reactions, replyCount: replyCount, into: &writer)
  }
}

extension Message {
  /// The state of a message since it was changed.
  fileprivate func encodeChange(_ reactions: [ReactionInfo]?, into writer: inout JSONWriter) {
    writer.member("changeSeq", changeSeq)
    if editTime.isSet, !isRevoked { writer.member("editTime", editTime) }
    if isPinned { writer.member("isPinned", true) }
    if let reactions, !reactions.isEmpty { writer.member("reactions", reactions) }
  }
}

/// The places, in a text, of a message and of what changes later. Each part has the comma before it.
struct MessageParts {
  var message = 0..<0
  /// The sender's profile; empty where there is none.
  var profile = 0..<0
  var content = 0..<0
}

extension Message {
  /// Writes the members of a Message in the order of Reference.md. Never inlined: that would copy the
  /// message out of its event.
  @discardableResult
  @inline(never)
  func encode(
    _ senderProfile: UserProfile?, _ reactions: [ReactionInfo]? = nil, replyCount: Int = 0, into writer: inout JSONWriter
  ) -> MessageParts {
    var parts = MessageParts()
    let messageStart = writer.byteCount
    writer.object { writer in
      writer.member("msgID", msgID)
      writer.member("groupID", groupID.rawValue)
      writer.member("seq", ifPresent: seq)
      writer.member("sender", sender.rawValue)
      let start = writer.byteCount
      if let senderProfile { senderProfile.encodeMembers(into: &writer) }
      parts.profile = start..<writer.byteCount
      if !nameCard.isEmpty { writer.member("nameCard", nameCard) }
      writer.member("timestamp", timestamp)
      writer.key("type")
      parts.content = encodeContent(into: &writer)
      writer.member("priority", priority.rawValue)
      writer.member("clientMsgID", ifPresent: clientMsgID)
      if !atUserIDList.isEmpty { writer.member("atUserIDList", atUserIDList) }
      if let extras { extras.encodeMembers(into: &writer) }
      if isRevoked { writer.member("isRevoked", true) }
      if needReadReceipt { writer.member("needReadReceipt", true) }
      if changeSeq > 0 { encodeChange(reactions, into: &writer) }
      if replyCount > 0 { writer.member("replyCount", replyCount) }
      writer.member("platform", platform.rawValue)
    }
    parts.message = messageStart..<writer.byteCount
    return parts
  }

  /// Writes the type, the content and the extension.
  /// - Returns: where content and extension stand.
  fileprivate func encodeContent(into writer: inout JSONWriter) -> Range<Int> {
    let start: Int
    switch content {
    case .text(let text):
      writer.value("Text")
      start = writer.byteCount
      if !isRevoked { writer.member("text", text) }
    case .custom(let data):
      writer.value("Custom")
      start = writer.byteCount
      if !isRevoked { writer.member("data", data) }
    case .tips(let tips):
      writer.value("GroupTips")
      start = writer.byteCount
      writer.key("tips")
      writer.raw(tips)
    }
    if !isRevoked, let text = extras?.extension { writer.member("extension", text) }
    return start..<writer.byteCount
  }
}

extension MessageExtras {
  /// Writes what stands behind the content of a message, in the order of Reference.md.
  @inline(never)
  fileprivate func encodeMembers(into writer: inout JSONWriter) {
    if let replyTo {
      writer.key("replyTo")
      writer.object { writer in
        writer.member("seq", replyTo.seq)
        writer.member("sender", replyTo.sender.rawValue)
      }
    }
    if !toUserIDList.isEmpty { writer.member("toUserIDList", toUserIDList.lazy.map(\.rawValue)) }
    if isExcludedFromUnreadCount { writer.member("isExcludedFromUnreadCount", true) }
    if isExcludedFromLastMessage { writer.member("isExcludedFromLastMessage", true) }
  }
}

extension MessageInfo {
  /// The members that `encode` writes, for descriptions (DescriptionValueTests compares both).
  static let fields: [ResultField] = [
    ResultField("msgID", "string"), ResultField("groupID", "string"), ResultField("seq?", "integer"),
    ResultField("sender", "string"), ResultField("nickName?", "string"), ResultField("faceURL?", "string"),
    ResultField("nameCard?", "string"), ResultField("timestamp", "integer"),
    ResultField("type", "\"Text\", \"Custom\" or \"GroupTips\""), ResultField("text?", "string"),
    ResultField("data?", "string"),
    ResultField("tips?", "Tips"), ResultField("extension?", "string"),
    ResultField("priority", NamedType.words(Priority.self)), ResultField("clientMsgID?", "string"),
    ResultField("atUserIDList?", "[string]"), ResultField("replyTo?", "{seq, sender}"), ResultField("toUserIDList?", "[string]"),
    ResultField("isExcludedFromUnreadCount?", "boolean"), ResultField("isExcludedFromLastMessage?", "boolean"),
    ResultField("isRevoked?", "boolean"),
    ResultField("needReadReceipt?", "boolean"), ResultField("changeSeq?", "integer"), ResultField("editTime?", "integer"),
    ResultField("isPinned?", "boolean"), ResultField("reactions?", "[\(ReactionInfo.notation)]"),
    ResultField("replyCount?", "integer"), ResultField("platform", "string"),
  ]
}
