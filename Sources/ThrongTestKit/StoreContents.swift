import GroupModel
import GroupRuntime

/// The content of the store, and the rules by which a change applies.
struct StoreContents {
  struct Group {
    let number: Int64
    var record: GroupRecord
    var members: [UserID: Member] = [:]
    var former: [UserID: FormerMember] = [:]
    var attributes = GroupAttributes()
    var counters = GroupCounters()
    /// `seq` is the index + `firstSeq`.
    var messages: [Message] = []
    /// The changes that have pinned messages, by `seq`.
    var pins: [Int64: Int64] = [:]
    /// By `seq`; users in the order in which they gave it.
    var reactions: [Int64: [StoredReaction]] = [:]
    /// The members at a message and later ones, by `seq`.
    var receiptMembers: [Int64: [UserID]] = [:]
    /// The readers of each message.
    var readers: [Int64: Set<UserID>] = [:]
    /// How messages were changed the last time, by `seq`.
    var origins: [Int64: StoredChangeOrigin] = [:]
    var firstSeq: Int64 = 1
    /// The timestamp of the newest message that was removed.
    var removedTime = WallInstant.unset

    /// The messages of a range that are kept.
    func messages(in range: ClosedRange<Int64>) -> ArraySlice<Message> {
      let end = firstSeq + Int64(messages.count)
      let (first, last) = (max(range.lowerBound, firstSeq), min(range.upperBound, end - 1))
      return first <= last ? messages[Int(first - firstSeq)...Int(last - firstSeq)] : []
    }

    /// The newest message if it may be the last message; else the one that the record names.
    var lastMessage: Message? {
      guard let newest = messages.last, !newest.movesLastMessage else { return messages.last }
      let shown = record.lastShownSeq
      return shown > 0 ? messages(in: shown...shown).first : nil
    }

    /// The newest message, removed or not.
    var lastSeq: Int64 { firstSeq + Int64(messages.count) - 1 }

    var stamp: GroupStamp {
      GroupStamp(
        epoch: record.epoch, seq: lastSeq, changeSeq: record.changeSeq, revision: record.revision, board: record.board)
    }

    var membership: Membership { Membership(groupID: record.id, type: record.type, groupNumber: number) }

    /// The members that are still remembered: bans and mutes first, the longest before others; then
    /// the latest to leave.
    func former(at now: WallInstant, atMost most: Int) -> [FormerMember] {
      func rank(_ former: FormerMember) -> (WallInstant, WallInstant, UserID) {
        former.isRestricted(at: now)
          ? (former.restrictedUntil, 0, former.userID) : (.distantPast, former.memorableUntil, former.userID)
      }
      return Array(former.values.filter { $0.isMemorable(at: now) }.sorted { rank($0) > rank($1) }.prefix(most))
    }
  }

  /// When a user was last online.
  enum Presence {
    case neverOnline
    case online
    case offline(since: WallInstant)
  }

  /// A user has left a group of a listed type.
  struct Departure {
    let type: GroupType
    let time: WallInstant
    let groupNumber: Int64
  }

  /// The users who find a notification in their list.
  enum Addressee: Hashable {
    case user(UserID)
    case managers(groupNumber: Int64)
  }

  typealias Undo = (inout StoreContents) -> Void

  var groups: [GroupID: Group] = [:]
  var departures: [UserID: [GroupID: Departure]] = [:]
  var users: [UserID: Presence] = [:]
  /// Without empty ones.
  var userInfos: [UserID: UserInfo] = [:]
  /// Without empty ones.
  var statuses: [UserID: String] = [:]
  var access: [UserID: Access] = [:]
  /// The last number of `access`.
  var lastAccess: Int64 = 0
  var deletions: [UserID: UserDeletion] = [:]
  /// The numbers of the groups in which users are or were.
  var groupsOfUsers: [UserID: Set<Int64>] = [:]
  /// By id.
  var reports: [String: NumberedReport] = [:]
  var lastReport: Int64 = 0
  /// By id.
  var applications: [ExactText: Application] = [:]
  /// Oldest first.
  var notifications: [Addressee: [NumberedNotification]] = [:]
  var applicationMarks: [UserID: WallInstant] = [:]
  var notificationMarks: [UserID: Int64] = [:]
  // Numbers are never reused, so undoing keeps them.
  private var lastNumber: Int64 = 0
  var lastApplication: Int64 = 0
  var lastNotification: Int64 = 0
  /// By number.
  var webhooks: [WebhookEntry] = []
  /// By number.
  var webhookFailures: [WebhookFailure] = []
  var lastWebhook: Int64 = 0
  var lastWebhookFailure: Int64 = 0

  /// All changes, or none where one contradicts what is stored.
  /// - Returns: the after-events that they add.
  mutating func apply(_ changes: [StoreChange]) throws(StoreError) -> [WebhookEntry] {
    let lastBefore = lastWebhook
    var undo: [Undo] = []
    do throws(StoreError) {
      for change in changes { undo.append(try apply(change)) }
      return Array(webhooks.reversed().prefix { $0.storedNumber > lastBefore }.reversed())
    } catch {
      for step in undo.reversed() { step(&self) }
      throw error
    }
  }

