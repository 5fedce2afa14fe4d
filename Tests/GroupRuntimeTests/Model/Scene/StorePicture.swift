import GroupModel
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// The contents of a store for one groupID, made from the changes of decisions by the rules of
/// `StoreChange`.
struct StorePicture: MessageStore {
  struct Contradiction: Error { let text: String }

  private(set) var record: GroupRecord?
  private(set) var members: [UserID: Member] = [:]
  private(set) var former: [UserID: FormerMember] = [:]
  private(set) var messages: [Message] = []
  private(set) var firstSeq: Int64 = 1
  /// When the newest message was sent that retention has removed.
  private var removedTime = WallInstant.unset
  /// The same, also of a message that could not be the last one.
  private var newestRemovedTime = WallInstant.unset
  private(set) var attributes = GroupAttributes()
  private(set) var counters = GroupCounters()
  private(set) var receiptMembers: [Int64: [UserID]] = [:]
  private(set) var readers: [Int64: Set<UserID>] = [:]
  /// The last pinned first.
  private(set) var pinned: [Int64] = []
  /// By `seq`; users in the order in which they gave it.
  private(set) var reactions: [Int64: [StoredReaction]] = [:]
  /// The applications of all groups that ever used the groupID, the newest last.
  private(set) var applications: [GroupApplication] = []
  private(set) var departures: [UserID: WallInstant] = [:]
  private(set) var notifications: [(SystemNotification, [UserID])] = []
  /// By their names.
  private(set) var reports: [String: MessageReport] = [:]

  mutating func apply(_ changes: [StoreChange]) throws {
    notifications = []
    for change in changes { try apply(change) }
  }

  private mutating func apply(_ change: StoreChange) throws {
    switch change {
    case .putGroup(_, isNew: true): try expect(record == nil, "a new group where there is one")
    case .notify: break
    default: try expect(record != nil, "a change of no group")
    }
    switch change {
    case .putGroup(let record, _): self.record = record
    case .putMember(let member, _, _):
      members[member.userID] = member
      departures[member.userID] = nil
    case .removeMember(let user, _, let time):
      try expect(members.removeValue(forKey: user) != nil, "\(user) is no member to remove")
      depart(user, time)
    case .endHidden(let users, at: let time, in: _):
      for user in users {
        try expect(members[user]?.conversation.isHidden == true, "\(user) has not hidden the group")
        members[user]?.conversation.isHidden = false
        members[user]?.changeTime = time
      }
    case .putFormer(let known, _): former[known.userID] = known
    case .forgetFormer(let user, _): former[user] = nil
    case .putAttributes(let attributes, _): self.attributes = attributes
    case .putCounters(let counters, _): for counter in counters { self.counters[counter.key] = counter.value }
    case .putApplication(let application, let asNewest): try put(application, asNewest)
    case .notify(let notification, .users(let users)): notifications.append((notification, users))
    case .notify(let notification, .managers):
      notifications.append((notification, members.values.filter(\.role.isManager).map(\.userID)))
    case .append(let message):
      try expect(message.seq == firstSeq + Int64(messages.count), "seq \(message.seq ?? 0) is not the next")
      messages.append(message)
    case .putLastShown(let seq, at: let time, in: _):
      record?.lastShownSeq = seq
      record?.lastShownTime = time
    case .revise(let message), .noteChange(let message): try revise(message)
    case .putReceiptMembers(let members, from: let seq, in: _): receiptMembers[seq] = members
    case .addReadReceipts(let seqs, of: let reader, in: _): for seq in seqs { readers[seq, default: []].insert(reader) }
    case .putChangeSeq(let changeSeq, at: let time, in: _):
      record?.changeSeq = changeSeq
      record?.changeTime = time
    case .putStamp, .putChangeOrigin: try expect(false, "a stamp where no other node follows")
    case .updateReaction(let update): try self.update(update)
    case .removeReactions(let seq, in: _): reactions[seq] = nil
    case .dismiss(_, let time, let notification):
      if let notification { notifications.append((notification, Array(members.keys))) }
      dismiss(time)
    // No answer of a group shows it: StoreTests compare what the stores make of it.
    case .noteGroup: break
    case .removeApplications(let ids, in: _): applications.removeAll { ids.contains($0.id) }
    case .putUserInfo, .putStatus, .putBlock, .raiseTokensBefore, .putDeletion, .forgetDeletion, .erase, .closeReport,
      .markApplicationsRead, .markNotificationsRead:
      try expect(false, "a group does not decide for users")
    case .putReport(let report):
      try expect(report.groupID == record?.id && report.epoch == record?.epoch && report.state == .open, "\(report)")
      reports[report.id] = report
    case .appendWebhook, .removeWebhooks, .giveUpWebhook, .removeWebhookFailures, .trimWebhookFailures:
      try expect(false, "an after-event where none is wanted")
    }
  }

