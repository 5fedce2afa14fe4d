import GroupModel
import GroupRuntime

/// The users of a scene, for the reader of answers.
struct StoredProfiles: UserStore {
  let profiles: [UserID: UserProfile]

  func profiles(of users: [UserID]) async throws(StoreError) -> [UserID: UserProfile] {
    profiles.filter { users.contains($0.key) }
  }

  func remember(_ users: [UserID]) {}
  func known(among users: [UserID]) async throws(StoreError) -> Set<UserID> { Set(users) }
  func infos(of users: [UserID]) async throws(StoreError) -> [UserInfo] { [] }
  func statuses(of users: [UserID]) async throws(StoreError) -> [StoredStatus] { [] }
  func knownCount() async throws(StoreError) -> Int { 0 }
  func notePresence(of user: UserID, offlineSince: WallInstant?) {}
  func offlineSince(of user: UserID) async throws(StoreError) -> WallInstant? { nil }
}
