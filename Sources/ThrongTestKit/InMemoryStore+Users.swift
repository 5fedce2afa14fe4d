import GroupModel
import GroupRuntime
import Synchronization

extension InMemoryStore: PresenceStore {
  /// The users that are noted to have a session.
  public func usersOnline() async throws(StoreError) -> [UserID] {
    contents.withLock { contents in
      contents.users.compactMap { user, presence in if case .online = presence { user } else { nil } }
    }
  }

  /// The members of live rooms whose last session has ended since an instant, and when it has.
  public func roomMembersOffline(since: WallInstant) async throws(StoreError) -> [UserID: WallInstant] {
    contents.withLock { contents in
      let rooms = contents.groups.values.filter { $0.record.type == .avChatRoom }
      return contents.offlineSince(among: rooms.flatMap(\.members.keys)).filter { $0.value > since }
    }
  }

  /// Makes users known.
  public func makeKnown(_ users: [UserID], areNew _: Bool) async throws(StoreError) { remember(users) }

  /// Nothing is remembered beside the users themselves.
  public func forgetKnown(_ user: UserID) {}

  /// Everything is noted at once.
  public func flushPresence() async {}
}

extension InMemoryStore: UserStore {
  /// Makes users known.
  public func remember(_ users: [UserID]) {
    contents.withLock { contents in
      for user in users where contents.users[user] == nil { contents.users[user] = .neverOnline }
    }
  }

  /// Those of the users that are known.
  public func known(among users: [UserID]) async throws(StoreError) -> Set<UserID> {
    contents.withLock { contents in Set(users.filter { contents.users[$0] != nil }) }
  }

  /// The profiles of users; empty ones are absent.
  public func profiles(of users: [UserID]) async throws(StoreError) -> [UserID: UserProfile] {
    contents.withLock { contents in contents.userInfos.filter { users.contains($0.key) }.compactMapValues(\.profile) }
  }

  /// The texts of those of the users that are known, in the order given.
  public func infos(of users: [UserID]) async throws(StoreError) -> [UserInfo] {
    contents.withLock { contents in
      users.filter { contents.users[$0] != nil }.map { contents.userInfos[$0] ?? UserInfo(userID: $0) }
    }
  }

  /// The statuses of those of the users that are known, in the order given.
  public func statuses(of users: [UserID]) async throws(StoreError) -> [StoredStatus] {
    contents.withLock { contents in
      let absent = contents.offlineSince(among: users)
      return users.filter { contents.users[$0] != nil }.map {
        StoredStatus(userID: $0, customStatus: contents.statuses[$0] ?? "", offlineSince: absent[$0])
      }
    }
  }

  /// The number of known users.
  public func knownCount() async throws(StoreError) -> Int { contents.withLock { $0.users.count } }

  /// Notes that the user's first session has begun, or that the last has ended.
  /// - Parameter offlineSince: nil = online.
  public func notePresence(of user: UserID, offlineSince: WallInstant?) {
    contents.withLock { $0.users[user] = offlineSince.map { .offline(since: $0) } ?? .online }
  }

  /// When the user's last session ended; nil where there is one, or never was.
  public func offlineSince(of user: UserID) async throws(StoreError) -> WallInstant? {
    contents.withLock { $0.offlineSince(among: [user])[user] }
  }
}
