/// What each event changes in a store: the rules that all clients share (Clients.md, "Memory"), whose vectors
/// stand in Tests/Clients. Everything that counts is guarded by a place, so that the same event twice is once.
extension StoreDraft {
  mutating func apply(_ event: StoreEvent) {
    switch event {
    case .signedIn(let userID):
      state.userID = userID
      state.isInStep = false
      state.early = EarlyEvents()
    case .server(let event, let bytes): apply(event, bytes: bytes)
    case .entered(let info): enter(info)
    case .info(let info): adopt(info)
    case .sync(let sync): apply(sync)
    case .ended(let groupID, let status, let time): end(groupID, status, at: time)
    case .ready(let instant):
      state.summary.toldUntil = instant
      state.isInStep = true
    case .answered(let answer):
      for event in answer.events { apply(event) }
    case .own(let message): applyOwn(message)
    case .members(let groupID, let rows, let left):
      guard membership(in: groupID)?.info.keepsMessages == true else { return }
      for row in rows { see(row, in: groupID) }
      for userID in left { forget(userID, in: groupID) }
    case .profiles(let users, let time):
      for user in users { see(user.userID, user.nickName, user.faceURL, at: time) }
    case .page(let groupID, let before, let page): applyPage(page, before: before, in: groupID)
    case .outbox(let changes, _):
      for change in changes { apply(change) }
    }
  }

  private mutating func apply(_ change: OutboxChange) {
    switch change {
    case .put(let row):
      outbox[StoreKeys.outbox(row.order, row.clientMsgID)] = row
      state.summary.order = max(state.summary.order, row.order)
    case .delete(let key): outbox[key] = nil
    }
  }

  // MARK: Events

  private mutating func apply(_ event: ServerEvent, bytes: Int) {
    if case .onSelfInfoUpdated(let change) = event { return see(change) }
    guard let groupID = event.groupID else { return }
    guard membership(in: groupID) != nil else {
      if state.conversations[groupID] == nil {
        state.early.keep(.server(event, bytes: bytes), of: groupID, bytes: bytes)
      } else if event.end(for: state.userID) == .dismissed {
        // The last member who quits leaves no group behind.
        end(groupID, .dismissed, at: event.opTime ?? 0)
      }
      return
    }
    apply(event, in: groupID, bytes: bytes)
  }

  private mutating func apply(_ event: ServerEvent, in groupID: String, bytes: Int) {
    if let status = event.end(for: state.userID) { return end(groupID, status, at: event.opTime ?? 0) }
    if let news = event.news, var row = membership(in: groupID) {
      let seq = event.place.seq
      let isNews = seq == 0 || seq > ClientLimits.count(row.info.lastSeq) || isOvertaken(seq, row)
      apply(news, in: groupID, isNews: isNews, &row)
      setConversation(row)
    }
    if let info = membership(in: groupID)?.info, let tip = event.tip(in: info) { receive(tip, in: groupID) }
    switch event {
    case .onRecvNewMessage(let event): receive(event.message, in: groupID)
    case .onRecvMessageRevoked(let event):
      change(event.seq, event.changeSeq, in: groupID, bytes: bytes, isRecall: true) { $0.revoke() }
    case .onRecvMessageModified(let event):
      let edited = event.message
      change(edited.seq ?? 0, event.changeSeq, in: groupID, bytes: bytes) { message in
        message.text = edited.text
        message.data = edited.data
        message.extension = edited.extension
        message.editTime = edited.editTime
      }
    case .onRecvMessageReactionsChanged(let event):
      let isOwn = event.opUser.userID == state.userID
      change(event.seq, event.changeSeq, in: groupID, bytes: bytes) { $0.apply(event, isOwn: isOwn) }
    case .onGroupMessagePinned(let event):
      change(event.seq, event.changeSeq, in: groupID, bytes: bytes) { $0.isPinned = event.isPinned ? true : nil }
    case .onConversationChanged(let change): apply(change)
    case .onConversationRead(let event): read(event.readSeq, in: groupID)
    case .onReceiveMessageOptChanged(let event): setOption(ReceiveOption(rawValue: event.opt), in: groupID)
    default: return
    }
  }

