import GroupModel
import WireProtocol

/// How a group's happenings become events and tips.
extension GroupState {
  /// The head that all events of a group share.
  func event(_ name: EventName, at moment: Moment, capacity: Int = 320, _ body: (inout JSONWriter) -> Void = { _ in }) -> [UInt8]
  {
    name.text(capacity: capacity) { writer in
      writer.member("groupID", record.id.rawValue)
      writer.member("opTime", moment.now)
      body(&writer)
    }
  }

  /// A control event, or a join or leave notice, which rooms without history count as chat (contract section 6).
  func noticeClass() -> EventClass { record.type.storesMessages ? .control : .liveChat }

  /// Stores what happened as a `GroupTips` message, where the type keeps messages (contract section 4).
  /// - Parameter always: also with memberChangeNotification off, as changes of the group's info are.
  mutating func appendTips(
    _ type: String, by caller: Caller, at moment: Moment, always: Bool = false, into decision: inout Decision,
    _ body: (inout JSONWriter) -> Void
  ) -> Message? {
    guard record.type.storesMessages, always || record.policy.memberChangeNotification else { return nil }
    let opUser = operatorInfo(caller)
    let tips = JSONWriter.text { writer in
      writer.object { writer in
        writer.member("type", type)
        writer.member("opUser", opUser)
        body(&writer)
      }
    }
    let seq = lastSeq + 1
    let message = Message(
      msgID: nextMessageID(seq: seq), groupID: record.id, seq: seq, sender: caller.senderID, nameCard: opUser.nameCard,
      timestamp: moment.now, content: .tips(String(decoding: tips, as: UTF8.self)), priority: .normal, clientMsgID: nil,
      platform: caller.platform)
    lastMessage = message
    decision.changes.append(.append(message))
    return message
  }
}

extension JSONWriter {
  /// The members that tie an event to the tip that was stored for it.
  mutating func tip(_ message: Message?) {
    guard let message else { return }
    member("seq", ifPresent: message.seq)
    member("msgID", message.msgID)
  }
}
