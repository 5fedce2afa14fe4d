import GroupModel

extension Message: FieldValue {
  public static var notation: String { "Message" }

  /// Writes the members of a Message in the order of Reference.md. Never inlined: that would copy the
  /// message out of its event.
  @inline(never)
  public func encode(into writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("msgID", msgID)
      writer.member("groupID", groupID.rawValue)
      writer.member("seq", ifPresent: seq)
      writer.member("sender", sender.rawValue)
      if !nameCard.isEmpty { writer.member("nameCard", nameCard) }
      writer.member("timestamp", timestamp)
      writer.key("type")
      encodeContent(into: &writer)
      writer.member("priority", priority.rawValue)
      writer.member("clientMsgID", ifPresent: clientMsgID)
      if !atUserIDList.isEmpty { writer.member("atUserIDList", atUserIDList) }
      if isRevoked { writer.member("isRevoked", true) }
      writer.member("platform", platform.rawValue)
    }
  }

  private func encodeContent(into writer: inout JSONWriter) {
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