  private mutating func apply(_ change: StoreChange) throws(StoreError) -> Undo {
    switch change {
    case .putGroup(let record, let isNew): try put(record, isNew)
    case .putMember(let member, in: let group, isKnown: _): try put(member, group)
    case .removeMember(let user, from: let group, let time): try remove(user, group, time)
    case .endHidden(let users, at: let time, in: let group): try endHidden(users, time, group)
    case .putFormer(let former, in: let group): try set(former, of: former.userID, group)
    case .forgetFormer(let user, in: let group): try set(nil, of: user, group)
    case .putAttributes(let attributes, in: let group): try set(attributes, group)
    case .putCounters(let counters, in: let group): try put(counters, group)
    case .putApplication(let application, let asNewest): try put(application, asNewest)
    case .notify(let notification, let recipients): notify(try addressees(of: recipients), notification)
    case .putUserInfo(let info): put(info)
    case .putStatus(let user, let status): put(status, user)
    case .noteGroup(let users, in: let group): try note(users, group)
    case .putBlock(let user, let block, at: let time): put(block, user, time)
    case .raiseTokensBefore(let user, let instant, at: let time): raiseTokens(user, instant, time)
    case .putDeletion(let deletion): put(deletion)
    case .forgetDeletion(let user): forgetDeletion(user)
    case .erase(let rows): try erase(rows)
    case .removeApplications(let ids, in: let group): try removeApplications(ids, group)
    case .putReport(let report): put(report)
    case .closeReport(let id, note: let note, at: _): close(id, note)
    case .markApplicationsRead(let user, through: let time): advance(\.applicationMarks, user, time)
    case .markNotificationsRead(let user, through: let number): advance(\.notificationMarks, user, number)
    case .putLastShown(let seq, at: let time, in: let group): try put(lastShown: seq, time, group)
    case .append(let message): try append(message)
    case .revise(let message): try revise(message)
    case .putReceiptMembers(let members, from: let seq, in: let group): try put(members, seq, group)
    case .addReadReceipts(let seqs, of: let reader, in: let group): try confirm(seqs, reader, group)
    case .noteChange(let message): try noteChange(message)
    case .putChangeSeq(let changeSeq, at: let time, in: let group): try put(changeSeq, time, group)
    case .putStamp(let revision, let board, in: let group): put(revision, board, group)
    case .putChangeOrigin(let origin, let seq, let changeSeq, in: let group): try put(origin, seq, changeSeq, group)
    case .updateReaction(let update): try self.update(update)
    case .removeReactions(let seq, in: let group): try removeReactions(seq, group)
    case .dismiss(let group, let time, let notification): try dismiss(group, time, notification)
    case .appendWebhook(let entry): append(entry)
    case .removeWebhooks(let numbers): removeWebhooks(numbers)
    case .giveUpWebhook(let entry, let attempts, let error): giveUp(entry, attempts, error)
    case .removeWebhookFailures(let numbers): removeFailures { numbers.contains($0.number) }
    case .trimWebhookFailures(let count): trimFailures(keeping: count)
    }
  }

  private mutating func put(_ info: UserInfo) -> Undo {
    let user = info.userID
    let before = (users[user], userInfos[user])
    users[user] = before.0 ?? .neverOnline
    userInfos[user] = info.isEmpty ? nil : info
    return { contents in (contents.users[user], contents.userInfos[user]) = before }
  }

  private mutating func put(_ record: GroupRecord, _ isNew: Bool) throws(StoreError) -> Undo {
    let id = record.id
    if isNew {
      try expect(groups[id] == nil, "groupID \(id) is in use")
      lastNumber += 1
      groups[id] = Group(number: lastNumber, record: record)
      return { $0.groups[id] = nil }
    }
    let before = groups[id]?.record
    guard let before else { throw StoreError(.inconsistent, "no group \(id) to change") }
    groups[id]?.record = record
    // A correction of ends may be older than the stamp beside it.
    groups[id]?.record.revision = max(before.revision, record.revision)
    groups[id]?.record.board = max(before.board, record.board)
    return { $0.groups[id]?.record = before }
  }

  private mutating func put(lastShown seq: Int64, _ time: WallInstant, _ group: GroupID) throws(StoreError) -> Undo {
    guard let before = groups[group]?.record else { throw StoreError(.inconsistent, "no group \(group) to have a last message") }
    groups[group]?.record.lastShownSeq = seq
    groups[group]?.record.lastShownTime = time
    return { $0.groups[group]?.record = before }
  }

  private mutating func put(_ member: Member, _ group: GroupID) throws(StoreError) -> Undo {
    try expect(groups[group] != nil, "no group \(group) to be a member of")
    let user = member.userID
    let before = groups[group]?.members.updateValue(member, forKey: user)
    let departure = departures[user]?.removeValue(forKey: group)
    return {
      $0.groups[group]?.members[user] = before
      $0.departures[user]?[group] = departure
    }
  }