  // MARK: The deletion of a user

  /// The reactions that a user gives.
  func reactions(by user: UserID) -> [(seq: Int64, reaction: String)] {
    reactions.sorted { $0.key < $1.key }.flatMap { seq, given in
      given.filter { $0.users.contains(user) }.map { (seq: seq, reaction: $0.reaction) }
    }
  }

  /// What a deletion erases by statements.
  mutating func erase(_ user: UserID) {
    for index in messages.indices { eraseTexts(of: user, at: index) }
    receiptMembers = receiptMembers.mapValues { members in members.filter { $0 != user } }
    readers = readers.mapValues { $0.subtracting([user]) }
    applications.removeAll { $0.fromUser == user || $0.toUser == user }
    for index in applications.indices {
      guard let handling = applications[index].handling, handling.by == user else { continue }
      applications[index].handling = GroupApplication.Handling(
        isAgreed: handling.isAgreed, by: handling.by, time: handling.time, message: "")
    }
    departures[user] = nil
    reports = reports.filter { $0.value.reporter != user }
  }

  private mutating func eraseTexts(of user: UserID, at index: Int) {
    if messages[index].sender == user { messages[index].nameCard = "" }
    if case .tips(let tips) = messages[index].content,
      let erased = PersonalTexts.erase(user, in: Array(tips.utf8), messages: .keep)
    {
      messages[index].content = .tips(String(decoding: erased, as: UTF8.self))
    }
    guard let extras = messages[index].extras, extras.toUserIDList.contains(user) else { return }
    let others = extras.toUserIDList.filter { $0 != user }
    messages[index].extras = MessageExtras(
      extension: extras.extension, replyTo: extras.replyTo, isExcludedFromUnreadCount: extras.isExcludedFromUnreadCount,
      isExcludedFromLastMessage: extras.isExcludedFromLastMessage,
      toUserIDList: others.isEmpty ? [messages[index].sender] : others)
  }

  private mutating func put(_ application: GroupApplication, _ asNewest: Bool) throws {
    try expect(application.epoch == record?.epoch, "an application to another group")
    let index = applications.firstIndex { $0.id == application.id }
    if asNewest {
      if let index { applications.remove(at: index) }
      applications.append(application)
    } else {
      guard let index else { throw Contradiction(text: "no application \(application.id)") }
      applications[index] = application
    }
  }

  private mutating func revise(_ message: Message) throws {
    let index = Int((message.seq ?? 0) - firstSeq)
    try expect(messages.indices.contains(index) && messages[index].msgID == message.msgID, "no message \(message.msgID)")
    try expect(message.changeSeq > messages.map(\.changeSeq).max() ?? 0, "change \(message.changeSeq) is not the next")
    let seq = message.seq ?? 0
    if pinned.contains(seq) != message.isPinned {
      if message.isPinned { pinned.insert(seq, at: 0) } else { pinned.removeAll { $0 == seq } }
    }
    messages[index] = message
  }

  private mutating func update(_ update: ReactionUpdate) throws {
    var all = reactions[update.seq] ?? []
    if update.isAdded, update.number == update.changeSeq {
      all.append(StoredReaction(number: update.number, reaction: update.reaction, count: 0))
    }
    let index = all.firstIndex { $0.number == update.number && $0.reaction.isSame(as: update.reaction) }
    guard let index else { throw Contradiction(text: "no reaction \(update)") }
    try expect(all[index].users.contains(update.user) != update.isAdded, "\(update) changes nothing")
    if update.isAdded { all[index].users.append(update.user) } else { all[index].users.removeAll { $0 == update.user } }
    all[index].count = all[index].users.count
    if all[index].count == 0 { all.remove(at: index) }
    reactions[update.seq] = all.isEmpty ? nil : all
  }

