import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// The profiles in memory: one query for those that are not there, and no old one after a change.
@Suite struct ProfileCacheTests {
  private let store = ProfileGate()
  private let cache: ProfileCache
  private let users = (0..<100).map { UserID("u\($0)")! }
  private let named = UserProfile.make(nickName: "N", faceURL: "")
  private let renamed = UserProfile.make(nickName: "M", faceURL: "")

  init() {
    cache = ProfileCache(store: store)
    for user in users.prefix(50) { store.set(named, of: user) }
  }

  @Test func aPageIsOneQueryAndLaterOnesNone() async throws {
    let wanted = Dictionary(uniqueKeysWithValues: users.prefix(50).map { ($0, named!) })
    #expect(try await cache.profiles(of: users + users) == wanted)
    #expect(store.reads == [users], "each once")
    #expect(try await cache.profiles(of: users) == wanted, "that somebody has none is remembered too")
    #expect(try await cache.profiles(of: users.reversed() + [UserID("new")]) == wanted)
    #expect(store.reads == [users, [UserID("new")]])
    #expect(cache.lookUp(users).missing == [])
  }

  @Test func aChangeIsSeenAtOnce() async throws {
    _ = try await cache.profiles(of: users)
    cache.didChange(renamed, of: users[0])
    cache.didChange(nil, of: users[1])
    #expect(cache.lookUp(users[0...2]).found == [users[0]: renamed!, users[2]: named!])
    #expect(store.reads.count == 1)
  }

  /// A value that the store has read before the change is old.
  @Test(arguments: [true, false]) func aChangeDuringAReadWins(isReadTwice: Bool) async throws {
    store.hold()
    async let first = cache.profiles(of: [users[0], users[1]])
    try await store.arrival(1)
    async let second = cache.profiles(of: [users[0]])
    try await store.arrival(2)
    cache.didChange(renamed, of: users[0])
    if isReadTwice { store.releaseLast() }
    store.release()
    _ = try await (first, second)
    #expect(cache.lookUp([users[0], users[1]]).found == [users[0]: renamed!, users[1]: named!])
  }

  @Test func aChangeOfSomebodyWhoIsNotInMemoryTakesNoRoom() {
    for user in users { cache.didChange(named, of: user) }
    #expect(cache.bytes == 0)
    #expect(cache.lookUp(users).missing == users)
  }

  @Test func aReadThatFailsLeavesNothing() async throws {
    store.fail(with: StoreError(.unavailable, "test"))
    await #expect(throws: StoreError.self) { try await cache.profiles(of: users) }
    #expect(cache.bytes == 0)
    store.fail(with: nil)
    #expect(try await cache.profiles(of: users).count == 50)
    #expect(cache.lookUp(users).missing == [], "the failed read is in nobody's way")
  }

  @Test func memoryIsBoundedAndKeepsWhatIsUsed() async throws {
    let small = ProfileCache(store: store, maxBytes: 20_000)
    let often = users[0]
    for round in 0..<200 {
      let strangers = (0..<5).map { UserID("s\(round)-\($0)")! }
      for user in strangers { store.set(named, of: user) }
      #expect(try await small.profiles(of: strangers + [often]).count == 6)
      #expect(small.bytes <= 21_000)
    }
    #expect(store.reads.joined().count { $0 == often } == 1, "used all the time")
    #expect(store.reads.count == 200)
  }
}
