import GroupModel

/// A message for its readers: with the profiles of its users (Protocol.md, "Profiles").
public struct MessageInfo: Equatable, FieldValue {
  public static let notation = "Message"

  public var message: Message
  /// Nil = empty, or not looked up yet.
  public var senderProfile: UserProfile?
  /// As one reader sees them; nil = there are none, or nobody reads: events have none.
  public var reactions: [ReactionInfo]?

  /// A message whose sender has a profile, or none.
  public init(_ message: Message, senderProfile: UserProfile? = nil) {
    self.message = message
    self.senderProfile = senderProfile
  }

  public func encode(into writer: inout JSONWriter) { message.encode(senderProfile, reactions, into: &writer) }
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

extension Message {
  /// Writes the members of a Message in the order of Reference.md. Never inlined: that would copy the
  /// message out of its event.
  @inline(never)
  func encode(_ senderProfile: UserProfile?, _ reactions: [ReactionInfo]? = nil, into writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("msgID", msgID)
      writer.member("groupID", groupID.rawValue)
      writer.member("seq", ifPresent: seq)
      writer.member("sender", sender.rawValue)
      if let senderProfile { senderProfile.encodeMembers(into: &writer) }
      if !nameCard.isEmpty { writer.member("nameCard", nameCard) }
      writer.member("timestamp", timestamp)
      writer.key("type")
      encodeContent(into: &writer)
      writer.member("priority", priority.rawValue)
      writer.member("clientMsgID", ifPresent: clientMsgID)
      if !atUserIDList.isEmpty { writer.member("atUserIDList", atUserIDList) }
      if isRevoked { writer.member("isRevoked", true) }
      if needReadReceipt { writer.member("needReadReceipt", true) }
      if changeSeq > 0 { encodeChange(reactions, into: &writer) }
      writer.member("platform", platform.rawValue)
    }
  }

  fileprivate func encodeContent(into writer: inout JSONWriter) {
    switch content {
    case .text(let text):
      writer.value("Text")
      if !isRevoked { writer.member("text", text) }
    case .custom(let data):
      writer.value("Custom")
      if !isRevoked { writer.member("data", data) }
    case .tips(let tips):
      writer.value("GroupTips")
      writer.key("tips")
      writer.raw(tips)
    }
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
    ResultField("tips?", "Tips"), ResultField("priority", NamedType.words(Priority.self)), ResultField("clientMsgID?", "string"),
    ResultField("atUserIDList?", "[string]"), ResultField("isRevoked?", "boolean"),
    ResultField("needReadReceipt?", "boolean"), ResultField("changeSeq?", "integer"), ResultField("editTime?", "integer"),
    ResultField("isPinned?", "boolean"), ResultField("reactions?", "[\(ReactionInfo.notation)]"),
    ResultField("platform", "string"),
  ]
}