  private mutating func dismiss(_ time: WallInstant) {
    for user in members.keys { depart(user, time) }
    record = nil
    (members, former, messages, attributes, counters) = ([:], [:], [], GroupAttributes(), GroupCounters())
    (receiptMembers, readers) = ([:], [:])
    (pinned, reactions) = ([], [:])
    (firstSeq, removedTime, newestRemovedTime) = (1, .unset, .unset)
  }

  /// Retention removes the messages up to one.
  mutating func retain(after seq: Int64) -> HistoryRemoval? {
    let gone = messages.prefix { $0.seq ?? 0 <= seq }
    guard let record, !gone.isEmpty else { return nil }
    removedTime = gone.last { $0.movesLastMessage }?.timestamp ?? removedTime
    newestRemovedTime = gone.last?.timestamp ?? newestRemovedTime
    messages.removeFirst(gone.count)
    firstSeq += Int64(gone.count)
    pinned.removeAll { $0 < firstSeq }
    reactions = reactions.filter { $0.key >= firstSeq }
    readers = readers.filter { $0.key >= firstSeq }
    return HistoryRemoval(groupID: record.id, epoch: record.epoch, firstSeq: firstSeq)
  }

  private mutating func depart(_ user: UserID, _ time: WallInstant) {
    if record?.type.isListed == true { departures[user] = time }
  }

  private func expect(_ condition: Bool, _ otherwise: String) throws {
    if !condition { throw Contradiction(text: otherwise) }
  }

  /// The undecided applications of the present group.
  var openApplications: [GroupApplication] { applications.filter { $0.epoch == record?.epoch && $0.handling == nil } }

  /// The group as its actor would load it.
  func group(at now: WallInstant, offlineSince: [UserID: WallInstant]) -> StoredGroup? {
    guard let record else { return nil }
    let sentSince = now - RecentlySent.retentionMilliseconds
    let recent = messages.filter { $0.clientMsgID != nil && $0.timestamp >= sentSince }
    var stored = StoredGroup(
      record: record, members: Array(members.values), former: Array(former.values), lastMessage: lastMessage,
      recentlySent: recent.compactMap(SentMessage.init), attributes: attributes, openApplications: openApplications,
      offlineSince: record.type == .avChatRoom ? offlineSince.filter { members[$0.key] != nil } : [:],
      firstSeq: firstSeq, removedTime: removedTime)
    stored.sentSince = sentSince
    stored.counters = counters
    stored.pinned = pinned
    if let newest = messages.last, let seq = newest.seq, !newest.movesLastMessage { stored.setNewest(seq, at: newest.timestamp) }
    return stored
  }

  /// The newest message if it may be the last message; else the one that the record names.
  var lastMessage: Message? {
    guard let newest = messages.last, !newest.movesLastMessage else { return messages.last }
    return messages.first { $0.seq == record?.lastShownSeq }
  }

  // MARK: MessageStore

  func messages(of group: GroupID, in range: ClosedRange<Int64>, newestFirst: Bool, limit: Int) -> [Message] {
    let matching = messages.filter { range.contains($0.seq ?? 0) }
    return Array((newestFirst ? matching.reversed() : matching).prefix(limit))
  }

  func messages(of group: GroupID, seqs: [Int64]) -> [Message] { seqs.flatMap { seq in messages.filter { $0.seq == seq } } }

  func changedMessages(
    of group: GroupID, after changeSeq: Int64, in ranges: [ClosedRange<Int64>], limit: Int
  ) -> ChangedMessages {
    let changed = messages.filter { message in
      message.changeSeq > changeSeq && ranges.contains { $0.contains(message.seq ?? 0) }
    }.sorted { $0.changeSeq < $1.changeSeq }
    return ChangedMessages(
      messages: Array(changed.prefix(limit)), cutAt: changed.count > limit ? changed[limit - 1].changeSeq : nil)
  }

  func changeOrigins(of group: GroupID, seqs: [Int64]) -> [Int64: StoredChangeOrigin] { [:] }

  func reactions(of group: GroupID, to seqs: [Int64], reader: UserID?, users: Int) -> [Int64: [StoredReaction]] {
    reactions.filter { seqs.contains($0.key) }.mapValues { $0.map { $0.shown(to: reader, users: users) } }
  }

