import GroupModel
import Synchronization

/// The profiles of the users that groups have shown lately, empty ones included. A change is here
/// before its request is answered. Bounded by bytes: a lately used half, and an older half that is
/// forgotten when the first is full.
public final class ProfileCache: Sendable {
  /// Room for about 100,000 users with short texts.
  public static let standardMaxBytes = 16 << 20

  private struct Entry {
    let profile: UserProfile?
  }

  private struct Half {
    var entries: [UserID: Entry] = [:]
    var bytes = 0

    mutating func put(_ entry: Entry, of user: UserID) {
      let former = entries.updateValue(entry, forKey: user)
      bytes += Half.bytes(of: entry, user) - (former.map { Half.bytes(of: $0, user) } ?? 0)
    }

    mutating func remove(_ user: UserID) {
      guard let entry = entries.removeValue(forKey: user) else { return }
      bytes -= Half.bytes(of: entry, user)
    }

    /// With the places in the dictionary, and the objects of the texts.
    private static func bytes(of entry: Entry, _ user: UserID) -> Int {
      let texts = entry.profile.map { 128 + $0.nickName.utf8.count + $0.faceURL.utf8.count } ?? 0
      return 96 + user.rawValue.utf8.count + texts
    }
  }

  private struct State {
    var recent = Half()
    var older = Half()
    /// The reading that may bring a user's profile: a change since has removed it.
    var readings: [UserID: UInt64] = [:]
    var lastReading: UInt64 = 0
    /// The results of this reading, and of earlier ones, are not kept.
    var lastForgotten: UInt64 = 0
  }

  /// A look into the store that has begun.
  public struct Reading: Sendable {
    fileprivate let number: UInt64
    fileprivate let users: [UserID]
  }

  private let store: any UserStore
  private let maxBytes: Int
  private let state = Mutex(State())

  /// An empty cache.
  /// - Parameters:
  ///   - store: has the profiles that the cache has not.
  ///   - maxBytes: of all that is kept, about.
  public init(store: any UserStore, maxBytes: Int = ProfileCache.standardMaxBytes) {
    self.store = store
    self.maxBytes = maxBytes
  }

  /// How many users are kept, and being read. One that is in both halves counts twice.
  public var count: Int { state.withLock { $0.recent.entries.count + $0.older.entries.count + $0.readings.count } }

  /// About the bytes that are kept.
  public var bytes: Int { state.withLock { $0.recent.bytes + $0.older.bytes } }

  // MARK: Looking up

  /// The profiles in memory, without empty ones.
  /// - Returns: also the users, each once, whose profiles are to be read.
  public func lookUp(_ users: some Sequence<UserID>) -> (found: [UserID: UserProfile], missing: [UserID]) {
    state.withLock { state in
      var found: [UserID: UserProfile] = [:]
      var missing: [UserID] = []
      var seen: Set<UserID> = []
      for user in users {
        if let entry = entry(of: user, in: &state) {
          if let profile = entry.profile { found[user] = profile }
        } else if seen.insert(user).inserted {
          missing.append(user)
        }
      }
      return (found, missing)
    }
  }

  /// The profiles of users, without empty ones. One query reads those that memory has not.
  public func profiles(of users: some Sequence<UserID>) async throws(StoreError) -> [UserID: UserProfile] {
    let (found, missing) = lookUp(users)
    if missing.isEmpty { return found }
    let reading = begin(missing)
    do throws(StoreError) {
      let read = try await store.profiles(of: missing)
      return found.merging(end(reading, read)) { $1 }
    } catch {
      cancel(reading)
      throw error
    }
  }

  // MARK: Reading

  /// Begins a look into the store, outside of which the profiles may change.
  public func begin(_ users: [UserID]) -> Reading {
    state.withLock { state in
      state.lastReading += 1
      for user in users where state.readings[user] == nil { state.readings[user] = state.lastReading }
      return Reading(number: state.lastReading, users: users)
    }
  }

  /// Keeps what was read, unless it has changed since.
  /// - Returns: the profiles now, without empty ones.
  @discardableResult
  public func end(_ reading: Reading, _ read: [UserID: UserProfile]) -> [UserID: UserProfile] {
    state.withLock { state in
      var profiles: [UserID: UserProfile] = [:]
      for user in reading.users {
        let profile = end(reading, of: user, read[user], in: &state)
        if let profile { profiles[user] = profile }
      }
      return profiles
    }
  }

  /// Keeps the profile of a user that was read, unless it has changed since.
  /// - Returns: the profile now.
  private func end(_ reading: Reading, of user: UserID, _ read: UserProfile?, in state: inout State) -> UserProfile? {
    if state.readings[user] == reading.number {
      state.readings[user] = nil
      guard reading.number <= state.lastForgotten else {
        put(Entry(profile: read), of: user, in: &state)
        return read
      }
    }
    return if let entry = entry(of: user, in: &state) { entry.profile } else { read }
  }

  /// The look has failed.
  public func cancel(_ reading: Reading) {
    state.withLock { state in
      for user in reading.users where state.readings[user] == reading.number { state.readings[user] = nil }
    }
  }

  // MARK: Changing

  /// Forgets all profiles, those that are being read, too: changes of them may have gone unnoticed.
  public func removeAll() {
    state.withLock { state in
      state.recent = Half()
      state.older = Half()
      // They stay: a change that is told meanwhile is kept for them.
      state.lastForgotten = state.lastReading
    }
  }

  /// A user's profile has changed, durably. One that is not in memory, nor being read, stays in the
  /// store alone: an import would fill memory otherwise.
  public func didChange(_ profile: UserProfile?, of user: UserID) {
    state.withLock { state in
      let isRead = state.readings.removeValue(forKey: user) != nil
      guard isRead || entry(of: user, in: &state) != nil else { return }
      put(Entry(profile: profile), of: user, in: &state)
    }
  }

  private func entry(of user: UserID, in state: inout State) -> Entry? {
    if let entry = state.recent.entries[user] { return entry }
    guard let entry = state.older.entries[user] else { return nil }
    put(entry, of: user, in: &state)
    return entry
  }

  private func put(_ entry: Entry, of user: UserID, in state: inout State) {
    if !state.older.entries.isEmpty { state.older.remove(user) }
    state.recent.put(entry, of: user)
    guard state.recent.bytes > maxBytes / 2 else { return }
    state.older = state.recent
    state.recent = Half()
  }
}
