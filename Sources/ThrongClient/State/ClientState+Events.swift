/// Events of the server.
extension ClientState {
  mutating func receive(_ event: ServerEvent) {
    tracker.note(time: event.opTime)
    switch event {
    case .onServerDraining(let event): waitAtLeast = ClientLimits.wait(milliseconds: event.retryAfterMs)
    case .onUserSigExpired: renewSoon()
    case .onMessageDropped(let event):
      outbox.drop(event)
      performOutbox()
    default: break
    }
    let held = HeldEvent(event: event, bytes: event.weight(ofFrame: frameBytes))
    if !tracker.hold(held) { tell(event, bytes: held.bytes) }
  }

  /// Tells the application of an event, which moves its group's position on.
  mutating func tell(_ event: ServerEvent, bytes: Int) {
    let groupID = event.groupID
    let isNew = groupID.map { !tracker.isTracked($0) } ?? false
    tracker.note(event)
    if case .onRecvNewMessage(let event) = event, findOwn(event.message) { return }
    tell(.server(event), bytes: bytes)
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
    return message.sender == userID && ClientLimits.isIdentifier(message.msgID) && outbox.find(message)
  }

  /// The user is a member of one more group: its position is read once.
  mutating func enter(_ groupID: String) {
    guard isOnline, tracker.enter(groupID) != nil else { return }
    request(Methods.GetGroupsInfo(groupIDList: [groupID]), .entry(groupID: groupID))
  }

  mutating func didReadEntry(_ result: Methods.GetGroupsInfo.Result, of groupID: String) {
    tracker.didEnter(groupID)
    guard let row = result.resultList.first, row.code == 0, let info = row.info, info.selfInfo != nil, info.groupID == groupID
    else { return }
    if !tracker.isTracked(groupID) { tracker.track(info) }
  }
}

extension ServerEvent {
  /// What it takes to keep the event: JSON of which nothing is known takes many times its bytes.
  func weight(ofFrame bytes: Int) -> Int {
    if case .other = self { bytes * 16 } else { bytes }
  }
}