  /// Under NotReceive nothing is unread; what the server counts afterwards, it says.
  private mutating func setOption(_ option: ReceiveOption, in groupID: String) {
    guard var row = membership(in: groupID), var own = row.info.selfInfo, own.receiveMessageOpt != option else { return }
    if row.countsUnread, option == .notReceive || own.receiveMessageOpt == .notReceive {
      own.unreadCount = 0
      doubtful.insert(groupID)
    }
    own.receiveMessageOpt = option
    row.info.selfInfo = own
    setConversation(row)
  }

  // MARK: Messages

  /// A new message, or a tip.
  private mutating func receive(_ message: GroupMessage, in groupID: String) {
    guard var row = membership(in: groupID), row.info.keepsMessages, message.groupID == groupID else { return }
    guard let seq = message.seq, seq > 0 else { return }
    let current = caughtUp(message, at: seq)
    closeGap(before: seq, in: groupID, &row)
    let isOvertaken = isOvertaken(seq, row)
    reach(Place(seq: seq), in: groupID)
    store(current, at: seq, in: groupID, &row)
    count(current, at: seq, isOvertaken: isOvertaken, &row)
    trim(groupID, &row)
    setConversation(row)
    see(message.sender, message.nickName, message.faceURL, at: message.timestamp)
  }

  /// An own message that the server has stored: no event brings it.
  private mutating func applyOwn(_ own: GroupMessage) {
    let groupID = own.groupID
    if state.conversations[groupID] == nil {
      // The user has entered the group a moment ago.
      let bytes = [own.text, own.data, own.extension].reduce(0) { $0 + ($1?.utf8.count ?? 0) }
      state.early.keep(.own(own), of: groupID, bytes: bytes)
    }
    guard var row = membership(in: groupID), row.info.keepsMessages, let seq = own.seq, seq > 0 else { return }
    var message = own
    if let answered = own.replyTo?.seq, let sender = self.message(answered, in: groupID)?.sender {
      message.replyTo?.sender = sender
    }
    message = caughtUp(message, at: seq)
    closeGap(before: seq, in: groupID, &row)
    // Events of the places between may still be on their way.
    if var position = state.positions[groupID] {
      position.addOwn(seq)
      setPosition(position, of: groupID)
    }
    store(message, at: seq, in: groupID, &row)
    count(message, at: seq, &row)
    trim(groupID, &row)
    setConversation(row)
  }

  /// A message with the changes that came before it.
  private mutating func caughtUp(_ message: GroupMessage, at seq: Int) -> GroupMessage {
    var message = message
    for change in state.missed.take(StoreKeys.message(seq, in: message.groupID))
    where change.changeSeq > message.changeSeq ?? 0 {
      change.edit(&message)
      message.changeSeq = change.changeSeq
    }
    return message
  }

  /// Whether a message is news though the answer to an own one behind it, the last that is known, came first.
  private func isOvertaken(_ seq: Int, _ row: ConversationRow) -> Bool {
    let (groupID, last) = (row.info.groupID, ClientLimits.count(row.info.lastSeq))
    guard let position = state.positions[groupID], seq > position.seq, seq < last else { return false }
    return position.own.contains(last) && seq > state.countedTo[groupID] ?? 0 && !isStored(seq, in: groupID)
  }

  /// Where messages of others do not come, nobody knows what is in a gap: what is stored begins behind it.
  private mutating func closeGap(before seq: Int, in groupID: String, _ row: inout ConversationRow) {
    guard row.isHeardInPart else { return }
    // Not the group's last place: the server may have told of it without the messages.
    let last = max(state.positions[groupID]?.seq ?? 0, state.windows[groupID]?.last ?? 0)
    guard seq > last + 1 else { return }
    removeMessages(of: groupID)
    row.firstStored = seq
  }

  /// Stores a message that is not there, or is there as it was before.
  private mutating func store(_ message: GroupMessage, at seq: Int, in groupID: String, _ row: inout ConversationRow) {
    guard seq >= row.firstStored else { return }
    if let stored = self.message(seq, in: groupID), stored.changeSeq ?? 0 >= message.changeSeq ?? 0 { return }
    put(message, at: seq, in: groupID)
  }

