import GroupModel

/// Remembers which users have ever been seen (`users.requireKnown`, getStats), and when they were last here.
public protocol UserStore: Sendable {
  /// Makes users known. Durable soon, not at once: knowing a user again is harmless.
  func remember(_ users: [UserID])

  /// Those of the users that are known.
  func known(among users: [UserID]) async throws(StoreError) -> Set<UserID>

  /// How many users are known.
  func knownCount() async throws(StoreError) -> Int

  /// The user's first session has begun, or the last has ended. Makes the user known. Taken in the order of the calls, never blocks on
  /// the disk, durable soon. Who was here when the process died counts as gone from about that moment on.
  /// - Parameter offlineSince: nil = here now.
  func notePresence(of user: UserID, offlineSince: Instant?)

  /// When the user's last session ended; nil where there is one, or never was.
  func offlineSince(of user: UserID) async throws(StoreError) -> Instant?
}
