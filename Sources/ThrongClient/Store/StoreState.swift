/// What a client knows of its store without reading it.
struct StoreState: Sendable {
  var userID: String
  let limits: StorageLimits
  var conversations: [String: ConversationRow] = [:]
  var positions: [String: PositionRow] = [:]
  /// The `seq` of each stored message of a group, ascending. None = it was not looked at yet.
  var windows: [String: [Int]] = [:]
  /// The rows of members by group, and those of profiles. None = they were not counted yet.
  var memberCounts: [String: Int] = [:]
  var profileCount: Int?
  var summary = SummaryRow()
  /// Whether the present session has confirmed what there is.
  var isInStep = false
  /// Up to where the server has counted what is unread, by group: its events may still be on their way.
  var countedTo: [String: Int] = [:]
  /// Events of groups that are not known yet.
  var early = EarlyEvents()
  var missed = MissedChanges()
}

/// Changes of messages that are not stored: the answer to an own message may come behind the news of its recall.
struct MissedChanges: Sendable {
  typealias Edit = @Sendable (inout GroupMessage) -> Void

  struct Change: Sendable {
    let changeSeq: Int
    /// Of the frame that it came with.
    let bytes: Int
    let edit: Edit
  }

  private var changes: [String: [Change]] = [:]
  /// Their keys, the oldest first.
  private var keys: [String] = []
  private var bytes = 0

  /// Beyond the bounds the oldest are given up.
  mutating func keep(_ change: Change, of key: String) {
    var known = changes[key] ?? []
    guard !known.contains(where: { $0.changeSeq == change.changeSeq }), change.bytes <= ClientLimits.heldBytes else { return }
    if known.isEmpty { keys.append(key) }
    known.append(change)
    bytes += change.bytes
    if known.count > ClientLimits.changesPerMessage { bytes -= known.removeFirst().bytes }
    changes[key] = known
    while let oldest = keys.first, keys.count > ClientLimits.missedMessages || bytes > ClientLimits.heldBytes {
      _ = take(oldest)
    }
  }

  mutating func take(_ key: String) -> [Change] {
    guard let taken = changes.removeValue(forKey: key) else { return [] }
    keys.removeAll { $0 == key }
    bytes -= taken.reduce(0) { $0 + $1.bytes }
    return taken
  }
}

/// Events of groups that the store does not know: they count once it does.
struct EarlyEvents: Sendable {
  private var events: [String: [(event: StoreEvent, bytes: Int)]] = [:]
  private var count = 0
  private var bytes = 0

  /// Beyond the bounds all are given up: what the server tells of a group has most of it.
  mutating func keep(_ event: StoreEvent, of groupID: String, bytes: Int) {
    guard ClientLimits.isIdentifier(groupID), bytes <= ClientLimits.heldBytes else { return }
    if count >= ClientLimits.newGroups || self.bytes + bytes > ClientLimits.heldBytes { self = EarlyEvents() }
    events[groupID, default: []].append((event, bytes))
    count += 1
    self.bytes += bytes
  }

  mutating func take(_ groupID: String) -> [StoreEvent] {
    let taken = events.removeValue(forKey: groupID) ?? []
    count -= taken.count
    bytes -= taken.reduce(0) { $0 + $1.bytes }
    return taken.map { $0.event }
  }
}

extension PositionRow {
  /// Events of a group come in their order: one tells that those before it have come.
  mutating func reach(_ place: Place) {
    seq = max(seq, place.seq)
    changeSeq = max(changeSeq, place.changeSeq)
    let last = seq
    own.removeAll { $0 <= last }
    while own.first == seq + 1 { seq = own.removeFirst() }
  }

  mutating func addOwn(_ place: Int) {
    guard place > seq, !own.contains(place) else { return }
    own.insert(place, at: own.firstIndex { $0 > place } ?? own.count)
    if own.count > ClientLimits.ownMessages { own.removeFirst() }
    reach(Place())
  }
}

extension GroupInfo {
  /// A group of a live type: no list has it.
  var isLive: Bool { groupType == .avChatRoom || groupType == .bChatRoom }

  /// Whether it has a history that a store keeps a part of.
  var keepsMessages: Bool { !isLive && firstSeq != nil }

  /// When something was said last, or the user came.
  var activeAt: Int { max(ClientLimits.count(lastMessageTime), ClientLimits.count(selfInfo?.joinTime)) }
}

extension GroupMessage {
  /// Whether the message mentions the user.
  func mentions(_ userID: String) -> Bool { atUserIDList?.contains { $0 == userID || $0 == "@all" } == true }
}

extension ConversationRow {
  init(_ info: GroupInfo, firstStored: Int = 0) {
    self.init(info: info, status: .member, endedAt: nil, firstStored: firstStored, activeAt: info.activeAt)
  }

  /// Whether some messages of others do not come: what is between two that came is not known then.
  var isHeardInPart: Bool {
    info.selfInfo?.receiveMessageOpt == .notReceive || info.selfInfo?.receiveMessageOpt == .receiveFromManagers
  }

  /// Whether the group counts what is unread.
  var countsUnread: Bool { info.groupType == .work || info.groupType == .public }

  /// Whether a message of somebody else counts as unread (Protocol.md, "Unread counts").
  func counts(_ message: GroupMessage) -> Bool {
    countsUnread && message.type != .groupTips && message.isRevoked != true
      && message.isExcludedFromUnreadCount != true && message.toUserIDList == nil
      && info.selfInfo?.receiveMessageOpt != .notReceive
  }

  /// Takes over the group as the server tells of it, unless that is older than what is known; answers whether it
  /// has.
  mutating func adopt(_ news: GroupInfo) -> Bool {
    guard news.selfInfo != nil, news.groupID == info.groupID else { return false }
    let isOlder =
      ClientLimits.count(news.lastSeq) < ClientLimits.count(info.lastSeq)
      || ClientLimits.count(news.changeSeq) < ClientLimits.count(info.changeSeq)
    guard news.epoch != info.epoch || !isOlder else { return false }
    info = news
    activeAt = news.activeAt
    return true
  }
}
