import GroupModel
import Testing
import ThrongTestKit

@testable import Cluster

/// A node's view of its lease.
@Suite struct NodeLeaseTests {
  private let shard = Shard(7)!
  private let node = NodeNumber(3)
  private func at(_ milliseconds: Int64) -> MonotonicInstant { MonotonicInstant(nanoseconds: milliseconds * 1_000_000) }

  private func lease() -> NodeLease {
    var lease = NodeLease(node, joinSentAt: at(1000), duration: .seconds(3))
    lease.didClaim([shard: 5])
    return lease
  }

  @Test func aNodeAnswersUntilASixthBeforeTheEndOfItsLease() {
    var lease = lease()
    #expect(lease.term(of: shard, at: at(3499)) == 5)
    #expect(lease.term(of: shard, at: at(3500)) == nil)
    #expect(lease.pauseInstant == at(3500))
    // The lease begins when the heartbeat was sent, however late the answer comes.
    lease.didRenew(sentAt: at(2000))
    #expect(lease.term(of: shard, at: at(4499)) == 5)
    #expect(lease.term(of: shard, at: at(4500)) == nil)
    lease.didRenew(sentAt: at(1500))
    #expect(lease.pauseInstant == at(4500))
  }

  @Test func aPausedNodeCommitsWhatItHasDecidedIfTheDatabaseLetsIt() {
    var lease = lease()
    #expect(lease.term(of: shard, at: at(9000)) == nil)
    expect(lease.beginCommit(under: shard, term: 5), true)
  }

  @Test func aNodeThatWasRemovedHasNothing() {
    var lease = lease()
    lease.didLose()
    lease.didRenew(sentAt: at(2000))
    lease.didClaim([shard: 6])
    #expect(lease.isLost && lease.ownShards.isEmpty)
    #expect(lease.term(of: shard, at: at(1001)) == nil)
    expect(lease.beginCommit(under: shard, term: 5), false)
  }

  @Test func aShardIsGivenBackBehindItsLastCommit() {
    var lease = lease()
    expect(lease.beginCommit(under: shard, term: 5), true)
    expect(lease.beginCommit(under: shard, term: 5), true)
    expect(lease.drain(), [])
    #expect(lease.isDraining)
    #expect(lease.term(of: shard, at: at(1001)) == nil)
    expect(lease.beginCommit(under: shard, term: 5), false)
    expect(lease.endCommit(under: shard, term: 5), nil)
    #expect(lease.ownShards == [shard])
    expect(lease.endCommit(under: shard, term: 5), shard)
    lease.didRelease(shard)
    #expect(lease.ownShards.isEmpty)
  }

  @Test func aCommitOfAnEarlierTermDoesNotCount() {
    var lease = lease()
    expect(lease.beginCommit(under: shard, term: 5), true)
    lease.didRelease(shard)
    lease.didClaim([shard: 7])
    expect(lease.beginCommit(under: shard, term: 5), false)
    expect(lease.endCommit(under: shard, term: 5), nil)
    expect(lease.beginRelease(of: shard), true)
  }
}

/// A node's watch over the others.
@Suite struct LeaseWatchTests {
  private let first = NodeNumber(1)
  private let second = NodeNumber(2)
  private let old = LifeSign("old")
  private let new = LifeSign("new")

  @Test func aNodeHasGoneWhoseSignStaysTheSameForTheTimeOfALease() {
    var watch = LeaseWatch(duration: .seconds(3))
    watch.note([first: old, second: old], receivedAt: 1_000)
    watch.note([first: new, second: old], receivedAt: 3_999)
    #expect(watch.silentNodes(at: 3_999).isEmpty)
    #expect(watch.silentNodes(at: 4_000) == [second: old])
    watch.note([first: new, second: old], receivedAt: 6_998)
    #expect(watch.silentNodes(at: 6_998) == [second: old])
    #expect(watch.silentNodes(at: 6_999) == [first: new, second: old])
    #expect(watch.changes(of: first) == 1 && watch.changes(of: second) == 0)
  }

  @Test func aNodeThatLeftIsForgotten() {
    var watch = LeaseWatch(duration: .seconds(3))
    watch.note([first: old], receivedAt: 0)
    watch.note([:], receivedAt: 2_000)
    #expect(watch.silentNodes(at: 9_000).isEmpty)
    watch.note([first: old], receivedAt: 9_000)
    #expect(watch.silentNodes(at: 9_000).isEmpty)
  }
}

/// The table of leases.
@Suite struct LeaseTableTests {
  private let shard = Shard(7)!

