import GroupModel
import WireProtocol

/// Events, tips and notifications of a group.
extension GroupState {
  /// An event of this group.
  func event(_ content: GroupEvent.Content, in context: DecisionContext) -> GroupEvent {
    GroupEvent(groupID: record.id, opTime: context.now, content)
  }

  /// The member info of a user in events, a member or not.
  func memberInfo(of user: UserID) -> MemberInfo {
    if user == .administrator { return .administrator }
    return roster.member(user).map { MemberInfo($0) } ?? .outsider(user)
  }

  /// The member info of the caller in events.
  func operatorInfo(_ caller: Caller) -> MemberInfo { memberInfo(of: caller.senderID) }

  /// The caller in events: the member info and the platform.
  func eventOperator(_ caller: Caller) -> EventOperator { EventOperator(operatorInfo(caller), on: caller.platform) }

  /// Sends an event to all members, or with memberChangeNotification off to the users concerned
  /// (Protocol.md, "Notification off").
  func announce(
    _ event: GroupEvent, whenOff concerned: [UserID], in context: DecisionContext, into decision: inout Decision
  ) {
    if record.policy.memberChangeNotification {
      charge(event, in: context, into: &decision)
      decision.effects.append(.publish(event, .control, except: nil))
    } else if !concerned.isEmpty {
      decision.effects.append(.send(event, to: concerned))
    }
  }

  /// Charges the request for an event to all members. Of an event that waits for others to merge with
  /// it, the first request pays.
  func charge(_ event: GroupEvent, in context: DecisionContext, into decision: inout Decision) {
    decision.fanOut.add(to: roster.onlineCount(usersSignedIn: context.usersSignedIn), ofBytes: event.capacity)
  }

  /// Stores a change as a `GroupTips` message, where the type keeps messages (Protocol.md, "Tips").
  /// - Parameters:
  ///   - opUser: the caller's info, where the caller is not a member any more.
  ///   - always: also with memberChangeNotification off.
  mutating func appendTips(
    _ content: GroupTips.Content, by caller: Caller, opUser: MemberInfo? = nil, in context: DecisionContext, always: Bool = false,
    into decision: inout Decision
  ) -> EventTip? {
    guard record.type.storesMessages, always || record.policy.memberChangeNotification else { return nil }
    let opUser = opUser ?? operatorInfo(caller)
    let tips = Encoded(GroupTips(content, by: opUser, memberCount: roster.count))
    let seq = messages.lastSeq + 1
    let message = Message(
      msgID: messages.nextMessageID(seq: seq), groupID: record.id, seq: seq, sender: caller.senderID, nameCard: opUser.nameCard,
      timestamp: context.now, content: .tips(String(decoding: tips.text, as: UTF8.self)), priority: .normal, clientMsgID: nil,
      platform: caller.platform)
    messages.append(message)
    decision.changes.append(.append(message))
    return EventTip(seq: seq, msgID: message.msgID)
  }

  /// Stores a notification for the users concerned, except in an AVChatRoom or BChatRoom.
  func notify(
    _ kind: SystemNotification.Kind, _ users: [UserID], by opUser: EventOperator, about application: GroupApplication? = nil,
    reason: String? = nil, data: String? = nil, in context: DecisionContext, into decision: inout Decision
  ) {
    let users = users.filter { $0 != .administrator }
    guard !users.isEmpty else { return }
    notify(kind, .users(users), by: opUser, about: application, reason: reason, data: data, in: context, into: &decision)
  }

  /// The same for other recipients.
  func notify(
    _ kind: SystemNotification.Kind, _ recipients: NotificationRecipients, by opUser: EventOperator,
    about application: GroupApplication? = nil, reason: String? = nil, data: String? = nil, in context: DecisionContext,
    into decision: inout Decision
  ) {
    guard record.type.storesMessages else { return }
    let notification = notification(
      kind, by: opUser, about: application, reason: reason, data: data, in: context)
    decision.changes.append(.notify(notification, recipients))
  }

  func notification(
    _ kind: SystemNotification.Kind, by opUser: EventOperator, about application: GroupApplication? = nil, reason: String? = nil,
    data: String? = nil, in context: DecisionContext
  ) -> SystemNotification {
    SystemNotification(
      kind: kind, groupID: record.id, groupName: record.name,
      opUser: String(decoding: Encoded(opUser.opUser).text, as: UTF8.self), applicationID: application?.id, reason: reason,
      data: data, timestamp: context.now, platform: opUser.platform)
  }
}