  /// What a message means for its group: its last message, what is unread, whether it is hidden.
  private func count(_ message: GroupMessage, at seq: Int, isOvertaken: Bool = false, _ row: inout ConversationRow) {
    let isLast = seq > ClientLimits.count(row.info.lastSeq)
    if isLast { row.info.lastSeq = seq }
    if isLast, message.isExcludedFromLastMessage != true, message.toUserIDList == nil {
      row.info.lastMessage = message
      row.info.lastMessageTime = message.timestamp
      row.activeAt = max(row.activeAt, ClientLimits.count(message.timestamp))
    }
    guard isLast || isOvertaken, message.sender != state.userID, message.type != .groupTips else { return }
    guard var own = row.info.selfInfo else { return }
    let isUnread = row.counts(message) && seq > own.readSeq
    if isUnread { own.unreadCount += 1 }
    if own.isHidden == true, isUnread || message.mentions(state.userID) { own.isHidden = nil }
    row.info.selfInfo = own
  }

  private mutating func trim(_ groupID: String, _ row: inout ConversationRow) {
    let most = max(1, state.limits.messagesPerGroup)
    guard let window = state.windows[groupID], window.count > most else { return }
    keepNewest(most, of: groupID)
    row.firstStored = state.windows[groupID]?.first ?? row.firstStored
  }

  // MARK: Changes of messages

  private mutating func change(
    _ seq: Int, _ changeSeq: Int, in groupID: String, bytes: Int, isRecall: Bool = false,
    _ edit: @escaping MissedChanges.Edit
  ) {
    guard var row = membership(in: groupID), row.info.keepsMessages else { return }
    reach(Place(changeSeq: changeSeq), in: groupID)
    let isNews = changeSeq > ClientLimits.count(row.info.changeSeq)
    if isNews { row.info.changeSeq = ClientLimits.count(changeSeq) }
    let stored = message(seq, in: groupID)
    if let stored, stored.changeSeq ?? 0 < changeSeq {
      var message = stored
      edit(&message)
      message.changeSeq = changeSeq
      put(message, at: seq, in: groupID)
    } else if stored == nil, seq > 0, seq >= row.firstStored {
      let change = MissedChanges.Change(changeSeq: changeSeq, bytes: bytes, edit: edit)
      state.missed.keep(change, of: StoreKeys.message(seq, in: groupID))
    }
    let last = row.info.lastMessage.flatMap { $0.seq == seq ? $0 : nil }
    if var message = last, message.changeSeq ?? 0 < changeSeq {
      edit(&message)
      message.changeSeq = changeSeq
      row.info.lastMessage = message
    }
    if isRecall, isNews {
      if let recalled = stored ?? last { uncount(recalled, &row) } else { doubt(seq, row) }
    }
    setConversation(row)
  }

  /// A message that was recalled is unread no more.
  /// - Parameter message: as it was before.
  private func uncount(_ message: GroupMessage, _ row: inout ConversationRow) {
    guard message.sender != state.userID, row.counts(message), var own = row.info.selfInfo, message.seq ?? 0 > own.readSeq
    else { return }
    own.unreadCount = max(0, own.unreadCount - 1)
    row.info.selfInfo = own
  }

  /// A message that is not stored was recalled: it may have counted as unread.
  private mutating func doubt(_ seq: Int, _ row: ConversationRow) {
    guard row.countsUnread, let own = row.info.selfInfo, own.unreadCount > 0, seq > own.readSeq else { return }
    doubtful.insert(row.info.groupID)
  }

  /// A message as it is now, whole.
  /// - Parameter known: the group's `changeSeq` up to which its counts are known.
  private mutating func replace(
    _ message: GroupMessage, at seq: Int, in groupID: String, known: Int, _ row: inout ConversationRow
  ) {
    let stored = self.message(seq, in: groupID)
    if let stored, stored.changeSeq ?? 0 <= message.changeSeq ?? 0 { put(message, at: seq, in: groupID) }
    if message.isRevoked == true, message.changeSeq ?? 0 > known {
      if let stored { uncount(stored, &row) } else { doubt(seq, row) }
    }
    if let last = row.info.lastMessage, last.seq == seq, last.changeSeq ?? 0 < message.changeSeq ?? 0 {
      row.info.lastMessage = message
    }
  }

