import Testing

@testable import Cluster

/// All interleavings of three nodes.
@Suite struct LeaseModelTests {
  /// In all of them a node has read whatever was committed before it commits, and no two nodes
  /// answer for a shard at once.
  @Test func noCommitMissesAWriteAndOneNodeAnswersAtATime() {
    let exploration = Exploration(LeaseModel.Bounds())
    #expect(exploration.violation == nil, "\(exploration.counterexample ?? [])")
    // It has been somewhere: fewer states mean that steps can no longer be taken.
    #expect(exploration.stateCount > 400_000, "\(exploration.stateCount) states")
  }

  /// Leases alone: more heartbeats, between any two steps of another node's look.
  @Test func oneNodeAnswersAtATimeWhicheverHeartbeatsAreSeenLate() {
    var bounds = LeaseModel.Bounds()
    (bounds.commits, bounds.heartbeats) = (0, 2)
    let exploration = Exploration(bounds)
    #expect(exploration.violation == nil, "\(exploration.counterexample ?? [])")
    #expect(exploration.stateCount > 500_000, "\(exploration.stateCount) states")
  }

  @Test(arguments: LeaseModel.Fault.allCases.filter { $0 != .none })
  func aBrokenRuleIsFound(_ fault: LeaseModel.Fault) {
    let exploration = Exploration(LeaseModel.Bounds(), fault, maxDepth: 18)
    #expect(exploration.violation != nil)
  }
}
