import GroupModel
import WireProtocol

/// The after-events of the group (Protocol.md, "Webhooks"). Rules post them beside what they change;
/// imports post none.
extension GroupState {
  /// Adds an after-event, where the configuration names its type.
  /// - Parameter isDurable: false = nothing of what it tells is stored, and neither is it.
  func post(
    _ type: WebhookType, _ content: @autoclosure () -> WebhookContent, isDurable: Bool = true, at time: WallInstant,
    into decision: inout Decision
  ) {
    guard rules.webhooks.contains(type) else { return }
    let entry = WebhookEntry(type, content(), in: .group(record.id), at: time)
    if isDurable { decision.changes.append(.appendWebhook(entry)) }
    decision.effects.append(.post(entry))
  }

  /// New members, and that the group is full now.
  func postJoined(
    _ list: [MemberInfo], _ how: WebhookContent.Joining, by opUser: EventOperator?, in context: DecisionContext,
    into decision: inout Decision
  ) {
    post(
      .memberJoined, .memberJoined(record.id, list, memberCount: roster.count, how: how, by: opUser), at: context.now,
      into: &decision)
    postIfFull(at: context.now, into: &decision)
  }

  /// After members were added: a full group takes none, so it was not full before.
  func postIfFull(at time: WallInstant, into decision: inout Decision) {
    if isFull { post(.groupFull, .groupFull(record.id, memberCount: roster.count), at: time, into: &decision) }
  }

  /// Members who are gone.
  func postLeft(
    _ list: [MemberInfo], _ how: WebhookContent.Leaving, reason: String? = nil, by opUser: EventOperator? = nil,
    in context: DecisionContext, into decision: inout Decision
  ) {
    post(
      .memberLeft,
      .memberLeft(record.id, list, memberCount: roster.count, how: how, reason: reason, by: opUser), at: context.now,
      into: &decision)
  }

  /// The message that the decision's last effect publishes, and the members whose devices are to
  /// show it. It is taken from there, because a message that was kept for this would be copied where
  /// nothing is posted, too.
  /// - Parameters:
  ///   - isDurable: it is stored.
  ///   - pushes: absent members are told, too.
  func postPublished(isDurable: Bool, pushes: Bool, in context: DecisionContext, into decision: inout Decision) {
    guard case .publish(let event, _, _) = decision.effects.last,
      case .onRecvNewMessage(let message) = event.content
    else { return }
    let info = MessageInfo(message, senderProfile: event.senderProfile)
    post(.messageSent, .messageSent(info), isDurable: isDurable, at: context.now, into: &decision)
    guard pushes, rules.webhooks.contains(.offlinePush) else { return }
    let users = pushedUsers(for: info.message)
    for start in stride(from: 0, to: users.count, by: GroupState.pushedUsersPerRequest) {
      let some = Array(users[start..<min(start + GroupState.pushedUsersPerRequest, users.count)])
      post(
        .offlinePush, .offlinePush(groupName: record.name, info, some), isDurable: isDurable, at: context.now, into: &decision)
    }
  }

  private static let pushedUsersPerRequest = 500

  /// "Members without a session whose receive option is Receive, or ReceiveFromManagers for a
  /// manager's message, and those mentioned; not the sender; not for BChatRoom."
  private func pushedUsers(for message: Message) -> [UserID] {
    guard !record.type.everyoneIsMember, !roster.isEverybodyOnline else { return [] }
    let mentioned = Set(message.atUserIDList)
    let everybody = mentioned.contains(MessageOptions.everybody)
    return roster.all.filter { member in
      guard member.userID != message.sender, !roster.isOnline(member.userID) else { return false }
      if everybody || mentioned.contains(member.userID.rawValue) { return true }
      switch member.receiveOption {
      case .receive: return true
      case .receiveFromManagers: return message.isFromManager
      case .notReceive, .receiveNotNotify: return false
      }
    }.map(\.userID).sorted()
  }

  /// A message that nobody gets.
  func postDropped(
    _ info: MessageInfo, _ reason: WebhookContent.DropReason, isDurable: Bool = false, at time: WallInstant,
    into decision: inout Decision
  ) {
    post(.messageDropped, .messageDropped(info, reason), isDurable: isDurable, at: time, into: &decision)
  }
}
