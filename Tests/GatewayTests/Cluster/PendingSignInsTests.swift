import Cluster
import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import Gateway

/// What a node knows while users sign in: who asks for their groups, who owns these, and whether it has got
/// shards lately itself.
@Suite struct PendingSignInsTests {
  private let one = NodeNumber(1)
  private let two = NodeNumber(2)

  private func key(_ connection: UInt64) -> SessionKey { SessionKey(loop: 0, connection: connection) }

  @Test func aWishLastsAsLongAsASessionSignsIn() {
    var signIns = PendingSignIns()
    signIns.noteWish(of: one, for: "mary")
    signIns.begin(key(1), of: "mary", over: [one: 5, two: 7])
    #expect(!signIns.wantsGroups(of: "mary", one), "nobody signed in")
    signIns.begin(key(2), of: "mary", over: [one: 5])
    signIns.noteWish(of: one, for: "mary")
    #expect(signIns.wantsGroups(of: "mary", one) && !signIns.wantsGroups(of: "mary", two))
    #expect(!signIns.wantsGroups(of: "olga", one))
    signIns.end(key(1), of: "mary")
    #expect(signIns.wantsGroups(of: "mary", one), "for the other one")
    signIns.end(key(1), of: "mary")
    signIns.end(key(3), of: "olga")
    #expect(signIns.count == 1)
    signIns.end(key(2), of: "mary")
    #expect(!signIns.wantsGroups(of: "mary", one) && signIns.count == 0)
  }

  @Test func aNodeWasToldByOneLink() {
    let nodes = [one, two, NodeNumber(3)]
    var signIns = PendingSignIns()
    #expect(signIns.origins(of: nodes, for: "mary") == [:])
    signIns.begin(key(1), of: "mary", over: [one: 5, two: 7])
    #expect(signIns.origins(of: nodes, for: "mary") == [one: 5, two: 7])
    #expect(signIns.origins(of: [two], for: "mary") == [two: 7])
    signIns.begin(key(2), of: "mary", over: [one: 5, two: 8])
    #expect(signIns.origins(of: nodes, for: "mary") == [one: 5], "the other link has begun again between the two")
    signIns.end(key(1), of: "mary")
    #expect(signIns.origins(of: nodes, for: "mary") == [one: 5, two: 8])
  }

  @Test func groupsAreListedByTheirOwners() throws {
    let shards = ShardMap()
    let memberships = (0..<20).compactMap { number in
      GroupID("g\(number)").map { Membership(groupID: $0, type: .public, groupNumber: Int64(number)) }
    }
    #expect(OwnedMemberships(memberships, shards: shards).of(one).isEmpty, "they have no owner")
    give(shards, leading: [:])
    let owned = OwnedMemberships(memberships, shards: shards)
    #expect(owned.of(one) == memberships.filter { Shard(of: $0.groupID).number.isMultiple(of: 2) })
    #expect(owned.of(two) == memberships.filter { !Shard(of: $0.groupID).number.isMultiple(of: 2) })
  }

  /// The even shards are node one's, the odd ones node two's.
  private func give(_ shards: ShardMap, leading: [Shard: Int64]) {
    let nodes = [one, two].map { NodeInfo(number: $0, name: "n", address: "a", busVersion: 1, release: "0") }
    let owners = (0..<Shard.count).map { ShardOwner(node: $0.isMultiple(of: 2) ? one : two, term: 1) }
    let view = ClusterView(
      version: 1, ownNode: one, nodes: Dictionary(uniqueKeysWithValues: nodes.map { ($0.number, $0) }), owners: owners)
    shards.replace(by: view, leading: leading)
  }

  @Test func shardsThatComeAreCounted() {
    let shards = ShardMap()
    #expect(shards.gainCount == 0)
    give(shards, leading: [Shard.all[0]: 1, Shard.all[2]: 1])
    #expect(shards.gainCount == 2)
    give(shards, leading: [Shard.all[0]: 1, Shard.all[2]: 1])
    #expect(shards.gainCount == 2, "they stay")
    give(shards, leading: [Shard.all[0]: 1])
    #expect(shards.gainCount == 2)
    give(shards, leading: [Shard.all[0]: 2, Shard.all[2]: 1])
    #expect(shards.gainCount == 4, "one in another term, and one again")
  }

  @Test func aGainIsRecentForAWhile() {
    var gains = RecentGains(lifetime: .seconds(10))
    func isRecent(_ count: Int, at now: MonotonicInstant) -> Bool { gains.isRecent(count, at: now) }
    #expect(!isRecent(0, at: 0))
    #expect(isRecent(3, at: 1000))
    #expect(isRecent(3, at: 10_999))
    #expect(!isRecent(3, at: 11_000))
    #expect(isRecent(4, at: 12_000))
    gains.forget(4)
    #expect(!isRecent(4, at: 12_000))
    #expect(isRecent(5, at: 12_000))
    #expect(RecentGains.lifetime(of: .seconds(3)) == .seconds(36))
  }
}
