import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// Ends of mutes and bans that are corrected after the clock was set are stored, so that no later
/// loading starts them again.
@Suite(.timeLimit(.minutes(10))) struct ClockCorrectionTests {
  private static let hour: Int64 = 3_600_000
  private static let jump: Int64 = 3 * 24 * hour

  private let gate: ReadGate
  private let scene: ActorScene

  init() {
    let store = InMemoryStore()
    gate = ReadGate(store)
    scene = ActorScene(store: store, groups: gate)
  }

  private static let muteMary = ("muteGroupMember", #"{"userID":"mary","muteTime":3600}"#)
  private static let muteGroup = ("muteGroup", #"{"mode":"Ordinary","duration":3600}"#)
  private static let banMary = ("kickGroupMember", #"{"userIDList":["mary"],"banTime":3600}"#)
  private static let hello = ("sendGroupTextMessage", #"{"text":"x"}"#)
  private static let rename = ("setGroupInfo", #"{"groupName":"m"}"#)

  private func ask(_ request: (method: String, params: String), by name: String) async throws -> Int {
    try await scene.ask(request.method, request.params, by: name).code
  }

  private func begin(_ request: (method: String, params: String), by name: String) throws -> Pending {
    try scene.begin(request.method, request.params, by: name)
  }

  /// Decides a request for an hour by a clock three days ahead, and sets the clock right.
  private func decideInJump(_ request: (method: String, params: String) = muteMary) async throws {
    try await scene.makeGroup()
    scene.clocks.advance(by: Self.jump)
    #expect(try await ask(request, by: "olga") == 0)
    scene.clocks.moveWall(by: -Self.jump)
  }

  /// Removes the group from memory.
  private func retire() throws {
    scene.registry.retireGroups(unusedFor: .zero)
    scene.settle()
    try #require(scene.registry.residentCount == 0)
  }

  private func read() async throws { #expect(try await ask(("info", "{}"), by: "olga") == 0) }

  private func storedEnd() async throws -> WallInstant? {
    try #require(try await scene.store.group("g", sentSince: 0, at: scene.clocks.wall, mostFormer: .max)).members.first {
      $0.userID == "mary"
    }?.muteUntil
  }

  private func failStore() { scene.store.fail(with: StoreError(.unavailable, "disk full")) }

  private func waitForCommit() async throws { try await scene.wait { scene.store.pendingCount > 0 } }

  private func waitForFailure() async throws { try await scene.wait { !scene.observer.failures.isEmpty } }

  @Test(arguments: [(muteMary, hello), (muteGroup, hello), (banMary, ("joinGroup", "{}"))])
  func aGroupThatIsOnlyReadProlongsNothing(
    decided: (method: String, params: String), refused: (method: String, params: String)
  ) async throws {
    try await decideInJump(decided)
    try retire()
    for _ in 0..<3 {
      // The second question is answered behind the correction.
      for _ in 0..<2 { try await read() }
      let group = scene.registry.group("g")
      group.executor.perform { group.assumeIsolated { $0.retireIfOnlyRead() } }
      scene.settle()
      #expect(scene.registry.residentCount == 0, "a correction is no use of the group")
      scene.clocks.advance(by: Self.hour / 3)
    }
    #expect(try await ask(refused, by: "mary") == 0)
  }

  @Test func itLastsAsLongAsWasAskedFor() async throws {
    try await decideInJump()
    try retire()
    for _ in 0..<2 { try await read() }
    try retire()
    scene.clocks.advance(by: Self.hour - 1)
    #expect(try await ask(Self.hello, by: "mary") == 10017)
    scene.clocks.advance(by: 1)
    #expect(try await ask(Self.hello, by: "mary") == 0)
  }

  @Test func aGroupThatStaysInMemoryStoresThemToo() async throws {
    try await decideInJump()
    for _ in 0..<2 { try await read() }
    #expect(try await storedEnd() == scene.clocks.wall + Self.hour)
    #expect(gate.reads == 1)
  }

  @Test func theFirstQuestionDoesNotWaitForTheStore() async throws {
    try await decideInJump()
    try retire()
    scene.store.hold()
    try await read()
    scene.settle()
    #expect(scene.store.pendingCount == 1)
    scene.store.release()
    try await read()
    #expect(try await storedEnd() == scene.clocks.wall + Self.hour)
  }

  @Test func aDecisionTakesThemAlong() async throws {
    try await decideInJump()
    try retire()
    scene.store.hold()
    let renamed = try begin(Self.rename, by: "olga")
    try await waitForCommit()
    #expect(scene.store.pendingCount == 1)
    scene.store.release()
    #expect(try await renamed.answer().code == 0)
    #expect(try await storedEnd() == scene.clocks.wall + Self.hour)
  }

  @Test func aGroupThatGoesNeedsNone() async throws {
    try await decideInJump()
    try retire()
    scene.store.hold()
    let dismissed = try begin(("dismissGroup", "{}"), by: "olga")
    try await waitForCommit()
    #expect(scene.store.pendingCount == 1)
    scene.store.release()
    #expect(try await dismissed.answer().code == 0)
    #expect(try await ask(("info", "{}"), by: "olga") == 10010)
  }

  @Test func withoutAnythingToCorrectNothingIsStored() async throws {
    try await scene.makeGroup()
    #expect(try await ask(Self.muteMary, by: "olga") == 0)
    try retire()
    scene.store.hold()
    try await read()
    scene.settle()
    #expect(scene.store.pendingCount == 0)
  }

  // MARK: A store that refuses them

  @Test func theGroupGoesOnAndTheNextDecisionTriesAgain() async throws {
    try await decideInJump()
    try retire()
    let end = scene.clocks.wall + Self.hour
    failStore()
    try await read()
    try await waitForFailure()
    try await read()
    #expect(scene.observer.failures.map(\.group) == ["g"])
    #expect(gate.reads == 2, "it need not be loaded again")
    #expect(try await ask(Self.hello, by: "mary") == 10017)
    scene.store.fail(with: nil)
    scene.clocks.advance(by: 10)
    #expect(try await ask(Self.rename, by: "olga") == 0)
    #expect(try await storedEnd() == end)
    #expect(gate.reads == 2)
  }

  @Test func aRequestAfterTheBackoffTriesAgain() async throws {
    try await decideInJump()
    try retire()
    let end = scene.clocks.wall + Self.hour
    failStore()
    try await read()
    try await waitForFailure()
    scene.store.fail(with: nil)
    scene.store.hold()
    scene.clocks.advance(for: Group.backoffTime - .milliseconds(1))
    try await read()
    scene.settle()
    #expect(scene.store.pendingCount == 0)
    scene.clocks.advance(by: 1)
    try await read()
    scene.settle()
    #expect(scene.store.pendingCount == 1)
    scene.store.release()
    try await read()
    #expect(try await storedEnd() == end)
  }

  @Test func questionsThatWaitedForThemAreAnswered() async throws {
    try await decideInJump()
    try retire()
    scene.store.hold()
    try await read()
    scene.settle()
    let questions = try (0..<3).map { _ in try begin(("info", "{}"), by: "mary") }
    scene.settle()
    #expect(questions.allSatisfy { !$0.isAnswered })
    failStore()
    scene.store.release()
    for question in questions { #expect(try await question.answer().code == 0) }
    #expect(gate.reads == 2)
  }

  @Test func changesDecidedBehindThemFailAndTheGroupIsReloaded() async throws {
    try await decideInJump()
    try retire()
    scene.store.hold()
    try await read()
    scene.settle()
    let before = try begin(("info", "{}"), by: "mary")
    let renamed = try begin(Self.rename, by: "olga")
    let after = try begin(("info", "{}"), by: "mary")
    scene.settle()
    failStore()
    scene.store.release()
    #expect(try await before.answer().result["groupName"] == "n")
    #expect(try await renamed.answer().code == 10002)
    #expect(try await after.answer().code == 10002)
    scene.store.fail(with: nil)
    #expect(try await scene.ask("info", by: "mary").result["groupName"] == "n")
    #expect(gate.reads == 3)
    #expect(try await ask(Self.rename, by: "olga") == 0)
    #expect(try await storedEnd() == scene.clocks.wall + Self.hour)
  }

  @Test func aDecisionThatTookThemAlongAndFailedLosesNone() async throws {
    try await decideInJump()
    try retire()
    failStore()
    #expect(try await ask(Self.rename, by: "olga") == 10002)
    scene.store.fail(with: nil)
    #expect(try await ask(Self.rename, by: "olga") == 0)
    #expect(try await storedEnd() == scene.clocks.wall + Self.hour)
  }
}
