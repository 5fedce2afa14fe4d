import Dispatch
import GroupModel
import GroupRuntime
import Synchronization

/// The store for tests: in memory, by the rules of the store on disk. Tests let it fail or wait.
public final class InMemoryStore: GroupStore, StoreHealth, Sendable {
  private struct Pending {
    var commits: [Commit] = []
    var isHeld = false
    var failure: StoreError?
  }

  let contents = Mutex(StoreContents())
  private let pending = Mutex(Pending())
  private let queue = DispatchQueue(label: "throng.testkit.store")
  private let persists = Atomic<Bool>(true)

  /// An empty store.
  public init() {}

  // MARK: Changed by tests

  /// Lets every commit fail from now on, without a change; nil heals the store.
  public func fail(with failure: StoreError?) {
    pending.withLock { $0.failure = failure }
    if failure == nil { persists.store(true, ordering: .releasing) }
  }

  /// Lets commits wait until `release()`, as for a slow disk.
  public func hold() { pending.withLock { $0.isHeld = true } }

  /// Completes the waiting commits in order, and ends `hold()`.
  public func release() {
    pending.withLock { $0.isHeld = false }
    queue.async { self.completePending() }
  }

  /// The number of waiting commits.
  public var pendingCount: Int { pending.withLock { $0.commits.count } }

  /// Every message of a group, by `seq`.
  public func allMessages(of group: GroupID) -> [Message] { contents.withLock { $0.groups[group]?.messages ?? [] } }

  /// The stamp of a group; nil = there is no such group.
  public func stamp(of group: GroupID) -> GroupStamp? { contents.withLock { $0.groups[group]?.stamp } }

  /// Removes the messages of a group before one, as retention does.
  /// - Returns: what the store on disk would tell; nil where there is no such group.
  @discardableResult
  public func removeMessages(of id: GroupID, before seq: Int64) -> HistoryRemoval? {
    contents.withLock { contents in
      guard var group = contents.groups[id] else { return nil }
      let removed = group.messages(in: 0...max(0, seq - 1))
      group.removedTime = removed.last { $0.movesLastMessage }?.timestamp ?? group.removedTime
      group.messages.removeFirst(removed.count)
      group.firstSeq += Int64(removed.count)
      let first = group.firstSeq
      group.pins = group.pins.filter { $0.key >= first }
      group.reactions = group.reactions.filter { $0.key >= first }
      group.readers = group.readers.filter { $0.key >= first }
      group.origins = group.origins.filter { $0.key >= first }
      contents.groups[id] = group
      return HistoryRemoval(groupID: id, epoch: group.record.epoch, firstSeq: group.firstSeq)
    }
  }

  // MARK: StoreHealth

  /// False from a commit that failed `.unavailable` until one succeeds or `fail(with: nil)`.
  public var canPersist: Bool { persists.load(ordering: .acquiring) }

  // MARK: GroupStore

  /// Enqueues the commit; completions come from a queue of the store, in order.
  public func commit(_ commit: Commit) {
    pending.withLock { $0.commits.append(commit) }
    queue.async { self.completePending() }
  }

  private func completePending() {
    while let (commit, failure) = next() {
      let result = outcome(of: commit, failure)
      if case .failure = result { commit.generation.markBroken() }
      commit.completion(result)
    }
  }

  private func next() -> (Commit, StoreError?)? {
    pending.withLock { pending in
      if pending.isHeld || pending.commits.isEmpty { return nil }
      return (pending.commits.removeFirst(), pending.failure)
    }
  }

  private func outcome(of commit: Commit, _ failure: StoreError?) -> Commit.Answer {
    if commit.generation.isBroken { return .failure(StoreError(.abandoned, "an earlier commit of the same generation failed")) }
    if let failure {
      if failure.kind == .unavailable { persists.store(false, ordering: .releasing) }
      return .failure(failure)
    }
    do throws(StoreError) {
      let stored = try contents.withLock { contents throws(StoreError) in try contents.apply(commit.changes) }
      persists.store(true, ordering: .releasing)
      return .success(stored)
    } catch {
      return .failure(error)
    }
  }

  /// The group, members by `userID`; `recentlySent` goes back to the first message that is older.
  public func group(
    _ id: GroupID, sentSince: WallInstant, at now: WallInstant, mostFormer: Int
  ) async throws(StoreError) -> StoredGroup? {
    contents.withLock { contents in
      guard let group = contents.groups[id] else { return nil }
      let recent = group.messages.reversed().prefix { $0.timestamp >= sentSince }.reversed()
      var stored = StoredGroup(
        record: group.record, members: group.members.values.sorted { $0.userID < $1.userID },
        former: group.former(at: now, atMost: mostFormer),
        lastMessage: group.lastMessage, recentlySent: recent.compactMap(SentMessage.init), attributes: group.attributes,
        openApplications: contents.openApplications(of: group),
        offlineSince: group.record.type == .avChatRoom ? contents.offlineSince(among: group.members.keys) : [:],
        firstSeq: group.firstSeq, removedTime: group.removedTime)
      stored.counters = group.counters
      stored.pinned = group.pinned
      if let newest = group.messages.last, let seq = newest.seq, !newest.movesLastMessage {
        stored.setNewest(seq, at: newest.timestamp)
      }
      return stored
    }
  }

