import GroupModel
import WireProtocol

/// How a group's happenings become events, tips and notifications.
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

  /// An event that names who did it, with the operator's platform beside it.
  func event(
    _ name: EventName, by caller: Caller, at moment: Moment, _ body: (inout JSONWriter) -> Void = { _ in }
  ) -> [UInt8] {
    let opUser = operatorInfo(caller)
    return event(name, at: moment) { writer in
      writer.member("opUser", opUser)
      writer.member("platform", caller.platform.rawValue)
      body(&writer)
    }
  }

  /// Join and leave notices: rooms without history count them as chat (contract section 6).
  var noticeClass: EventClass { record.type.storesMessages ? .control : .notice }

  /// Everybody hears of it, or with memberChangeNotification off ("off" in contract section 5) only those concerned.
  func announce(
    _ frame: [UInt8], as kind: EventClass = .control, whenOff concerned: [UserID], into decision: inout Decision
  ) {
    if record.policy.memberChangeNotification {
      decision.effects.append(.publish(frame, kind, except: nil))
    } else if !concerned.isEmpty {
      decision.effects.append(.send(frame, to: concerned))
    }
  }

  /// Stores what happened as a `GroupTips` message, where the type keeps messages (contract section 4).
  /// - Parameters:
  ///   - opUser: the caller, where that is no member any more.
  ///   - always: also with memberChangeNotification off, as changes of the group's info are.
  mutating func appendTips(
    _ type: TipsType, by caller: Caller, opUser: MemberInfo? = nil, at moment: Moment, always: Bool = false,
    into decision: inout Decision, _ body: (inout JSONWriter) -> Void
  ) -> Message? {
    guard record.type.storesMessages, always || record.policy.memberChangeNotification else { return nil }
    let opUser = opUser ?? operatorInfo(caller)
    let count = members.count
    let tips = JSONWriter.text { writer in
      writer.object { writer in
        writer.member("type", type.rawValue)
        writer.member("opUser", opUser)
        body(&writer)
        writer.member("memberCount", count)
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

  /// Keeps a happening for the users it concerns; "not for AVChatRoom and BChatRoom".
  func notify(
    _ kind: SystemNotification.Kind, _ users: [UserID], by opUser: MemberInfo, about application: GroupApplication? = nil,
    reason: String? = nil, data: String? = nil, at moment: Moment, into decision: inout Decision
  ) {
    let users = users.filter { $0 != .administrator }
    guard !users.isEmpty else { return }
    notify(kind, .users(users), by: opUser, about: application, reason: reason, data: data, at: moment, into: &decision)
  }

  /// The same for recipients whose number is not the caller's business.
  func notify(
    _ kind: SystemNotification.Kind, _ recipients: NotificationRecipients, by opUser: MemberInfo,
    about application: GroupApplication? = nil, reason: String? = nil, data: String? = nil, at moment: Moment,
    into decision: inout Decision
  ) {
    guard record.type.storesMessages else { return }
    let notification = notification(
      kind, by: opUser, about: application, reason: reason, data: data, at: moment)
    decision.changes.append(.notify(notification, recipients))
  }

  func notification(
    _ kind: SystemNotification.Kind, by opUser: MemberInfo, about application: GroupApplication? = nil, reason: String? = nil,
    data: String? = nil, at moment: Moment
  ) -> SystemNotification {
    SystemNotification(
      kind: kind, groupID: record.id, opUser: String(decoding: JSONWriter.text { $0.value(opUser) }, as: UTF8.self),
      applicationID: application?.id, reason: reason, data: data, timestamp: moment.now)
  }
}

/// What a `GroupTips` message tells (contract section 4).
enum TipsType: String, CaseIterable, Sendable {
  case join = "Join"
  case invite = "Invite"
  case quit = "Quit"
  case kicked = "Kicked"
  case setAdmin = "SetAdmin"
  case cancelAdmin = "CancelAdmin"
  case groupInfoChange = "GroupInfoChange"
  case memberInfoChange = "MemberInfoChange"
}

extension JSONWriter {
  /// The members that tie an event to the tip that was stored for it.
  mutating func tip(_ message: Message?) {
    guard let message else { return }
    member("seq", ifPresent: message.seq)
    member("msgID", message.msgID)
  }
}