  // MARK: Syncs

  private mutating func apply(_ sync: StoredSync) {
    let groupID = sync.position.groupID
    if membership(in: groupID) == nil, let info = sync.info, info.groupID == groupID { enter(info, from: sync.from) }
    guard var row = membership(in: groupID) else { return }
    let place = Place(seq: sync.position.seq, changeSeq: sync.position.changeSeq)
    if let info = sync.info { adopt(info, in: groupID, &row) }
    guard row.info.keepsMessages else { return setConversation(row) }
    if sync.recovered {
      recover(sync, place, &row)
    } else {
      restart(sync, place, &row)
    }
    setConversation(row)
  }

  private mutating func recover(_ sync: StoredSync, _ place: Place, _ row: inout ConversationRow) {
    let groupID = sync.position.groupID
    let known = ClientLimits.count(row.info.changeSeq)
    for message in sync.messageList {
      guard let seq = message.seq, seq > 0, message.groupID == groupID else { continue }
      if let news = message.news {
        apply(news, in: groupID, isNews: seq > ClientLimits.count(row.info.lastSeq), &row)
      }
      if !isStored(seq, in: groupID), seq >= row.firstStored { put(message, at: seq, in: groupID) }
      replace(message, at: seq, in: groupID, known: known, &row)
      count(message, at: seq, &row)
      see(message.sender, message.nickName, message.faceURL, at: message.timestamp)
    }
    for message in sync.changeList {
      guard let seq = message.seq, message.groupID == groupID else { continue }
      replace(message, at: seq, in: groupID, known: known, &row)
    }
    row.info.changeSeq = max(known, place.changeSeq)
    reach(place, in: groupID)
    trim(groupID, &row)
  }

  /// The history cannot be had: what is stored begins anew behind it.
  private mutating func restart(_ sync: StoredSync, _ place: Place, _ row: inout ConversationRow) {
    let groupID = sync.position.groupID
    removeMessages(of: groupID)
    row.firstStored = place.seq + 1
    let isKnown =
      row.info.epoch == sync.position.epoch && ClientLimits.count(row.info.lastSeq) == place.seq
      && ClientLimits.count(row.info.changeSeq) == place.changeSeq
    if !isKnown {
      if row.info.epoch != sync.position.epoch { row.info.lastMessage = nil }
      row.info.epoch = sync.position.epoch
      row.info.lastSeq = place.seq
      row.info.changeSeq = place.changeSeq
      doubtful.insert(groupID)
    }
    setPosition(
      PositionRow(epoch: sync.position.epoch, seq: place.seq, changeSeq: place.changeSeq, own: []), of: groupID)
  }

  // MARK: Groups

  /// - Parameter from: the place from which messages follow; nil = that of the group.
  private mutating func enter(_ info: GroupInfo, from: Int? = nil) {
    // A BChatRoom is in nobody's list.
    guard info.selfInfo != nil, info.groupType != .bChatRoom else { return }
    let groupID = info.groupID
    let isKnown = membership(in: groupID) != nil && state.positions[groupID]?.epoch ?? "" == info.epoch ?? ""
    if isKnown || info.isLive && membership(in: groupID) != nil { return adopt(info) }
    removeMessages(of: groupID)
    state.countedTo[groupID] = nil
    if info.keepsMessages {
      let place = from ?? ClientLimits.count(info.lastSeq)
      setConversation(ConversationRow(info, firstStored: place + 1))
      setPosition(
        PositionRow(epoch: info.epoch ?? "", seq: place, changeSeq: ClientLimits.count(info.changeSeq), own: []), of: groupID)
    } else {
      setConversation(ConversationRow(info))
    }
    for event in state.early.take(groupID) { apply(event) }
  }

  /// A group as the server tells of it, if the user is in it.
  private mutating func adopt(_ info: GroupInfo) {
    guard var row = membership(in: info.groupID) else { return }
    adopt(info, in: info.groupID, &row)
    setConversation(row)
  }

  private mutating func adopt(_ info: GroupInfo, in groupID: String, _ row: inout ConversationRow) {
    guard row.adopt(info) else { return }
    state.countedTo[groupID] = ClientLimits.count(info.lastSeq)
    hide(groupID, before: ClientLimits.count(info.firstSeq), &row)
  }

