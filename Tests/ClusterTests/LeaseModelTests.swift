import Testing

@testable import Cluster

@Suite("All interleavings of three nodes")
struct LeaseModelTests {
  /// In all of them a node has read whatever was committed before it commits, and no two nodes
  /// answer for a shard at once.
  @Test func `no commit misses a write, and one node answers at a time`() {
    let exploration = Exploration(LeaseModel.Bounds())
    #expect(exploration.violation == nil, "\(exploration.counterexample ?? [])")
    // It has been somewhere: fewer states mean that steps can no longer be taken.
    #expect(exploration.stateCount > 300_000, "\(exploration.stateCount) states")
  }

  @Test(arguments: LeaseModel.Fault.allCases.filter { $0 != .none })
  func `a broken rule is found`(_ fault: LeaseModel.Fault) {
    let exploration = Exploration(LeaseModel.Bounds(), fault, maxDepth: 18)
    #expect(exploration.violation != nil)
  }
}
