import GroupModel
import Testing

@testable import GroupRuntime

@Suite struct FollowGateTests {
  private func commit(_ number: Int64) -> Commit {
    Commit(changes: [.putStamp(revision: number, board: 0, in: "g")], generation: CommitGeneration()) { _ in }
  }

  /// The commits that come out of the gate.
  private func changes(_ commits: [Commit]) -> [StoreChange] { commits.flatMap(\.changes) }

  private func changes(_ numbers: ClosedRange<Int64>) -> [StoreChange] {
    numbers.map { .putStamp(revision: $0, board: 0, in: "g") }
  }

  @Test func anOpenGateLetsEverythingPass() {
    var gate = FollowGate()
    let passed = gate.pass(commit(1))
    let opened = gate.open(0)
    #expect(!gate.isClosed && passed?.changes == changes(1...1) && opened.isEmpty)
  }

  @Test func aClosedGateHoldsCommitsInTheirOrder() {
    var gate = FollowGate()
    let number = gate.close()
    let passed = (1...3).map { gate.pass(commit($0)) }
    #expect(passed.allSatisfy { $0 == nil } && gate.isClosed)
    let held = gate.open(number)
    #expect(changes(held) == changes(1...3) && !gate.isClosed)
    let (later, again) = (gate.pass(commit(4)), gate.open(number))
    #expect(later != nil && again.isEmpty)
  }

  @Test func anAnswerToAnEarlierTimeOpensNothing() {
    var gate = FollowGate()
    let first = gate.close()
    gate.drop()
    let second = gate.close()
    _ = gate.pass(commit(1))
    let early = gate.open(first)
    #expect(early.isEmpty && gate.isClosed)
    let held = gate.open(second)
    #expect(changes(held) == changes(1...1))
  }

  @Test func whatIsVoidIsForgotten() {
    var gate = FollowGate()
    let number = gate.close()
    _ = gate.pass(commit(1))
    gate.drop()
    let (held, passed) = (gate.open(number), gate.pass(commit(2)))
    #expect(!gate.isClosed && held.isEmpty && passed != nil)
  }
}
