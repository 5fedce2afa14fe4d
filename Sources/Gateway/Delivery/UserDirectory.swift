import GroupModel
import GroupRuntime
import WireProtocol

/// The sessions of users, wherever they are: on this node, or on several (Cluster.md, "Users").
package protocol UserDirectory: Sendable {
  /// Whether users may sign in. Not before this node hears of the groups of all others.
  var acceptsSignIns: Bool { get }
  /// Sessions on all nodes.
  var sessionCount: Int { get }

  /// Whether the user has a session.
  func isPresent(_ user: UserID) -> Bool

  /// A session begins to sign in: groups that its user joins from now on find it.
  func begin(_ entry: SessionEntry, of user: UserID)

  /// Lets the groups of the user, and those of everybody, attach the session.
  func attachGroups(_ presence: Group.Presence, in memberships: [Membership]) async

  /// The session has signed in: it replaces others (Protocol.md, "Sessions per user").
  /// - Returns: false where the session itself was replaced meanwhile.
  func completeSignIn(of session: Session, by user: UserID, limit: Int) -> Bool

  /// The session has ended: the groups of a user without another session hear of it.
  func end(_ session: Session, of user: UserID)

  /// The end of the last session, as a sign-in has read it; nil where the user is not away.
  func absence(of user: UserID, readAs offlineSince: WallInstant?) -> WallInstant?

  /// Ends the sessions of a user (kickUser).
  /// - Returns: how many were open.
  func kick(_ user: UserID, message: String?) async -> Int

  /// The sessions of a user, in the order of sign-in.
  func sessions(of user: UserID) async -> [SessionInfo]

  /// A user's texts have changed. Returns when all that is sent shows them.
  /// - Parameter frame: tells the user's sessions, all but one; nil = they are not told.
  func show(_ profile: UserProfile?, of user: UserID, _ frame: [UInt8]?, except session: SessionKey?) async

  /// Returns when all nodes know a user who has been remembered here.
  func makeKnown(_ user: UserID) async throws(StoreError)
}

/// All users of one node.
package final class LocalUserDirectory: UserDirectory {
  private let directory: SessionDirectory
  private let registry: GroupRegistry
  private let profiles: ProfileCache
  private let absenceTimers: AbsenceTimers
  private let clocks: any Clocks

  /// - Parameter absenceTimers: for members of live rooms that are not in memory.
  package init(
    directory: SessionDirectory, registry: GroupRegistry, profiles: ProfileCache, absenceTimers: AbsenceTimers,
    clocks: any Clocks
  ) {
    self.directory = directory
    self.registry = registry
    self.profiles = profiles
    self.absenceTimers = absenceTimers
    self.clocks = clocks
  }

  package var acceptsSignIns: Bool { true }
  package var sessionCount: Int { directory.sessionCount }

  package func isPresent(_ user: UserID) -> Bool { directory.isPresent(user) }

  package func begin(_ entry: SessionEntry, of user: UserID) { directory.register(entry, of: user) }

  package func attachGroups(_ presence: Group.Presence, in memberships: [Membership]) async {
    await registry.presenceChanged(presence, in: memberships)
  }

  package func completeSignIn(of session: Session, by user: UserID, limit: Int) -> Bool {
    guard let replaced = directory.completeSignIn(of: session, by: user, limit: limit) else { return false }
    for session in replaced { session.replace() }
    absenceTimers.cancel(for: user)
    return true
  }

  package func end(_ session: Session, of user: UserID) {
    let end = directory.unregister(session, of: user)
    var concernsSuspendedRooms = end.concernsSuspendedRooms
    for group in end.groups {
      // A group that is being removed from memory cannot be notified.
      guard let group = registry.resident(group) else {
        concernsSuspendedRooms = true
        continue
      }
      group.enqueue(.presence(Group.Presence(of: user)) {})
    }
    if concernsSuspendedRooms { absenceTimers.start(for: user, since: clocks.wall, at: clocks.monotonic) }
  }

  package func absence(of _: UserID, readAs offlineSince: WallInstant?) -> WallInstant? { offlineSince }

  package func kick(_ user: UserID, message: String?) async -> Int { await directory.kick(user, message: message) }

  package func sessions(of user: UserID) async -> [SessionInfo] { directory.infos(of: user) }

  package func makeKnown(_ user: UserID) async throws(StoreError) {}

  package func show(_ profile: UserProfile?, of user: UserID, _ frame: [UInt8]?, except session: SessionKey?) async {
    profiles.didChange(profile, of: user)
    await directory.show(profile, of: user, frame, except: session)
  }
}

/// Work on the sessions of a user on this node.
extension SessionDirectory {
  func kick(_ user: UserID, message: String?) async -> Int {
    var kicked = 0
    for entry in sessions(of: user) where await entry.session.remove(message: message) { kicked += 1 }
    return kicked
  }

  func infos(of user: UserID) -> [SessionInfo] {
    sessions(of: user).map { session in
      SessionInfo(
        sessionID: session.sessionID, platform: session.platform, deviceID: session.deviceID, address: session.address,
        loginTime: session.loginTime)
    }
  }

  func show(_ profile: UserProfile?, of user: UserID, _ frame: [UInt8]?, except session: SessionKey?) async {
    for entry in sessions(of: user) {
      await entry.session.userInfoChanged(to: profile, entry.session.key == session ? nil : frame)
    }
  }
}
