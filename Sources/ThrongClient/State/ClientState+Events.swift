/// Events of the server.
extension ClientState {
  mutating func receive(_ event: ServerEvent) {
    tracker.note(time: event.opTime ?? 0)
    switch event {
    case .onServerDraining(let event): waitAtLeast = .milliseconds(event.retryAfterMs)
    case .onUserSigExpired: renewSoon()
    case .onMessageDropped(let event):
      outbox.drop(event)
      performOutbox()
    default: break
    }
    if !tracker.hold(event) { tell(event) }
  }

  /// Tells the application of an event, which moves its group's position on.
  mutating func tell(_ event: ServerEvent) {
    let groupID = event.groupID
    let isNew = groupID.map { !tracker.isTracked($0) } ?? false
    tracker.note(event)
    if case .onRecvNewMessage(let event) = event, findOwn(event.message) { return }
    tell(.server(event))
    guard let groupID else { return }
    if event.isEnd(for: userID) {
      tracker.remove(groupID)
    } else if isNew, event.isEntry(of: userID) {
      enter(groupID)
    }
  }

  /// Whether it is a message of this client's: the server may have kept it back until the session
  /// that sent it was gone. `ClientEvent.message` tells of it.
  mutating func findOwn(_ message: GroupMessage) -> Bool {
    defer { performOutbox() }
    return message.sender == userID && outbox.find(message)
  }

  /// The user is a member of one more group: its position is read once.
  mutating func enter(_ groupID: String) {
    guard isOnline else { return }
    tracker.enter(groupID)
    request(Methods.GetGroupsInfo(groupIDList: [groupID]), .entry(groupID: groupID))
  }

  mutating func didReadEntry(_ result: Methods.GetGroupsInfo.Result, of groupID: String) {
    tracker.didEnter(groupID)
    guard let row = result.resultList.first, row.code == 0, let info = row.info, info.selfInfo != nil else { return }
    if !tracker.isTracked(groupID) { tracker.track(info) }
  }
}
