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
    if let groupID = event.groupID, tracker.startReread(groupID, at: event.place) { readEntry(groupID) }
    let held = HeldEvent(event: event, bytes: event.weight(ofFrame: frameBytes))
    if event.isSignal || !tracker.hold(held) { tell(event, bytes: held.bytes) }
    if case .onUsersStatusChanged(let change) = event, let news = statuses.hear(change.userList) {
      tell(.status(news), bytes: held.bytes)
    }
  }

  /// Tells the application of an event, which moves its group's position on.
  mutating func tell(_ event: ServerEvent, bytes: Int) {
    let groupID = event.groupID
    let isNew = groupID.map { !tracker.isTracked($0) } ?? false
    tracker.note(event)
    if event.isStored { store(.server(event, bytes: bytes)) }
    if case .onRecvNewMessage(let event) = event, findOwn(event.message) { return }
    if case .onConversationChanged(let change) = event { resume?.apply(change) }
    tell(.server(event), bytes: bytes)
    guard let groupID else { return }
    if event.isEnd(for: userID) {
      tracker.remove(groupID)
      end(groupID)
    } else if isNew, event.isEntry(of: userID), joining.remove(groupID) == nil {
      enter(groupID)
    }
  }

  /// Whether it is a message of this client's: the server may have kept it back until the session
  /// that sent it was gone. `ClientEvent.message` tells of it.
  mutating func findOwn(_ message: GroupMessage) -> Bool {
    defer { performOutbox() }
    guard message.sender == userID, ClientLimits.isIdentifier(message.msgID) else { return false }
    return outbox.find(message, inLiveRoom: tracker.groups[message.groupID]?.isLive == true)
  }

  /// The user is in the group no more: messages that wait for it are not sent.
  mutating func end(_ groupID: String) {
    if ended.count < ClientLimits.groups, ClientLimits.isIdentifier(groupID) { ended.insert(groupID) }
    outbox.end(groupID)
    performOutbox()
  }

  /// The user is in the group, as the server tells of it.
  /// - Returns: false where there is no room for one more group.
  @discardableResult
  mutating func track(_ info: GroupInfo) -> Bool {
    // A BChatRoom is in nobody's list, and has no history.
    guard info.groupType != .bChatRoom, tracker.track(info) else { return false }
    ended.remove(info.groupID)
    store(.entered(info))
    return true
  }

  /// The application has joined a group: messages may be sent there. It is read at once, because the event of a live
  /// room may wait for others.
  mutating func didJoin(_ groupID: String) {
    ended.remove(groupID)
    guard isOnline, !tracker.isTracked(groupID), tracker.entered[groupID] == nil else { return }
    if joining.count < ClientLimits.newGroups { joining.insert(groupID) }
    enter(groupID)
  }

  /// The user is a member of one more group: its position is read once.
  mutating func enter(_ groupID: String) {
    guard isOnline, tracker.enter(groupID) != nil else { return }
    readEntry(groupID)
  }

  private mutating func readEntry(_ groupID: String) {
    request(Methods.GetGroupsInfo(groupIDList: [groupID]), .entry(groupID: groupID))
  }

  /// - Throws: where more events come, again and again, than may wait.
  mutating func didReadEntry(_ result: Methods.GetGroupsInfo.Result, of groupID: String) throws(ClientError) {
    tracker.didEnter(groupID)
    joining.remove(groupID)
    let row = result.resultList.first { $0.code == 0 && $0.info?.selfInfo != nil && $0.info?.groupID == groupID }
    let info = row?.info
    if tracker.isReread(groupID) {
      try didReread(groupID, info)
    } else if let info, !tracker.isTracked(groupID) {
      track(info)
    }
  }

  /// The places of a room do not ascend: its memory was lost while the connection lived, or an answer
  /// overtook an event.
  /// - Parameter info: nil = the user is no member any more.
  private mutating func didReread(_ groupID: String, _ info: GroupInfo?) throws(ClientError) {
    guard let info else {
      release(groupID)
      tracker.remove(groupID)
      store(.ended(groupID: groupID, .left, at: serverTime))
      return end(groupID)
    }
    if tracker.retryAfterOverflow(groupID) {
      guard tracker.repeatReread(groupID) else {
        throw ClientError(.badAnswer, detail: "more events than a room remembers")
      }
      return readEntry(groupID)
    }
    let isSame = tracker.endReread(info)
    store(.info(info))
    if !isSame { tell(.sync(GroupSync(groupID: groupID, recovered: false, info: info)), bytes: frameBytes) }
    release(groupID, all: isSame)
  }
}

extension ServerEvent {
  /// Whether it is of its moment, and no part of what a sync tells.
  var isSignal: Bool {
    if case .onGroupSignal = self { true } else { false }
  }

  /// What it takes to keep the event: JSON of which nothing is known takes many times its bytes.
  func weight(ofFrame bytes: Int) -> Int {
    if case .other = self { bytes * 16 } else { bytes }
  }
}
