import GroupModel
import GroupRuntime

/// The way of a session to its user's other sessions and groups, and back.
package final class SessionRegistration: Sendable {
  let sessions: any UserDirectory
  private let groups: any GroupStore
  private let users: any UserStore
  private let access: any AccessStore
  private let profiles: ProfileCache
  private let quotas: GroupQuotas
  private let clocks: any Clocks
  private let observer: StoreObserver
  /// `avChatRoom.offlineGrace`.
  private let grace: Duration

  /// - Parameter grace: `avChatRoom.offlineGrace`.
  package init(
    sessions: any UserDirectory, groups: any GroupStore, users: any UserStore, access: any AccessStore, profiles: ProfileCache,
    quotas: GroupQuotas, clocks: any Clocks, observer: StoreObserver, grace: Duration
  ) {
    self.sessions = sessions
    self.groups = groups
    self.users = users
    self.access = access
    self.profiles = profiles
    self.quotas = quotas
    self.clocks = clocks
    self.observer = observer
    self.grace = grace
  }

  /// A session begins to sign in: groups that its user joins from now on find it, and so does
  /// whatever ends the user's sessions.
  func begin(_ entry: SessionEntry, of user: UserID) { sessions.begin(entry, of: user) }

  /// The user may sign in, and is known from now on. A sign-in that is refused makes nobody known.
  func admit(_ user: UserID) { users.remember([user]) }

  /// Whether all nodes know a user who was admitted, and `makeKnown` has nothing to wait for.
  func knowsAtOnce(_ record: SignInRecord) -> Bool {
    (sessions.knowsAtOnce || record.isKnown) && !record.hasDeletion
  }

  /// Returns when all nodes know a user who was admitted, as a new one where the former was deleted.
  /// - Returns: false = the store has failed.
  func makeKnown(_ user: UserID, _ record: SignInRecord) async -> Bool {
    do throws(StoreError) {
      // The deletion is told of no more.
      if record.hasDeletion { try await groups.commit([.forgetDeletion(user)]) }
      // A row of one who was deleted may be going.
      try await sessions.makeKnown(user, isNew: true)
      return true
    } catch {
      observer.storeFailed(error)
      return false
    }
  }

  /// What the application has decided about the user's sign-ins; nil = the store has failed.
  func access(of user: UserID) async -> UserAccess? {
    do throws(StoreError) {
      return try await access.access(of: user)
    } catch {
      observer.storeFailed(error)
      return nil
    }
  }

  /// Reads the stored data of a user who signs in, whose profile and number of groups memory keeps
  /// from then on.
  /// - Parameter completion: gets nil where the store has failed; any thread.
  func read(_ user: UserID, _ completion: @escaping @Sendable (SignInRecord?) -> Void) {
    quotas.startCounting(user)
    let reading = profiles.begin([user])
    groups.readSignInRecord(of: user) { [profiles, observer] result in
      switch result {
      case .success(let record):
        profiles.end(reading, record.profile.map { [user: $0] } ?? [:])
        completion(record)
      case .failure(let error):
        profiles.cancel(reading)
        observer.storeFailed(error)
        completion(nil)
      }
    }
  }

  /// Counts the groups that were read of a user.
  /// - Returns: what these groups are told.
  func presence(of user: UserID, _ record: SignInRecord) -> Group.Presence {
    quotas.record(user, groups: record.memberships.count { $0.type.isListed })
    // Only live rooms end the membership of an offline user.
    let isInRooms = record.memberships.contains { $0.type == .avChatRoom }
    let offlineSince = sessions.absence(of: user, readAs: isInRooms ? record.offlineSince : nil)
    return Group.Presence(of: user, awaySince: offlineSince.flatMap { clocks.wall - $0 > grace ? $0 : nil })
  }

  /// The session has ended, or its user has logged out.
  func end(_ session: Session, of user: UserID) {
    sessions.end(session, of: user)
    forgetIfAbsent(user)
  }

  /// Drops the counts that are kept while a user has sessions. A sign-in at the same time counts
  /// again.
  func forgetIfAbsent(_ user: UserID) {
    if !sessions.isPresent(user) { quotas.forget(user) }
  }
}
