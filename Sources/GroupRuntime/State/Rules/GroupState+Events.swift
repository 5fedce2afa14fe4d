import GroupModel
import WireProtocol

/// What members and the application are told: events, tips, notifications and after-events
/// (Protocol.md, "Notification off", "Tips" and "Webhooks").
extension GroupState {
  /// The member info of a user in events, a member or not.
  func memberInfo(of user: UserID) -> MemberInfo {
    if user == .administrator { return .administrator }
    return roster.member(user).map { MemberInfo($0) } ?? .outsider(user)
  }

  /// The caller in events: the member info and the platform.
  func eventOperator(_ turn: borrowing Turn) -> EventOperator {
    EventOperator(memberInfo(of: turn.caller.senderID), on: turn.caller.platform)
  }

  /// Sends an event to all members, or with memberChangeNotification off to the users concerned.
  /// - Parameter concerned: nil = all members get it in either case.
  @discardableResult
  func announce(_ content: GroupEvent.Content, whenOff concerned: [UserID]? = nil, _ turn: inout Turn) -> GroupEvent {
    let event = turn.event(content)
    if let concerned, !record.policy.memberChangeNotification {
      if !concerned.isEmpty { turn.perform(.send(event, to: concerned)) }
    } else {
      charge(event, &turn)
      turn.perform(.publish(event, .control, except: nil))
    }
    return event
  }

  /// Charges the request for an event to members. Of an event that waits for others to merge with it,
  /// the first request pays.
  /// - Parameter users: nil = all members.
  func charge(_ event: GroupEvent, to users: [UserID]? = nil, _ turn: inout Turn) {
    let receivers =
      if let users { users.count { roster.isOnline($0) } } else { roster.onlineCount(usersSignedIn: turn.usersSignedIn) }
    turn.decision.fanOut.add(to: receivers, ofBytes: event.capacity)
  }

  // MARK: Tips and notifications

  /// Stores a change as a `GroupTips` message, where the type keeps messages.
  /// - Parameters:
  ///   - opUser: the caller's info, where the caller is not a member any more.
  ///   - always: also with memberChangeNotification off.
  mutating func appendTips(
    _ content: GroupTips.Content, by opUser: MemberInfo? = nil, always: Bool = false, _ turn: inout Turn
  ) -> EventTip? {
    guard record.type.storesMessages, always || record.policy.memberChangeNotification else { return nil }
    let opUser = opUser ?? memberInfo(of: turn.caller.senderID)
    let tips = Encoded(GroupTips(content, by: opUser, memberCount: roster.count))
    let seq = messages.lastSeq + 1
    let message = Message(
      msgID: messages.nextMessageID(seq: seq), groupID: record.id, seq: seq, sender: turn.caller.senderID,
      nameCard: opUser.nameCard, timestamp: turn.now, content: .tips(String(decoding: tips.text, as: UTF8.self)),
      priority: .normal, clientMsgID: nil, platform: turn.caller.platform)
    messages.append(message)
    turn.store(.append(message))
    return EventTip(seq: seq, msgID: message.msgID)
  }

  /// Stores a notification for the users concerned, except in an AVChatRoom or BChatRoom.
  /// - Parameter opUser: nil = the caller.
  func notify(
    _ kind: SystemNotification.Kind, _ users: [UserID], by opUser: EventOperator? = nil,
    about application: GroupApplication? = nil, reason: String? = nil, data: String? = nil, _ turn: inout Turn
  ) {
    let users = users.filter { $0 != .administrator }
    guard !users.isEmpty else { return }
    notify(kind, .users(users), by: opUser, about: application, reason: reason, data: data, &turn)
  }

  /// The same for other recipients.
  func notify(
    _ kind: SystemNotification.Kind, _ recipients: NotificationRecipients, by opUser: EventOperator? = nil,
    about application: GroupApplication? = nil, reason: String? = nil, data: String? = nil, _ turn: inout Turn
  ) {
    guard record.type.storesMessages else { return }
    let notification = notification(
      kind, by: opUser ?? eventOperator(turn), about: application, reason: reason, data: data, at: turn.now)
    turn.store(.notify(notification, recipients))
  }

