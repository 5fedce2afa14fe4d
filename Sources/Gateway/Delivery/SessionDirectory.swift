import Cluster
import Dispatch
import GroupModel
import GroupRuntime
import Synchronization
import WebSocketTransport

/// One session of a user, as other loops find it.
package struct SessionEntry: Sendable {
  let sessionID: String
  let connection: Connection
  let session: Session
  let platform: Platform
  let deviceID: String?
  let address: String
  let loginTime: WallInstant
  /// Its sign-in has been answered. Among several nodes `ClusterPresence` knows that.
  var isCompleted = false
  /// How many nodes had gone when its sign-in was answered; nil = it is not yet. Among several nodes only.
  var lossCount: Int?
}

/// The signed-in users, their sessions, and the groups that have these attached. Shared by all
/// loops; every call is short.
package final class SessionDirectory: Sendable {
  /// A class, because changing a value where it stands in a dictionary allocates each time.
  private final class Presence {
    /// In order of sign-in.
    var sessions: [SessionEntry] = []
    /// With the topic that has attached them.
    var groups: [GroupID: TopicNumber] = [:]
    /// A session has completed its sign-in, and `presenceChanged` was called.
    var isOnline = false
    /// The user is a member of live rooms that are not in memory.
    var isInSuspendedRooms = false

    /// The platforms of the signed-in sessions.
    var platforms: PlatformSet {
      var platforms: PlatformSet = []
      // By their places: a copy of an entry retains five objects.
      for index in sessions.indices where sessions[index].isCompleted {
        platforms.insert(PlatformSet(platform: sessions[index].platform))
      }
      return platforms
    }
  }

  private struct State {
    var users: [UserID: Presence] = [:]
    var sessionCount = 0
    var losses = NodeLosses()
  }

  /// How many users are processed per lock: a live room has very many.
  static let batchSize = 1000

  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "throng.directory")
  /// Called in order when the first session of a user has signed in (true) and when the last has
  /// ended (false).
  private let presenceChanged: @Sendable (UserID, Platform, Bool) -> Void
  /// Nil = it hears of the sessions of all nodes (`ClusterPresence`), or of none.
  private let statuses: (any SessionObserver)?

  /// An empty directory.
  /// - Parameters:
  ///   - statuses: hears of each change of a user's platforms; nil = nobody does.
  ///   - presenceChanged: must neither block nor call the directory.
  package init(
    statuses: (any SessionObserver)? = nil,
    presenceChanged: @escaping @Sendable (UserID, Platform, Bool) -> Void = { _, _, _ in }
  ) {
    self.statuses = statuses
    self.presenceChanged = presenceChanged
  }

  private func note(_ user: UserID, _ last: PlatformSet, _ platforms: PlatformSet) {
    if platforms != last { statuses?.sessionsChanged(of: user, from: last, to: platforms) }
  }

  /// Adds a session that is signing in, so that groups that its user joins from now on find it.
  func register(_ entry: SessionEntry, of user: UserID) {
    state.withLock { state in
      let presence = state.users[user] ?? Presence()
      presence.sessions.append(entry)
      state.users[user] = presence
      state.sessionCount += 1
    }
  }

  /// The session has signed in: it replaces the session of the same device and the oldest ones
  /// beyond the platform's limit (Protocol.md, "Sessions per user").
  /// - Returns: the replaced sessions; nil where a later session has replaced this one meanwhile.
  func completeSignIn(of session: Session, by user: UserID, limit: Int) -> [Session]? {
    state.withLock { state in
      guard let presence = state.users[user], let index = presence.sessions.firstIndex(where: { $0.session === session })
      else { return nil }
      let last = presence.platforms
      presence.sessions[index].isCompleted = true
      let sessions = presence.sessions
      let replaced = SessionDirectory.replaced(by: sessions[index], among: sessions[..<index], limit: limit)
      if !replaced.isEmpty { presence.sessions.removeAll { old in replaced.contains { $0 === old.session } } }
      state.sessionCount -= replaced.count
      if !presence.isOnline {
        presence.isOnline = true
        presenceChanged(user, sessions[index].platform, true)
      }
      note(user, last, presence.platforms)
      return replaced
    }
  }

  private static func replaced(by entry: SessionEntry, among older: ArraySlice<SessionEntry>, limit: Int) -> [Session] {
    // As a rule a user has one session.
    if older.isEmpty { return [] }
    // By bytes: two spellings of one text, which Swift's strings take for equal, are two devices.
    let sameDevice = entry.deviceID.map { device in older.filter { $0.deviceID?.utf8.elementsEqual(device.utf8) == true } } ?? []
    let samePlatform = older.filter { old in
      old.platform == entry.platform && !sameDevice.contains { $0.session === old.session }
    }
    return (sameDevice + samePlatform.prefix(max(0, samePlatform.count + 1 - limit))).map(\.session)
  }

  // MARK: Among several nodes

  /// Another node has gone: it stores nothing any more.
  func noteLoss(of node: NodeNumber) { state.withLock { $0.losses.add(node) } }

  /// A session has signed in, and is about to be told so.
  func noteSignIn(_ key: SessionKey, of user: UserID) {
    state.withLock { state in
      guard let presence = state.users[user], let index = presence.sessions.firstIndex(where: { $0.session.key == key }) else {
        return
      }
      presence.sessions[index].lossCount = state.losses.count
    }
  }

  /// The sessions of a user that had signed in before a node went. The clients of all others read what it has
  /// stored behind its end.
  func sessions(of user: UserID, before node: NodeNumber) -> [SessionEntry] {
    state.withLock { state in
      guard let presence = state.users[user] else { return [] }
      return presence.sessions.filter { entry in
        guard let count = entry.lossCount else { return false }
        return !state.losses.includes(node, amongFirst: count)
      }
    }
  }

  /// Closes those sessions of users that had signed in before a node went.
  func loseTouch(_ users: some Collection<UserID>, before node: NodeNumber) {
    for user in users {
      for entry in sessions(of: user, before: node) { entry.session.loseTouch() }
    }
  }

  /// Removes a session for which another one has come (`ClusterPresence.complete`).
  /// - Returns: nil where it has ended.
  func removeReplaced(_ key: SessionKey, of user: UserID) -> Session? {
    state.withLock { state in
      guard let presence = state.users[user], let index = presence.sessions.firstIndex(where: { $0.session.key == key }) else {
        return nil
      }
      state.sessionCount -= 1
      let session = presence.sessions.remove(at: index).session
      if presence.sessions.isEmpty { state.users[user] = nil }
      return session
    }
  }

  /// The groups that have the user's sessions attached.
  func groups(of user: UserID) -> Set<GroupID> {
    state.withLock { state in
      guard let presence = state.users[user] else { return [] }
      return Set(presence.groups.keys)
    }
  }

  /// The sessions of all users.
  func allSessions() -> [Session] { state.withLock { $0.users.values.flatMap { $0.sessions.map(\.session) } } }

  /// Closes the sessions of users who may have missed events (Protocol.md, "Close codes").
  func loseTouch(_ users: some Collection<UserID>) {
    for user in users {
      for entry in sessions(of: user) { entry.session.loseTouch() }
    }
  }

  /// The notices that the end of a user's last session demands.
  struct LastSessionEnd: Sendable, Equatable {
    /// The groups to notify at once.
    var groups: Set<GroupID> = []
    /// Live rooms that are not in memory have to be notified when the grace ends.
    var concernsSuspendedRooms = false
  }

  /// Removes a session.
  /// - Returns: empty where it was not the user's last.
  func unregister(_ session: Session, of user: UserID) -> LastSessionEnd {
    state.withLock { state in
      guard let presence = state.users[user] else { return LastSessionEnd() }
      let count = presence.sessions.count
      let platform = presence.sessions.first { $0.session === session }?.platform ?? .unknown
      let last = presence.platforms
      presence.sessions.removeAll { $0.session === session }
      state.sessionCount -= count - presence.sessions.count
      if presence.sessions.isEmpty { state.users[user] = nil }
      defer { note(user, last, presence.platforms) }
      guard presence.sessions.isEmpty else { return LastSessionEnd() }
      if presence.isOnline { presenceChanged(user, platform, false) }
      return LastSessionEnd(groups: Set(presence.groups.keys), concernsSuspendedRooms: presence.isInSuspendedRooms)
    }
  }

  /// Notes that users are members of live rooms that are not in memory.
  func noteSuspendedRoom(of users: [UserID]) {
    var remaining = users[...]
    while !remaining.isEmpty {
      let batch = remaining.prefix(SessionDirectory.batchSize)
      remaining = remaining.dropFirst(batch.count)
      state.withLock { state in
        for user in batch { state.users[user]?.isInSuspendedRooms = true }
      }
    }
  }

  /// Notes that a group has the user's sessions attached.
  /// - Returns: their connections; none where the user is not signed in.
  func attach(_ group: GroupID, to user: UserID, by topic: TopicNumber) -> [Connection] {
    state.withLock { state in
      guard let sessions = state.users[user]?.sessions else { return [] }
      state.users[user]?.groups[group] = topic
      return sessions.map(\.connection)
    }
  }

  /// Notes that a group has the user's sessions no longer attached.
  /// - Returns: their connections.
  func detach(_ group: GroupID, from user: UserID, by topic: TopicNumber) -> [Connection] {
    state.withLock { state in
      guard let presence = state.users[user] else { return [] }
      if presence.groups[group] == topic { presence.groups[group] = nil }
      return presence.sessions.map(\.connection)
    }
  }

  /// A topic is closed: notes that the group has the sessions of all its users no longer attached. Of many
  /// it is noted a little later, because the caller's loop must not wait for it.
  func detach(_ group: GroupID, fromAll users: Set<UserID>, by topic: TopicNumber) {
    if users.count <= SessionDirectory.batchSize { return detach(group, from: users, by: topic) }
    queue.async { [self] in
      var remaining = Array(users)[...]
      while !remaining.isEmpty {
        let batch = remaining.prefix(SessionDirectory.batchSize)
        remaining = remaining.dropFirst(batch.count)
        detach(group, from: batch, by: topic)
      }
    }
  }

  private func detach(_ group: GroupID, from users: some Sequence<UserID>, by topic: TopicNumber) {
    state.withLock { state in
      for user in users {
        if let presence = state.users[user], presence.groups[group] == topic { presence.groups[group] = nil }
      }
    }
  }

  /// The sessions of a user.
  func sessions(of user: UserID) -> [SessionEntry] { state.withLock { $0.users[user]?.sessions ?? [] } }

  /// The presence of users in the order given, as far as sessions tell.
  func presences(of users: [UserID]) -> [UserPresence] {
    state.withLock { state in
      let platforms = users.map { state.users[$0]?.platforms ?? [] }
      return statuses?.presences(of: users, on: platforms) ?? platforms.map { UserPresence(platforms: $0) }
    }
  }

  /// Whether a user has a session.
  func isPresent(_ user: UserID) -> Bool { state.withLock { $0.users[user] != nil } }

  /// How many users have a session.
  var userCount: Int { state.withLock { $0.users.count } }

  /// How many sessions there are, those that are signing in included.
  package var sessionCount: Int { state.withLock { $0.sessionCount } }

  /// The users among these that have a session.
  func signedIn(among users: [UserID]) -> [UserID] {
    var found: [UserID] = []
    var remaining = users[...]
    while !remaining.isEmpty {
      let batch = remaining.prefix(SessionDirectory.batchSize)
      remaining = remaining.dropFirst(batch.count)
      found += state.withLock { state in batch.filter { state.users[$0] != nil } }
    }
    return found
  }

  /// The users that have a session.
  func signedInUsers() -> [UserID] { state.withLock { Array($0.users.keys) } }
}
