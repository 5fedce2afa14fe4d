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

  /// Writes the members of a Message in the order of Reference.md. Never inlined: that would copy the
  /// message out of its event.
  @inline(never)
  public func encode(into writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("msgID", message.msgID)
      writer.member("groupID", message.groupID.rawValue)
      writer.member("seq", ifPresent: message.seq)
      writer.member("sender", message.sender.rawValue)
      if let senderProfile { senderProfile.encodeMembers(into: &writer) }
      if !message.nameCard.isEmpty { writer.member("nameCard", message.nameCard) }
      writer.member("timestamp", message.timestamp)
      writer.key("type")
      message.encodeContent(into: &writer)
      writer.member("priority", message.priority.rawValue)
      writer.member("clientMsgID", ifPresent: message.clientMsgID)
      if !message.atUserIDList.isEmpty { writer.member("atUserIDList", message.atUserIDList) }
      if message.isRevoked { writer.member("isRevoked", true) }
      if message.changeSeq > 0 { encodeChange(into: &writer) }
      writer.member("platform", message.platform.rawValue)
    }
  }
}

extension MessageInfo {
  /// What a message has since it was changed.
  fileprivate func encodeChange(into writer: inout JSONWriter) {
    writer.member("changeSeq", message.changeSeq)
    if message.editTime.isSet { writer.member("editTime", message.editTime) }
    if message.isPinned { writer.member("isPinned", true) }
    if let reactions, !reactions.isEmpty { writer.member("reactions", reactions) }
  }
}

extension Message {
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