  private mutating func endHidden(_ users: [UserID], _ time: WallInstant, _ group: GroupID) throws(StoreError) -> Undo {
    guard let before = groups[group]?.members else { throw StoreError(.inconsistent, "no group \(group) to show again") }
    try expect(users.allSatisfy { before[$0] != nil }, "not all of \(users.count) are members of \(group)")
    for user in users {
      groups[group]?.members[user]?.conversation.isHidden = false
      groups[group]?.members[user]?.changeTime = time
    }
    return { $0.groups[group]?.members = before }
  }

  private mutating func remove(_ user: UserID, _ group: GroupID, _ time: WallInstant) throws(StoreError) -> Undo {
    guard let member = groups[group]?.members.removeValue(forKey: user) else {
      throw StoreError(.inconsistent, "\(user) is no member of \(group)")
    }
    if let left = groups[group] { depart(user, left, time) }
    return {
      $0.groups[group]?.members[user] = member
      $0.departures[user]?[group] = nil
    }
  }

  // Live rooms leave no departures, because their members change too often.
  private mutating func depart(_ user: UserID, _ group: Group, _ time: WallInstant) {
    guard group.record.type.isListed else { return }
    departures[user, default: [:]][group.record.id] = Departure(type: group.record.type, time: time, groupNumber: group.number)
  }

  /// The groups a user is a member of, by `groupNumber` ascending.
  func memberships(of user: UserID) -> [Membership] {
    groups.values.filter { $0.members[user] != nil }.map(\.membership).sorted { $0.groupNumber < $1.groupNumber }
  }

  private mutating func set(_ former: FormerMember?, of user: UserID, _ group: GroupID) throws(StoreError) -> Undo {
    try expect(groups[group] != nil, "no group \(group) to remember somebody in")
    let before = groups[group]?.former[user]
    groups[group]?.former[user] = former
    return { $0.groups[group]?.former[user] = before }
  }

  private mutating func set(_ attributes: GroupAttributes, _ group: GroupID) throws(StoreError) -> Undo {
    guard let before = groups[group]?.attributes else { throw StoreError(.inconsistent, "no group \(group) to have attributes") }
    groups[group]?.attributes = attributes
    return { $0.groups[group]?.attributes = before }
  }

  private mutating func put(_ counters: [GroupCounters.Entry], _ group: GroupID) throws(StoreError) -> Undo {
    guard let before = groups[group]?.counters else { throw StoreError(.inconsistent, "no group \(group) to have counters") }
    for counter in counters { groups[group]?.counters[counter.key] = counter.value }
    return { $0.groups[group]?.counters = before }
  }

  private mutating func append(_ message: Message) throws(StoreError) -> Undo {
    let id = message.groupID
    let next = groups[id].map { $0.firstSeq + Int64($0.messages.count) }
    try expect(next != nil && message.seq == next, "seq \(message.seq ?? 0) is not the next of a group \(id)")
    groups[id]?.messages.append(message)
    return { $0.groups[id]?.messages.removeLast() }
  }

  private mutating func revise(_ message: Message) throws(StoreError) -> Undo {
    let id = message.groupID
    // Retention may have removed it meanwhile.
    if let seq = message.seq, let group = groups[id], seq < group.firstSeq { return { _ in } }
    let index = try index(of: message)
    let before = groups[id]
    groups[id]?.messages[index].content = message.content
    groups[id]?.messages[index].isRevoked = message.isRevoked
    groups[id]?.messages[index].extras = message.extras
    if message.changeSeq > 0 { _ = try noteChange(message) }
    return { $0.groups[id] = before }
  }

  func index(of message: Message) throws(StoreError) -> Int {
    let index = Int((message.seq ?? 0) - (groups[message.groupID]?.firstSeq ?? 1))
    guard let messages = groups[message.groupID]?.messages, messages.indices.contains(index),
      messages[index].msgID == message.msgID
    else { throw StoreError(.inconsistent, "no message \(message.msgID) at seq \(message.seq ?? 0) of \(message.groupID)") }
    return index
  }

  private mutating func dismiss(
    _ id: GroupID, _ time: WallInstant, _ notification: SystemNotification?
  ) throws(StoreError) -> Undo {
    guard let group = groups.removeValue(forKey: id) else { throw StoreError(.inconsistent, "no group \(id) to disband") }
    for user in group.members.keys { depart(user, group, time) }
    let forget = notification.map { notify(group.members.keys.map { .user($0) }, $0) }
    return {
      forget?(&$0)
      $0.groups[id] = group
      for user in group.members.keys { $0.departures[user]?[id] = nil }
    }
  }

  func expect(_ condition: Bool, _ otherwise: String) throws(StoreError) {
    if !condition { throw StoreError(.inconsistent, otherwise) }
  }
}
