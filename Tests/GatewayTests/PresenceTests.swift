import GroupModel
import Synchronization
import Testing
import ThrongTestKit

@testable import Gateway

/// The directory reports each change of a user's presence once and in order, and none of users who
/// never completed a sign-in.
@Suite struct PresenceTests {
  /// The reports.
  private final class Told: Sendable {
    let changes = Mutex<[(user: UserID, isOnline: Bool)]>([])

    /// The reports of a user.
    func of(_ user: UserID = "u") -> [Bool] { changes.withLock { $0.filter { $0.user == user }.map(\.isOnline) } }
  }

  private let told: Told
  private let directory: SessionDirectory
  private let made: BareSessions

  init() async throws {
    let told = Told()
    self.told = told
    directory = SessionDirectory { user, _, isOnline in told.changes.withLock { $0.append((user, isOnline)) } }
    made = try await BareSessions(40)
  }

  private func register(_ number: Int, _ platform: Platform = .web) { directory.register(made.entry(number, platform), of: "u") }
  private func complete(_ number: Int, limit: Int = 10) { _ = directory.completeSignIn(of: made[number], by: "u", limit: limit) }
  private func unregister(_ number: Int) { _ = directory.unregister(made[number], of: "u") }

  @Test func theFirstSignInAndTheLastEndAreTold() {
    register(0)
    #expect(told.of() == [], "not before it has signed in")
    complete(0)
    #expect(told.of() == [true])
    register(1)
    complete(1)
    unregister(0)
    #expect(told.of() == [true])
    unregister(1)
    #expect(told.of() == [true, false])
    unregister(1)
    #expect(told.of() == [true, false], "once")
    register(2)
    complete(2)
    #expect(told.of() == [true, false, true])
  }

  @Test func aUserWhoNeverSignedInWasNeverOnline() {
    register(0)
    unregister(0)
    register(1)
    register(2)
    unregister(1)
    unregister(2)
    #expect(told.of() == [])
  }

  @Test func aReplacementIsNoGoing() {
    register(0, .iOS)
    complete(0, limit: 1)
    register(1, .iOS)
    complete(1, limit: 1)
    unregister(0)
    #expect(told.of() == [true])
    unregister(1)
    #expect(told.of() == [true, false])
  }

  @Test func aSessionThatIsReplacedBeforeSigningInReportsNothing() {
    register(0, .iOS)
    register(1, .iOS)
    complete(1, limit: 1)
    complete(0, limit: 1)
    #expect(told.of() == [true])
    unregister(0)
    #expect(told.of() == [true])
  }

  /// The user is here as long as there is any session, once one has signed in.
  @Test func oneThatIsStillSigningInHoldsTheUser() {
    register(0)
    complete(0)
    register(1)
    unregister(0)
    #expect(told.of() == [true])
    unregister(1)
    #expect(told.of() == [true, false])
  }

  // MARK: In any order

  @Test(arguments: 0..<50) func reportsFollowFromTheListedSessions(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let users: [UserID] = ["u", "v", "w"]
    var waiting = Array(0..<made.count)
    var begun: [(number: Int, user: UserID)] = []
    var here: Set<UserID> = []
    for _ in 0..<150 {
      let before = told.changes.withLock { $0.count }
      var expected: [Bool] = []
      var user = users.randomElement(using: &random) ?? "u"
      if Bool.random(using: &random), let number = waiting.popLast() {
        directory.register(made.entry(number, Bool.random(using: &random) ? .iOS : .web), of: user)
        begun.append((number, user))
      } else if let index = begun.indices.randomElement(using: &random) {
        let number = begun[index].number
        user = begun[index].user
        if Bool.random(using: &random) {
          let isSignedIn = directory.completeSignIn(of: made[number], by: user, limit: .random(in: 1...2, using: &random)) != nil
          if isSignedIn, here.insert(user).inserted { expected = [true] }
        } else {
          _ = directory.unregister(made[number], of: user)
          if directory.sessions(of: user).isEmpty, here.remove(user) != nil { expected = [false] }
        }
      }
      let new = told.changes.withLock { Array($0.dropFirst(before)) }
      #expect(new.map(\.isOnline) == expected && new.allSatisfy { $0.user == user })
    }
    for (number, user) in begun { _ = directory.unregister(made[number], of: user) }
    #expect(directory.userCount == 0)
    for user in users {
      let all = told.of(user)
      #expect(all == all.indices.map { $0.isMultiple(of: 2) } && all.count.isMultiple(of: 2), "comes and goes in turn")
    }
  }

  /// The last report of each user is right, also under concurrent calls.
  @Test func theOrderIsThatOfTheChangesAlsoAtOnce() async {
    for _ in 0..<50 {
      await withTaskGroup { tasks in
        for number in 0..<8 {
          tasks.addTask {
            register(number)
            complete(number)
            unregister(number)
          }
        }
      }
      let all = told.of()
      #expect(all == all.indices.map { $0.isMultiple(of: 2) } && all.last == false)
    }
  }
}