  /// The groups a user is a member of, by `groupNumber` ascending.
  public func memberships(of user: UserID) async throws(StoreError) -> [Membership] {
    contents.withLock { $0.memberships(of: user) }
  }

  /// The groups and presence that a sign-in needs.
  public func signInRecord(of user: UserID) async throws(StoreError) -> SignInRecord {
    contents.withLock { contents in
      SignInRecord(
        memberships: contents.memberships(of: user), offlineSince: contents.offlineSince(among: [user])[user],
        profile: contents.userInfos[user]?.profile, access: contents.access(of: user),
        hasDeletion: contents.deletions[user] != nil)
    }
  }

  /// The number of groups of a listed type for each user; counting stops at `limit`.
  public func membershipCounts(of users: [UserID], limit: Int) async throws(StoreError) -> [UserID: Int] {
    contents.withLock { contents in
      let listed = contents.groups.values.filter(\.record.type.isListed)
      return Dictionary(users.map { user in (user, min(limit, listed.count { $0.members[user] != nil })) }) { $1 }
    }
  }

  /// The number of groups of a type that a user owns; counting stops at `limit`.
  public func ownedCount(of user: UserID, type: GroupType, limit: Int) async throws(StoreError) -> Int {
    contents.withLock { contents in
      min(limit, contents.groups.values.count { $0.record.type == type && $0.record.owner == user })
    }
  }

  /// The groups of a listed type that a user is a member of, by `groupNumber` ascending, also
  /// unchanged ones.
  public func listedMemberships(
    of user: UserID, type: GroupType?, changedSince: WallInstant, after: Int64, limit: Int
  ) async throws(StoreError) -> [Membership] {
    contents.withLock { contents in
      let listed = contents.memberships(of: user).filter {
        $0.type.isListed && $0.groupNumber > after && type ?? $0.type == $0.type
      }
      return Array(listed.prefix(max(0, limit)))
    }
  }

  /// The groups of a listed type that a user has left or that were disbanded, by `groupNumber`
  /// ascending.
  /// - Parameter type: nil = any.
  public func departures(
    of user: UserID, type: GroupType?, since: WallInstant, after: Int64, limit: Int
  ) async throws(StoreError) -> [Membership] {
    contents.withLock { contents in
      let departures = (contents.departures[user] ?? [:]).filter { _, departure in
        departure.time >= since && departure.groupNumber > after && (type ?? departure.type) == departure.type
      }
      let memberships = departures.map { Membership(groupID: $0.key, type: $0.value.type, groupNumber: $0.value.groupNumber) }
      return Array(memberships.sorted { $0.groupNumber < $1.groupNumber }.prefix(max(0, limit)))
    }
  }

  /// Groups of a type (nil = any), by `groupNumber` ascending, at most `limit` after `after`.
  public func groups(ofType type: GroupType?, after: Int64, limit: Int) async throws(StoreError) -> [Membership] {
    contents.withLock { contents in
      let matching = contents.groups.values.filter { (type == nil || $0.record.type == type) && $0.number > after }
      return Array(matching.map(\.membership).sorted { $0.groupNumber < $1.groupNumber }.prefix(max(0, limit)))
    }
  }

  /// The number of groups of each type; a type without groups is absent.
  public func groupCounts() async throws(StoreError) -> [GroupType: Int] {
    contents.withLock { contents in
      contents.groups.values.reduce(into: [:]) { $0[$1.record.type, default: 0] += 1 }
    }
  }

  /// The stamps of groups; one that is not there is absent.
  public func stamps(of groups: [GroupID]) async throws(StoreError) -> [GroupID: GroupStamp] {
    contents.withLock { contents in
      Dictionary(groups.compactMap { group in contents.groups[group].map { (group, $0.stamp) } }) { $1 }
    }
  }

  /// Members of groups of a listed type since an instant, by group and user.
  public func recentMembers(since instant: WallInstant, limit: Int) async throws(StoreError) -> [(GroupID, UserID)] {
    contents.withLock { contents in
      let groups = contents.groups.values.filter(\.record.type.isListed).sorted { $0.number < $1.number }
      let members = groups.flatMap { group in
        group.members.values.filter { $0.joinTime >= instant }.map { (group.record.id, $0.userID) }.sorted { $0.1 < $1.1 }
      }
      return Array(members.prefix(max(0, limit)))
    }
  }
}
