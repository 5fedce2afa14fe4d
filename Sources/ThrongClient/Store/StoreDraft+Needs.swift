/// What has to be read before an event is applied.
extension StoreDraft {
  /// Rows of one group that an event may change.
  private struct Rows<ID> {
    let groupID: String
    let ids: [ID]
  }

  /// The group whose messages have to be looked up first; nil = none, or it was done.
  func windowToRead(for event: StoreEvent) -> String? {
    let groupID: String? =
      switch event {
      case .server(let event, _): event.groupID
      case .entered(let info), .info(let info): info.groupID
      case .sync(let sync): sync.position.groupID
      case .own(let message): message.groupID
      case .page(let groupID, _, _): groupID
      case .signedIn, .ended, .ready, .answered, .members, .profiles, .outbox: nil
      }
    // A group that has no row has no messages either.
    guard let groupID, state.windows[groupID] == nil, state.conversations[groupID]?.info.keepsMessages == true else {
      return nil
    }
    return groupID
  }

  /// The group that the user has left, or lost, and is in from now on; nil = none.
  func groupEnteredAgain(by event: StoreEvent) -> String? {
    let groupID: String? =
      switch event {
      case .entered(let info): info.groupID
      case .sync(let sync): sync.info?.groupID
      default: nil
      }
    guard let groupID, let row = state.conversations[groupID], row.status != .member else { return nil }
    return groupID
  }

  /// The group whose members have to be counted first, because one may be added; nil = none, or it was done.
  func membersToCount(for event: StoreEvent) -> String? {
    guard let rows = members(of: event), !rows.ids.isEmpty, state.memberCounts[rows.groupID] == nil,
      membership(in: rows.groupID)?.info.keepsMessages == true
    else { return nil }
    return rows.groupID
  }

  /// Whether the profiles have to be counted first, because one may be added.
  func countsProfiles(for event: StoreEvent) -> Bool { state.profileCount == nil && !profiles(of: event).isEmpty }

  /// The rows that the event may change, as far as they may be there.
  func keysToRead(for event: StoreEvent) -> [String] {
    var keys: Set<String> = []
    if let places = places(of: event) {
      for seq in places.ids where isStored(seq, in: places.groupID) {
        keys.insert(StoreKeys.message(seq, in: places.groupID))
      }
    }
    if let members = members(of: event) {
      for userID in members.ids where ClientLimits.isIdentifier(userID) {
        keys.insert(StoreKeys.member(userID, of: members.groupID))
      }
    }
    for userID in profiles(of: event) where ClientLimits.isIdentifier(userID) { keys.insert(StoreKeys.profile(userID)) }
    return keys.filter { !isLoaded($0) }.sorted()
  }

  private func places(of event: StoreEvent) -> Rows<Int>? {
    switch event {
    case .server(let event, _): places(of: event)
    case .sync(let sync):
      Rows(groupID: sync.position.groupID, ids: (sync.messageList + sync.changeList).compactMap(\.seq))
    case .own(let message):
      Rows(groupID: message.groupID, ids: [message.seq, message.replyTo?.seq].compactMap { $0 })
    case .signedIn, .entered, .info, .ended, .ready, .answered, .members, .profiles, .page, .outbox: nil
    }
  }

  private func places(of event: ServerEvent) -> Rows<Int>? {
    guard let groupID = event.groupID else { return nil }
    switch event {
    case .onRecvMessageRevoked(let event): return Rows(groupID: groupID, ids: [event.seq])
    case .onRecvMessageModified(let event): return Rows(groupID: groupID, ids: [event.message.seq].compactMap { $0 })
    case .onRecvMessageReactionsChanged(let event): return Rows(groupID: groupID, ids: [event.seq])
    case .onGroupMessagePinned(let event): return Rows(groupID: groupID, ids: [event.seq])
    case .onConversationRead(let event):
      // What is unread behind it is counted.
      return Rows(groupID: groupID, ids: (state.windows[groupID] ?? []).filter { $0 > event.readSeq })
    default: return Rows(groupID: groupID, ids: [event.place.seq])
    }
  }

  private func members(of event: StoreEvent) -> Rows<String>? {
    switch event {
    case .members(let groupID, let rows, let left): Rows(groupID: groupID, ids: rows.map(\.userID) + left)
    case .server(let event, _): event.groupID.map { Rows(groupID: $0, ids: userIDs(of: [event.news], in: $0)) }
    case .sync(let sync):
      Rows(groupID: sync.position.groupID, ids: userIDs(of: sync.messageList.map(\.news), in: sync.position.groupID))
    default: nil
    }
  }

  private func userIDs(of news: [GroupNews?], in groupID: String) -> [String] {
    let owner = state.conversations[groupID]?.info.owner
    return news.compactMap { $0 }.flatMap { $0.userIDs(owner: owner) }
  }

  /// The users whose texts an event shows.
  private func profiles(of event: StoreEvent) -> Set<String> {
    switch event {
    case .server(.onRecvNewMessage(let event), _): StoreDraft.senders(of: [event.message])
    case .server(.onSelfInfoUpdated, _): [state.userID]
    case .sync(let sync): StoreDraft.senders(of: sync.messageList)
    case .page(_, _, let page): StoreDraft.senders(of: page.messageList)
    case .profiles(let users, _): Set(users.map(\.userID))
    default: []
    }
  }

  private static func senders(of messages: [GroupMessage]) -> Set<String> {
    Set(messages.filter { $0.nickName != nil || $0.faceURL != nil }.map(\.sender))
  }
}