  /// The user does not see what is before a place: it was cleared, or is not kept any more.
  private mutating func hide(_ groupID: String, before seq: Int, _ row: inout ConversationRow) {
    guard row.info.keepsMessages, seq > row.firstStored else { return }
    removeMessages(of: groupID, before: seq)
    row.firstStored = seq
  }

  private mutating func apply(_ change: ServerEvent.ConversationChanged) {
    guard var row = membership(in: change.groupID) else { return }
    row.info.apply(change)
    if let cleared = change.clearedSeq { hide(change.groupID, before: ClientLimits.count(cleared) + 1, &row) }
    setConversation(row)
  }

  /// The user has read a group up to a place.
  private mutating func read(_ place: Int, in groupID: String) {
    guard var row = membership(in: groupID), var own = row.info.selfInfo else { return }
    let last = ClientLimits.count(row.info.lastSeq)
    let read = min(ClientLimits.count(place), last)
    guard read >= own.readSeq else { return }
    own.readSeq = read
    own.unreadCount = min(own.unreadCount, unread(behind: read, in: groupID, row))
    if read < last, row.firstStored > read + 1, row.countsUnread { doubtful.insert(groupID) }
    row.info.selfInfo = own
    setConversation(row)
  }

  /// How much is unread behind a place, as far as is known.
  private func unread(behind place: Int, in groupID: String, _ row: ConversationRow) -> Int {
    let last = ClientLimits.count(row.info.lastSeq)
    guard place < last else { return 0 }
    guard row.firstStored <= place + 1 else { return last - place }
    return (state.windows[groupID] ?? []).count { seq in
      guard seq > place, let stored = self.message(seq, in: groupID) else { return false }
      return stored.sender != state.userID && row.counts(stored)
    }
  }

  /// The conversation has ended; what is stored of it stays readable.
  private mutating func end(_ groupID: String, _ status: Conversation.Status, at time: Int) {
    guard var row = state.conversations[groupID] else { return }
    // What a sign-in has found gone may turn out to be dismissed.
    guard row.status == .member || row.status == .left && status == .dismissed else { return }
    row.status = status
    row.endedAt = row.endedAt ?? time
    row.info.selfInfo = nil
    state.countedTo[groupID] = nil
    guard !row.info.isLive else { return remove(row) }
    setConversation(row)
    setPosition(nil, of: groupID)
  }

  // MARK: Histories

  /// A page that the application has read: what lies directly before that which is stored is stored too, as long as
  /// there is room.
  private mutating func applyPage(
    _ page: Methods.GetGroupHistoryMessageList.Result, before: Int?, in groupID: String
  ) {
    guard var row = membership(in: groupID), row.info.keepsMessages, before ?? Int.max >= row.firstStored else { return }
    let most = max(1, state.limits.messagesPerGroup)
    var isWhole = true
    for message in page.messageList {
      guard let seq = message.seq, seq > 0, message.groupID == groupID, seq < row.firstStored else { continue }
      guard state.windows[groupID]?.count ?? 0 < most else {
        isWhole = false
        break
      }
      put(message, at: seq, in: groupID)
      row.firstStored = seq
      see(message.sender, message.nickName, message.faceURL, at: message.timestamp)
    }
    if page.isFinished, isWhole { row.firstStored = min(row.firstStored, max(1, ClientLimits.count(row.info.firstSeq))) }
    setConversation(row)
  }
}

extension GroupMessage {
  /// A recall takes the content.
  fileprivate mutating func revoke() {
    isRevoked = true
    text = nil
    data = nil
    self.extension = nil
    reactions = nil
    isPinned = nil
    editTime = nil
  }

  fileprivate mutating func apply(_ event: ServerEvent.RecvMessageReactionsChanged, isOwn: Bool) {
    let own = Set((reactions ?? []).filter(\.byMe).map(\.reaction))
    let rows = event.reactions.map { row in
      let byMe = isOwn && row.reaction == event.reaction ? event.isAdded : own.contains(row.reaction)
      return ReactionRow(reaction: row.reaction, count: row.count, byMe: byMe)
    }
    reactions = rows.isEmpty ? nil : rows
  }
}
