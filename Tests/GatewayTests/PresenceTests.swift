import GroupModel
import Synchronization
import Testing
import ThrongTestKit

@testable import Gateway

/// What the directory tells of users' coming and going: each once, in order, and nothing of those who never came in.
@Suite struct PresenceTests {
  /// What was told.
  private final class Told: Sendable {
    let changes = Mutex<[(user: UserID, isHere: Bool)]>([])

    /// What was told of a user so far.
    func of(_ user: UserID = "u") -> [Bool] { changes.withLock { $0.filter { $0.user == user }.map(\.isHere) } }
  }

  private let told: Told
  private let directory: SessionDirectory
  private let made: BareSessions

  init() async throws {
    let told = Told()
    self.told = told
    directory = SessionDirectory { user, isHere in told.changes.withLock { $0.append((user, isHere)) } }
    made = try await BareSessions(40)
  }

  private func register(_ number: Int, _ platform: Platform = .web) { directory.register(made.entry(number, platform), of: "u") }
  private func settle(_ number: Int, limit: Int = 10) { _ = directory.settle(made[number], of: "u", limit: limit) }
  private func unregister(_ number: Int) { _ = directory.unregister(made[number], of: "u") }

  @Test func theFirstSignInAndTheLastEndAreTold() {
    register(0)
    #expect(told.of() == [], "not before it has signed in")
    settle(0)
    #expect(told.of() == [true])
    register(1)
    settle(1)
    unregister(0)
    #expect(told.of() == [true])
    unregister(1)
    #expect(told.of() == [true, false])
    unregister(1)
    #expect(told.of() == [true, false], "once")
    register(2)
    settle(2)
    #expect(told.of() == [true, false, true])
  }

  @Test func whoNeverSignedInWasNeverHere() {
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
    settle(0, limit: 1)
    register(1, .iOS)
    settle(1, limit: 1)
    unregister(0)
    #expect(told.of() == [true])
    unregister(1)
    #expect(told.of() == [true, false])
  }

  @Test func whoIsReplacedBeforeSigningInTellsNothing() {
    register(0, .iOS)
    register(1, .iOS)
    settle(1, limit: 1)
    settle(0, limit: 1)
    #expect(told.of() == [true])
    unregister(0)
    #expect(told.of() == [true])
  }

  /// The user is here as long as there is any session, once one has signed in.
  @Test func oneThatIsStillSigningInHoldsTheUser() {
    register(0)
    settle(0)
    register(1)
    unregister(0)
    #expect(told.of() == [true])
    unregister(1)
    #expect(told.of() == [true, false])
  }

  // MARK: In any order

  @Test(arguments: 0..<50) func whatIsToldFollowsFromWhoIsListed(seed: UInt64) {
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
          let settled = directory.settle(made[number], of: user, limit: .random(in: 1...2, using: &random)) != nil
          if settled, here.insert(user).inserted { expected = [true] }
        } else {
          _ = directory.unregister(made[number], of: user)
          if directory.sessions(of: user).isEmpty, here.remove(user) != nil { expected = [false] }
        }
      }
      let new = told.changes.withLock { Array($0.dropFirst(before)) }
      #expect(new.map(\.isHere) == expected && new.allSatisfy { $0.user == user })
    }
    for (number, user) in begun { _ = directory.unregister(made[number], of: user) }
    #expect(directory.userCount == 0)
    for user in users {
      let all = told.of(user)
      #expect(all == all.indices.map { $0.isMultiple(of: 2) } && all.count.isMultiple(of: 2), "comes and goes in turn")
    }
  }

  /// Whoever reads what was told in its order knows who is here, also where the calls come at once.
  @Test func theOrderIsThatOfTheChangesAlsoAtOnce() async {
    for _ in 0..<50 {
      await withTaskGroup { tasks in
        for number in 0..<8 {
          tasks.addTask {
            register(number)
            settle(number)
            unregister(number)
          }
        }
      }
      let all = told.of()
      #expect(all == all.indices.map { $0.isMultiple(of: 2) } && all.last == false)
    }
  }
}
