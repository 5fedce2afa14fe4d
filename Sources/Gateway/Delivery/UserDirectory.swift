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

  /// Whether `attachGroups` has somebody to tell. A sign-in asks first: the way to another executor and
  /// back costs it ten thousand instructions.
  func hasGroups(in memberships: [Membership]) -> Bool

  /// Lets the groups of the user, and those of everybody, attach the session.
  func attachGroups(_ presence: Group.Presence, in memberships: [Membership]) async

  /// The session has signed in: it replaces others (Protocol.md, "Sessions per user").
  /// - Returns: false where the session itself was replaced meanwhile.
  func completeSignIn(of session: Session, by user: UserID, limit: Int) -> Bool

  /// The session has ended: the groups of a user without another session hear of it.
  func end(_ session: Session, of user: UserID)

  /// The end of the last session, as a sign-in has read it; nil where the user is not away.
  func absence(of user: UserID, readAs offlineSince: WallInstant?) -> WallInstant?

  /// Ends the sessions of a user where they are known to be (kickUser).
  /// - Returns: how many have ended.
  func endSessions(of user: UserID, _ ending: SessionEnding) async -> Int

  /// Ends the sessions of a user on all nodes, those that are signing in included. A node that does
  /// not answer lets the user's sessions go when it hears this one again.
  /// - Returns: whether all nodes have done it.
  @discardableResult
  func endSessionsEverywhere(of user: UserID, _ ending: SessionEnding) async -> Bool

  /// The sessions of a user, in the order of sign-in.
  func sessions(of user: UserID) async -> [SessionInfo]

  /// A user's texts have changed. Returns when all that is sent shows them.
  /// - Parameter frame: tells the user's sessions, all but one; nil = they are not told.
  func show(_ profile: UserProfile?, of user: UserID, _ frame: [UInt8]?, except session: SessionKey?) async

  /// The presence of users in the order given, as far as sessions tell: of those who have been offline for
  /// longer only the store knows since when.
  func presences(of users: [UserID]) -> [UserPresence]

  /// A user's custom status has changed: the nodes tell those who watch the user.
  func showStatus(_ customStatus: String, of user: UserID)

  /// Whether all nodes know a user as soon as the user has been remembered here: there is nothing for
  /// `makeKnown` to wait for.
  var knowsAtOnce: Bool { get }

  /// Returns when all nodes know a user who has been remembered here.
  /// - Parameter isNew: the store was read, and does not have the user.
  func makeKnown(_ user: UserID, isNew: Bool) async throws(StoreError)

  /// A user is being deleted: no node shows the user's texts any more, or remembers that the user is known.
  /// - Parameter messages: what becomes of the user's texts.
  /// - Returns: whether all nodes have done it.
  func forget(_ user: UserID, _ messages: UserDeletion.MessageFate) async -> Bool
}

/// All users of one node.
package final class LocalUserDirectory: UserDirectory {
  private let directory: SessionDirectory
  private let registry: GroupRegistry
  private let profiles: ProfileCache
  private let absenceTimers: AbsenceTimers
  private let statuses: Statuses
  private let clocks: any Clocks

  /// - Parameter absenceTimers: for members of live rooms that are not in memory.
  package init(
    directory: SessionDirectory, registry: GroupRegistry, profiles: ProfileCache, absenceTimers: AbsenceTimers,
    statuses: Statuses, clocks: any Clocks
  ) {
    self.directory = directory
    self.registry = registry
    self.profiles = profiles
    self.absenceTimers = absenceTimers
    self.statuses = statuses
    self.clocks = clocks
  }

  package var acceptsSignIns: Bool { true }
  package var sessionCount: Int { directory.sessionCount }

  package func isPresent(_ user: UserID) -> Bool { directory.isPresent(user) }

  package func begin(_ entry: SessionEntry, of user: UserID) { directory.register(entry, of: user) }

  package func hasGroups(in memberships: [Membership]) -> Bool { registry.hasGroups(in: memberships) }

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

  package func endSessions(of user: UserID, _ ending: SessionEnding) async -> Int {
    await directory.endSessions(of: user, ending)
  }

  @discardableResult
  package func endSessionsEverywhere(of user: UserID, _ ending: SessionEnding) async -> Bool {
    _ = await directory.endSessions(of: user, ending)
    return true
  }

  package func sessions(of user: UserID) async -> [SessionInfo] { directory.infos(of: user) }

  package func presences(of users: [UserID]) -> [UserPresence] { directory.presences(of: users) }

  package func showStatus(_ customStatus: String, of user: UserID) { statuses.statusChanged(of: user, to: customStatus) }

  package var knowsAtOnce: Bool { true }

  package func makeKnown(_ user: UserID, isNew: Bool) async throws(StoreError) {}

  package func forget(_ user: UserID, _: UserDeletion.MessageFate) async -> Bool {
    await show(nil, of: user, nil, except: nil)
    return true
  }

  package func show(_ profile: UserProfile?, of user: UserID, _ frame: [UInt8]?, except session: SessionKey?) async {
    profiles.didChange(profile, of: user)
    await directory.show(profile, of: user, frame, except: session)
  }
}

/// Work on the sessions of a user on this node.
extension SessionDirectory {
  func endSessions(of user: UserID, _ ending: SessionEnding) async -> Int {
    var ended = 0
    for entry in sessions(of: user) where await entry.session.end(ending) { ended += 1 }
    return ended
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