  func notification(
    _ kind: SystemNotification.Kind, by opUser: EventOperator, about application: GroupApplication? = nil, reason: String? = nil,
    data: String? = nil, at now: WallInstant
  ) -> SystemNotification {
    SystemNotification(
      kind: kind, groupID: record.id, groupName: record.name,
      opUser: String(decoding: Encoded(opUser.opUser).text, as: UTF8.self), applicationID: application?.id, reason: reason,
      data: data, timestamp: now, platform: opUser.platform)
  }

  // MARK: After-events

  /// New members, and that the group is full now.
  func postJoined(
    _ list: [MemberInfo], _ how: WebhookContent.Joining, by opUser: EventOperator? = nil, _ turn: inout Turn
  ) {
    turn.post(.memberJoined, .memberJoined(record.id, list, memberCount: roster.count, how: how, by: opUser))
    postIfFull(&turn)
  }

  /// After members were added: a full group takes none, so it was not full before.
  func postIfFull(_ turn: inout Turn) {
    if isFull { turn.post(.groupFull, .groupFull(record.id, memberCount: roster.count)) }
  }

  /// Members who are gone.
  func postLeft(
    _ list: [MemberInfo], _ how: WebhookContent.Leaving, reason: String? = nil, by opUser: EventOperator? = nil,
    _ turn: inout Turn
  ) {
    turn.post(.memberLeft, .memberLeft(record.id, list, memberCount: roster.count, how: how, reason: reason, by: opUser))
  }

  /// The message that the decision's last effect publishes or sends, and the members whose devices are
  /// to show it. It is taken from there, because a message that was kept for this would be copied where
  /// nothing is posted, too.
  /// - Parameters:
  ///   - isDurable: it is stored, in the group's history.
  ///   - pushes: absent members are told, too.
  ///   - trace: of the request that has sent it.
  mutating func postPublished(isDurable: Bool, pushes: Bool, trace: TraceContext?, _ turn: inout Turn) {
    let event: GroupEvent
    switch turn.decision.effects.last {
    case .publish(let published, _, _), .send(let published, _, _): event = published
    default: return
    }
    guard case .onRecvNewMessage(let message) = event.content else { return }
    let info = MessageInfo(message, senderProfile: event.senderProfile)
    turn.post(.messageSent, .messageSent(info, isStored: isDurable), isDurable: isDurable, trace: trace)
    guard pushes, rules.webhooks.contains(.offlinePush) else { return }
    let users = pushedUsers(for: info.message)
    for start in stride(from: 0, to: users.count, by: GroupState.pushedUsersPerRequest) {
      let some = Array(users[start..<min(start + GroupState.pushedUsersPerRequest, users.count)])
      turn.post(.offlinePush, .offlinePush(groupName: record.name, info, some), isDurable: isDurable, trace: trace)
    }
  }

  private static let pushedUsersPerRequest = 500

  /// "Members without a session whose receive option is Receive, or ReceiveFromManagers or
  /// NotifyFromManagers for a manager's message, and those mentioned; not the sender; not for
  /// BChatRoom." Of a message that names its readers, those among them.
  private mutating func pushedUsers(for message: Message) -> [UserID] {
    guard !record.type.everyoneIsMember, !roster.isEverybodyOnline else { return [] }
    let mentioned = Set(message.atUserIDList)
    let mentionsAll = mentioned.contains(MessageOptions.everybody)
    let isFromManager = message.isFromManager
    var users: [UserID]
    if let named = message.extras?.toUserIDList, !named.isEmpty {
      users = Array(Set(named)).filter { user in
        guard let member = roster[user], isAway(user, from: message.sender) else { return false }
        return mentionsAll || mentioned.contains(user.rawValue) || member.receiveOption.shows(isFromManager: isFromManager)
      }
    } else {
      users = roster.awayMembers(toldFromManager: isFromManager, mentionsAll: mentionsAll)
      if !roster.isOnline(message.sender) { users.removeAll { $0 == message.sender } }
      for user in mentionsAll ? [] : mentioned.compactMap({ UserID($0) }) where isAway(user, from: message.sender) {
        guard let member = roster[user], !member.receiveOption.shows(isFromManager: isFromManager) else { continue }
        users.append(user)
      }
    }
    // Their order means nothing, and to sort very many would keep the loop.
    return users.count > GroupState.pushedUsersPerRequest ? users : users.sorted()
  }

  private func isAway(_ user: UserID, from sender: UserID) -> Bool { user != sender && !roster.isOnline(user) }
}
