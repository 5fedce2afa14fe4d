import Dispatch
import GroupModel
import GroupRuntime
import Synchronization

/// The store for tests: keeps everything in memory, by the same rules as the one on a disk, and fails or waits when told to.
public final class InMemoryStore: GroupStore, MessageStore, UserStore, StoreHealth, Sendable {
  private struct Pending {
    var commits: [Commit] = []
    var isHeld = false
    var failure: StoreError?
  }

  private let contents = Mutex(StoreContents())
  private let pending = Mutex(Pending())
  private let queue = DispatchQueue(label: "throng.testkit.store")
  private let persists = Atomic<Bool>(true)

  /// An empty store.
  public init() {}

  // MARK: Told by tests

  /// From now on every commit that is tried fails so, and nothing is changed; nil heals the store.
  public func fail(with failure: StoreError?) {
    pending.withLock { $0.failure = failure }
    if failure == nil { persists.store(true, ordering: .releasing) }
  }

  /// From now on commits wait, as for a slow disk, until `release()`.
  public func hold() { pending.withLock { $0.isHeld = true } }

  /// What waits is completed, in order, and nothing waits any more.
  public func release() {
    pending.withLock { $0.isHeld = false }
    queue.async { self.completePending() }
  }

  /// How many commits wait.
  public var pendingCount: Int { pending.withLock { $0.commits.count } }

  /// Every message of a group, by `seq`.
  public func allMessages(of group: GroupID) -> [Message] { contents.withLock { $0.groups[group]?.messages ?? [] } }

  // MARK: StoreHealth

  /// False from a commit that failed `.unavailable` until one succeeds or `fail(with: nil)`.
  public var canPersist: Bool { persists.load(ordering: .acquiring) }

  // MARK: GroupStore

  /// Takes the commit in; completions come from a queue of the store, in order.
  public func commit(_ commit: Commit) {
    pending.withLock { $0.commits.append(commit) }
    queue.async { self.completePending() }
  }

  private func completePending() {
    while let (commit, failure) = next() {
      let result = outcome(of: commit, failure)
      if case .failure = result { commit.lineage.markBroken() }
      commit.completion(result)
    }
  }

  private func next() -> (Commit, StoreError?)? {
    pending.withLock { pending in
      if pending.isHeld || pending.commits.isEmpty { return nil }
      return (pending.commits.removeFirst(), pending.failure)
    }
  }

  private func outcome(of commit: Commit, _ failure: StoreError?) -> Result<Void, StoreError> {
    if commit.lineage.isBroken { return .failure(StoreError(.abandoned, "an earlier commit of the same lineage failed")) }
    if let failure {
      if failure.kind == .unavailable { persists.store(false, ordering: .releasing) }
      return .failure(failure)
    }
    do throws(StoreError) {
      try contents.withLock { contents throws(StoreError) in try contents.apply(commit.changes) }
    } catch {
      return .failure(error)
    }
    persists.store(true, ordering: .releasing)
    return .success(())
  }

  /// The group, members by `userID`; `recentlySent` goes back to the first message that is older.
  public func group(_ id: GroupID, sentSince: Instant) async throws(StoreError) -> StoredGroup? {
    contents.withLock { contents in
      guard let group = contents.groups[id] else { return nil }
      let recent = group.messages.reversed().prefix { $0.timestamp >= sentSince }.reversed()
      return StoredGroup(
        record: group.record, members: group.members.values.sorted { $0.userID < $1.userID },
        former: group.former.values.sorted { $0.userID < $1.userID },
        lastMessage: group.messages.last, recentlySent: recent.filter { $0.clientMsgID != nil })
    }
  }

  /// The groups a user is a member of, by `groupNumber` ascending.
  public func memberships(of user: UserID) async throws(StoreError) -> [Membership] {
    contents.withLock { contents in
      contents.groups.values.filter { $0.members[user] != nil }.map(\.membership).sorted { $0.groupNumber < $1.groupNumber }
    }
  }

  /// The groups a user has left or that were disbanded, by time, then groupID.
  public func departures(of user: UserID, since: Instant) async throws(StoreError) -> [GroupID] {
    contents.withLock { contents in
      let since = (contents.departures[user] ?? [:]).filter { $0.value >= since }
      return since.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key)
    }
  }

  /// Groups of a type (nil = of any), by `groupNumber` ascending, at most `limit` with a number above `after`.
  public func groups(ofType type: GroupType?, after: Int64, limit: Int) async throws(StoreError) -> [Membership] {
    contents.withLock { contents in
      let matching = contents.groups.values.filter { (type == nil || $0.record.type == type) && $0.number > after }
      return Array(matching.map(\.membership).sorted { $0.groupNumber < $1.groupNumber }.prefix(max(0, limit)))
    }
  }

  /// How many groups of each type there are; a type without groups is absent.
  public func groupCounts() async throws(StoreError) -> [GroupType: Int] {
    contents.withLock { contents in
      contents.groups.values.reduce(into: [:]) { $0[$1.record.type, default: 0] += 1 }
    }
  }

  // MARK: MessageStore

  /// Stored messages of a group with `seq` in the range; none where nobody uses the groupID.
  public func messages(
    of group: GroupID, in range: ClosedRange<Int64>, newestFirst: Bool, limit: Int
  ) async throws(StoreError) -> [Message] {
    contents.withLock { contents in
      let messages = contents.groups[group]?.messages ?? []
      let first = Int(min(Int64(messages.count), max(0, range.lowerBound - 1)))
      let end = Int(min(Int64(messages.count), max(0, range.upperBound)))
      let matching = messages[first..<max(first, end)]
      return newestFirst ? Array(matching.reversed().prefix(max(0, limit))) : Array(matching.prefix(max(0, limit)))
    }
  }

  /// How many messages with `seq` above `after` are Text or Custom, of somebody else than `reader`, and not recalled.
  public func unreadCount(of group: GroupID, after: Int64, reader: UserID) async throws(StoreError) -> Int {
    contents.withLock { contents in
      let unread = (contents.groups[group]?.messages ?? []).dropFirst(Int(clamping: max(0, after)))
      return unread.count { $0.isChat && $0.sender != reader && !$0.isRevoked }
    }
  }

  // MARK: UserStore

  /// Makes users known.
  public func remember(_ users: [UserID]) { contents.withLock { $0.users.formUnion(users) } }

  /// Those of the users that are known.
  public func known(among users: [UserID]) async throws(StoreError) -> Set<UserID> {
    contents.withLock { $0.users.intersection(users) }
  }

  /// How many users are known.
  public func knownCount() async throws(StoreError) -> Int { contents.withLock { $0.users.count } }
}

