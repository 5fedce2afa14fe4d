/// The progress of a resume: finds the groups joined and left, then asks in all others for what was
/// missed.
struct Resume {
  static let groupsPerRequest = 50
  static let groupsPerPage = 200
  /// A resume looks back so much farther, in milliseconds: the server's clock may be off.
  static let lookBack = 60_000

  /// The subject of a request of a resume.
  enum Step {
    /// A page of the user's groups.
    case joined
    /// Live rooms, and groups whose position is not known.
    case live
    /// Missed messages and changes of stored groups.
    case history
  }

  /// One group of a sync.
  struct Row {
    var known: Place
    var ask: Methods.SyncGroups.GroupRow
    /// The pages that were read.
    var pages = 0

    /// Whether a page has left the row where it was.
    func isStill(_ next: Row) -> Bool {
      next.pages > pages && next.ask.seq == ask.seq && next.ask.changeSeq == ask.changeSeq
    }
  }

  /// Where the list of groups begins, by the server's clock; 0 = it has all.
  let since: Int
  /// Whether it is the client's first.
  let isFirst: Bool
  /// When the list is read, by the server's clock.
  let listedAt: Int
  /// The groups that were tracked at the beginning.
  let known: [String]
  private(set) var infos: [String: GroupInfo] = [:]
  private var order: [String] = []
  private(set) var gone: Set<String> = []
  /// The pages of the list of groups: where each began, and their bytes together.
  private var pages: Set<Int> = []
  private(set) var bytes = 0
  /// How often each group was asked for anew.
  private var repeats: [String: Int] = [:]
  var left: Set<String> = []
  var recovered: Set<String> = []
  var notRecovered: Set<String> = []
  /// The infos of live rooms that a sync is asked about.
  var rooms: [String: GroupInfo] = [:]
  /// The groups that `live` and `history` still ask for.
  var live: [String] = []
  var stored: [String] = []
  /// The groups of the last request about live rooms.
  var asked: [String] = []
  /// The groups of the sync that is under way.
  var rows: [Row] = []

  init(since: Int, isFirst: Bool, listedAt: Int, known: [String]) {
    self.since = since
    self.isFirst = isFirst
    self.listedAt = listedAt
    self.known = known
  }

  /// Whether the list has all groups.
  var listsAll: Bool { since == 0 }

  /// - Throws: where the list has no end.
  mutating func add(_ page: Methods.GetJoinedGroupList.Result, bytes: Int) throws(ClientError) {
    self.bytes += bytes
    guard pages.insert(page.nextSeq).inserted, pages.count <= ClientLimits.listPages else {
      throw ClientError(.badAnswer, detail: "a list of groups without an end")
    }
    guard self.bytes <= ClientLimits.listBytes, infos.count + page.groupList.count <= ClientLimits.groups,
      gone.count + page.leftGroupIDList.count <= ClientLimits.groups
    else { throw ClientError(.badAnswer, detail: "more groups than a user has") }
    guard page.groupList.allSatisfy(\.hasIdentifiers), page.leftGroupIDList.allSatisfy(ClientLimits.isIdentifier) else {
      throw ClientError(.badAnswer, detail: "a groupID that is too long")
    }
    for info in page.groupList {
      if infos.updateValue(info, forKey: info.groupID) == nil { order.append(info.groupID) }
    }
    gone.formUnion(page.leftGroupIDList)
  }

  /// A group as the resume has read it, if it has.
  func info(of groupID: String) -> GroupInfo? { infos[groupID] ?? rooms[groupID] }

  /// The list that was read is told behind the event.
  mutating func apply(_ change: ServerEvent.ConversationChanged) { infos[change.groupID]?.apply(change) }

  /// A group is asked for anew.
  /// - Throws: where that has no end.
  mutating func addRepeat(of groupID: String) throws(ClientError) {
    repeats[groupID, default: 0] += 1
    guard repeats[groupID, default: 0] <= ClientLimits.repeatedSyncs else {
      throw ClientError(.badAnswer, detail: "more events than the history of a group holds")
    }
  }

  /// The groups of the next request.
  static func takeBatch(of groupIDs: inout [String]) -> [String] {
    defer { groupIDs.removeFirst(min(groupsPerRequest, groupIDs.count)) }
    return Array(groupIDs.prefix(groupsPerRequest))
  }

  func ready(joined: Set<String>) -> Ready {
    Ready(
      isFirst: isFirst, groups: order.compactMap { infos[$0] }, joined: joined.sorted(), left: left.sorted(),
      recovered: recovered.sorted(), notRecovered: notRecovered.sorted())
  }
}

extension GroupInfo {
  /// Whether its ID and epoch are as short as those of a server.
  var hasIdentifiers: Bool { ClientLimits.isIdentifier(groupID) && ClientLimits.isIdentifier(epoch ?? "") }

  /// Whether it is a live room that remembers its last messages: alone among groups it has no
  /// `firstSeq`.
  var remembersMessages: Bool { groupType == .avChatRoom && epoch != nil && firstSeq == nil }

  /// Takes over what onConversationChanged tells: `selfInfo` has what is true, and marks where there
  /// are any.
  mutating func apply(_ change: ServerEvent.ConversationChanged) {
    guard var own = selfInfo else { return }
    if let isPinned = change.isPinned { own.isPinned = isPinned ? true : nil }
    if let isHidden = change.isHidden { own.isHidden = isHidden ? true : nil }
    if let isMarkedUnread = change.isMarkedUnread { own.isMarkedUnread = isMarkedUnread ? true : nil }
    if let marks = change.marks { own.marks = marks.isEmpty ? nil : marks }
    if let clearedSeq = change.clearedSeq {
      let cleared = ClientLimits.count(clearedSeq)
      firstSeq = max(ClientLimits.count(firstSeq), cleared + 1)
      own.unreadCount = 0
      if let last = lastMessage?.seq, last <= cleared { lastMessage = nil }
    }
    selfInfo = own
  }
}

extension Methods.SyncGroups.Result.GroupRow {
  /// A page of a history that was recovered.
  struct Page {
    let place: Place
    let more: Bool
  }

  /// The place that the page reaches.
  /// - Throws: where it lies before the place that was asked from.
  func page(after ask: Methods.SyncGroups.GroupRow) throws(ClientError) -> Page {
    var last = ask.seq
    for message in messageList ?? [] {
      let seq = ClientLimits.count(message.seq)
      guard seq > last else { throw ClientError(.badAnswer, detail: "a history that does not ascend") }
      last = seq
    }
    let changeSeq = ClientLimits.count(self.changeSeq ?? ask.changeSeq)
    guard changeSeq >= ask.changeSeq ?? 0 else { throw ClientError(.badAnswer, detail: "changes that do not ascend") }
    return Page(place: Place(seq: last, changeSeq: changeSeq), more: more ?? false)
  }
}