  @Test func aNodeIsRemovedUnlessItHasShownLifeSince() throws {
    var table = LeaseTable()
    let (first, second) = (table.join(), table.join())
    #expect(first != second && table.nodeNumbers == [first, second])
    let seen = try [#require(table.sign(of: first)), #require(table.sign(of: second))]
    expect(table.renew(first), true)
    expect(table.expire(first, after: seen[0]), .isAlive)
    expect(table.expire(second, after: seen[1]), .gone)
    expect(table.renew(second), false)
    #expect(table.nodeNumbers == [first] && table.sign(of: second) == nil)
    expect(table.leave(first), .gone)
    expect(table.join(), NodeNumber(3))
  }

  @Test func aShardIsClaimedOnceAndHasANewTermEachTime() throws {
    var table = LeaseTable()
    let (first, second) = (table.join(), table.join())
    expect(table.claim([shard], by: first), [shard: 1])
    expect(table.claim([shard], by: second), [:])
    expect(table.claim([shard], by: first), [:])
    expect(table.release(shard, by: second), false)
    expect(table.release(shard, by: first), true)
    expect(table.claim([shard], by: second), [shard: 2])
    expect(table.expire(second, after: try #require(table.sign(of: second))), .gone)
    expect(table.renew(first), true)
    expect(table.claim([shard], by: first), [shard: 3])
    #expect(table[shard].owner == first)
  }

  @Test func aNodeWithAnOpenCommitIsNotRemovedAndOneThatWasRemovedOpensNone() throws {
    var table = LeaseTable()
    let node = table.join()
    let sign = try #require(table.sign(of: node))
    expect(table.beginCommit(of: node), true)
    expect(table.expire(node, after: sign), .waits)
    table.endCommit(of: node)
    expect(table.expire(node, after: sign), .gone)
    expect(table.beginCommit(of: node), false)
    expect(table.claim([shard], by: node), [:])
  }
}

/// Shards.
@Suite struct ShardTests {
  /// The database keeps rows by these numbers.
  @Test func theShardOfANameNeverChanges() throws {
    #expect(Shard(of: try #require(GroupID("club"))).number == 828)
    #expect(Shard(of: try #require(UserID("alice"))).number == 956)
  }

  @Test func namesSpreadOverAllShards() throws {
    var counts = [Int](repeating: 0, count: Shard.count)
    for number in 0..<102_400 { counts[Shard(of: try #require(GroupID("@TGS#\(number)"))).number] += 1 }
    #expect(counts.allSatisfy { (40...180).contains($0) })
  }

  @Test(arguments: [1, 2, 3, 5, 10])
  func nodesEndWithAboutAsManyShardsEach(_ count: Int) {
    var owners = [NodeNumber?](repeating: nil, count: Shard.count)
    let nodes = (1...count).map { NodeNumber(Int64($0)) }
    // The first comes alone, and takes all.
    while case let plan = ShardPlan(for: nodes[0], owners: owners, nodes: [nodes[0]]), !plan.claims.isEmpty {
      #expect(plan.claims.count <= ShardPlan.shardsPerClaim && plan.releases.isEmpty)
      for shard in plan.claims { owners[shard.number] = nodes[0] }
    }
    #expect(owners.allSatisfy { $0 == nodes[0] })
    var moved = 0
    var isMoving = true
    while isMoving {
      isMoving = false
      for node in nodes {
        let plan = ShardPlan(for: node, owners: owners, nodes: nodes)
        for shard in plan.claims where owners[shard.number] == nil { owners[shard.number] = node }
        for shard in plan.releases { owners[shard.number] = nil }
        moved += plan.releases.count
        isMoving = isMoving || !plan.claims.isEmpty || !plan.releases.isEmpty
      }
    }
    let counts = nodes.map { node in owners.count { $0 == node } }
    let share = (Shard.count + count - 1) / count
    #expect(counts.reduce(0, +) == Shard.count)
    #expect(counts.allSatisfy { $0 <= share })
    // No shard moves twice.
    #expect(moved == Shard.count - share)
  }

  @Test func aNodeThatDrainsGivesEverythingBack() {
    let node = NodeNumber(1)
    let owners = [NodeNumber?](repeating: node, count: Shard.count)
    #expect(ShardPlan(for: node, owners: owners, nodes: [NodeNumber(2)]).releases == Shard.all)
  }
}

/// Compares the result of a call that changes something, which `#expect` does not take.
private func expect<Value: Equatable>(_ found: Value, _ wanted: Value, _ place: SourceLocation = #_sourceLocation) {
  #expect(found == wanted, sourceLocation: place)
}