/// What the store keeps, and the rules by which a change applies.
private struct StoreContents {
  struct Group {
    let number: Int64
    var record: GroupRecord
    var members: [UserID: Member] = [:]
    var former: [UserID: FormerMember] = [:]
    /// `seq` is the index + 1.
    var messages: [Message] = []

    var membership: Membership { Membership(groupID: record.id, type: record.type, groupNumber: number) }
  }

  typealias Undo = (inout StoreContents) -> Void

  var groups: [GroupID: Group] = [:]
  var departures: [UserID: [GroupID: Instant]] = [:]
  var users: Set<UserID> = []
  private var lastNumber: Int64 = 0

  /// All changes, or none where one contradicts what is stored.
  mutating func apply(_ changes: [StoreChange]) throws(StoreError) {
    var undo: [Undo] = []
    do throws(StoreError) {
      for change in changes { undo.append(try apply(change)) }
    } catch {
      for step in undo.reversed() { step(&self) }
      throw error
    }
  }

  private mutating func apply(_ change: StoreChange) throws(StoreError) -> Undo {
    switch change {
    case .putGroup(let record, let isNew): try put(record, isNew)
    case .putMember(let member, in: let group): try put(member, group)
    case .removeMember(let user, from: let group, let time): try remove(user, group, time)
    case .putFormer(let former, in: let group): try set(former, of: former.userID, group)
    case .forgetFormer(let user, in: let group): try set(nil, of: user, group)
    case .append(let message): try append(message)
    case .revise(let message): try revise(message)
    case .dismiss(let group, let time): try dismiss(group, time)
    }
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
    return { $0.groups[id]?.record = before }
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

  private mutating func remove(_ user: UserID, _ group: GroupID, _ time: Instant) throws(StoreError) -> Undo {
    guard let member = groups[group]?.members.removeValue(forKey: user) else {
      throw StoreError(.inconsistent, "\(user) is no member of \(group)")
    }
    departures[user, default: [:]][group] = time
    return {
      $0.groups[group]?.members[user] = member
      $0.departures[user]?[group] = nil
    }
  }

  private mutating func set(_ former: FormerMember?, of user: UserID, _ group: GroupID) throws(StoreError) -> Undo {
    try expect(groups[group] != nil, "no group \(group) to remember somebody in")
    let before = groups[group]?.former[user]
    groups[group]?.former[user] = former
    return { $0.groups[group]?.former[user] = before }
  }

  private mutating func append(_ message: Message) throws(StoreError) -> Undo {
    let id = message.groupID
    let next = groups[id].map { Int64($0.messages.count + 1) }
    try expect(next != nil && message.seq == next, "seq \(message.seq ?? 0) is not the next of a group \(id)")
    groups[id]?.messages.append(message)
    return { $0.groups[id]?.messages.removeLast() }
  }

  private mutating func revise(_ message: Message) throws(StoreError) -> Undo {
    let id = message.groupID
    let index = Int((message.seq ?? 0) - 1)
    guard let messages = groups[id]?.messages, messages.indices.contains(index), messages[index].msgID == message.msgID else {
      throw StoreError(.inconsistent, "no message \(message.msgID) at seq \(message.seq ?? 0) of \(id)")
    }
    let before = messages[index]
    groups[id]?.messages[index].content = message.content
    groups[id]?.messages[index].isRevoked = message.isRevoked
    return { $0.groups[id]?.messages[index] = before }
  }

  private mutating func dismiss(_ id: GroupID, _ time: Instant) throws(StoreError) -> Undo {
    guard let group = groups.removeValue(forKey: id) else { throw StoreError(.inconsistent, "no group \(id) to disband") }
    for user in group.members.keys { departures[user, default: [:]][id] = time }
    return {
      $0.groups[id] = group
      for user in group.members.keys { $0.departures[user]?[id] = nil }
    }
  }

  private func expect(_ condition: Bool, _ otherwise: String) throws(StoreError) {
    if !condition { throw StoreError(.inconsistent, otherwise) }
  }
}