  func unreadCount(
    of group: GroupID, in range: ClosedRange<Int64>, reader: UserID, managersOnly: Bool, skipsFlagged: Bool, limit: Int
  ) -> Int {
    messages.count {
      range.contains($0.seq ?? 0) && $0.isChat && !$0.isRevoked && $0.sender != reader && ($0.isFromManager || !managersOnly)
        && ($0.countsAsUnread || !skipsFlagged)
    }
  }

  func hiddenSeqs(
    of group: GroupID, from reader: UserID, in range: ClosedRange<Int64>, newestFirst: Bool, limit: Int
  ) -> [Int64] {
    let hidden = messages.filter { message in
      let named = message.extras?.toUserIDList ?? []
      return range.contains(message.seq ?? 0) && !named.isEmpty && message.sender != reader && !named.contains(reader)
    }.compactMap(\.seq)
    return Array((newestFirst ? hidden.reversed() : hidden).prefix(limit))
  }

  private func replies(to seq: Int64, _ visible: Visibility) -> [Message] {
    messages.filter { $0.extras?.replyTo?.seq == seq && !$0.isRevoked && visible.contains($0) }
  }

  func replies(
    to seq: Int64, in group: GroupID, visible: Visibility, after: Int64, limit: Int
  ) -> (messages: [Message], total: Int) {
    let all = replies(to: seq, visible)
    return (Array(all.filter { $0.seq ?? 0 > after }.prefix(limit)), all.count)
  }

  func replyCounts(of group: GroupID, to seqs: [Int64], visible: Visibility) -> [Int64: Int] {
    seqs.reduce(into: [:]) { counts, seq in
      let count = replies(to: seq, visible).count
      if count > 0 { counts[seq] = count }
    }
  }

  func firstSeq(of group: GroupID, notBefore time: WallInstant) -> Int64? { messages.first { $0.timestamp >= time }?.seq }

  func sentMessage(
    of group: GroupID, epoch: String, from sender: UserID, clientMsgID: String, since: WallInstant, most: Int64
  ) -> SentSearch {
    guard record?.epoch == epoch else { return .absent }
    if newestRemovedTime >= since { return .removed }
    let sent = messages.filter { $0.timestamp >= since }.compactMap(SentMessage.init)
    return sent.first { $0.sender == sender && $0.clientMsgID.isSame(as: clientMsgID) }.map(SentSearch.found) ?? .absent
  }

  /// No group searches for messages.
  func messages(matching search: MessageSearch, after place: Int64, limit: Int) -> MessageSearch.Page {
    MessageSearch.Page(found: [], next: 0)
  }

  // MARK: ReadReceiptStore

  private func receiptMembers(at seq: Int64) -> [UserID] {
    if let named = messages.first(where: { $0.seq == seq })?.extras?.toUserIDList, !named.isEmpty { return named }
    return receiptMembers.filter { $0.key <= seq }.max { $0.key < $1.key }?.value ?? []
  }

  func confirmable(_ seqs: [Int64], of group: GroupID, epoch: String, by reader: UserID) -> [Int64] {
    let matching = messages.filter { message in
      seqs.contains(message.seq ?? 0) && message.needReadReceipt && !message.isRevoked && message.sender != reader
    }
    return matching.compactMap(\.seq).filter { receiptMembers(at: $0).contains(reader) && readers[$0]?.contains(reader) != true }
  }

  func receiptCounts(of seqs: [Int64], in group: GroupID, epoch: String) -> [ReceiptCount] {
    messages.filter { seqs.contains($0.seq ?? 0) && $0.needReadReceipt && !$0.isRevoked }.map { message in
      let seq = message.seq ?? 0
      let (read, others) = (readers[seq]?.count ?? 0, receiptMembers(at: seq).count { $0 != message.sender })
      return ReceiptCount(seq: seq, sender: message.sender, read: read, unread: others - read)
    }
  }

  func readers(of seq: Int64, in group: GroupID, epoch: String) -> MessageReaders? {
    messages.first { $0.seq == seq }.map { message in
      MessageReaders(
        sender: message.sender, isRevoked: message.isRevoked,
        members: message.needReadReceipt ? receiptMembers(at: seq) : nil, readers: readers[seq] ?? [],
        targets: message.extras?.toUserIDList ?? [])
    }
  }
}
