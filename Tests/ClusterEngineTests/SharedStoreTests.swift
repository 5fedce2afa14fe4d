import Cluster
import GroupModel
import GroupRuntime
import StoreEngine
import Testing
import ThrongTestKit

@testable import PostgreSQLStore

/// Users in a store of several nodes.
/// Two nodes of a cluster over one database, each with a store and a lease.
@Suite struct SharedStoreTests {
  private let alice = UserID("alice")!
  private let bob = UserID("bob")!
  private let carol = UserID("carol")!
  private let dora = UserID("dora")!

  private struct Node {
    let store: PostgreSQLStore
    let lease: LeaseEngine
  }

  private func withNodes(_ body: (Node, Node, DatabaseOpener) async throws -> Void) async throws {
    try await withDatabase(leaseDuration: .seconds(600)) { url, schema, opener in
      let nodes = try ["first", "second"].map { name in
        var options = opener.options
        options.isShared = true
        options.maintenanceInterval = nil
        options.leadership = MembershipLeadership()
        let store = try PostgreSQLStore.open(opener.url, logger: quiet, options: options, isAlone: false)
        let lease = store.makeLease()
        try lease.start(as: NodeDescription(name: name, address: name, release: "0"))
        return Node(store: store, lease: lease)
      }
      let outcome: Result<Void, any Error>
      do { outcome = .success(try await body(nodes[0], nodes[1], opener)) } catch { outcome = .failure(error) }
      for node in nodes {
        await node.lease.leave()
        node.store.close()
      }
      try outcome.get()
    }
  }

  @Test func aUserIsKnownToAllNodesAsSoonAsMakeKnownReturns() async throws {
    try await withNodes { first, second, _ in
      try await first.store.makeKnown([alice, bob], areNew: true)
      #expect(try await second.store.known(among: [alice, bob, carol]) == [alice, bob])
      #expect(try await second.store.signInRecord(of: alice).isKnown)
      #expect(try await !second.store.signInRecord(of: carol).isKnown)
      // From then on nothing waits for them.
      try await first.store.makeKnown([alice], areNew: true)
      try await second.store.makeKnown([alice], areNew: true)
      #expect(first.store.writer.queue.pendingUpdates.isEmpty && second.store.writer.queue.pendingUpdates.isEmpty)
      // Only with the next commit or a second later.
      first.store.remember([dora])
      #expect(try await second.store.known(among: [dora]) == [])
    }
  }

  /// An application's first call for a user whom another node has made known waits for a read alone.
  @Test func aUserWhomTheStoreHasIsMadeKnownWithoutACommit() async throws {
    try await withNodes { first, second, _ in
      try await first.store.makeKnown([alice], areNew: true)
      let before = second.store.commitMeter.counts.commits
      try await second.store.makeKnown([alice], areNew: false)
      #expect(second.store.commitMeter.counts.commits == before && second.store.pendingUsers == 0)
      try await second.store.makeKnown([alice, carol], areNew: false)
      #expect(second.store.commitMeter.counts.commits > before)
      #expect(try await first.store.known(among: [carol]) == [carol])
    }
  }

  @Test func notesOfPresenceAreDurableBeforeAShardIsGivenBack() async throws {
    try await withNodes { first, second, _ in
      first.store.notePresence(of: alice, offlineSince: nil)
      first.store.notePresence(of: bob, offlineSince: 5)
      await first.store.flushPresence()
      let online = try await second.store.usersOnline()
      #expect(online == [alice])
      // The next owner's come behind them.
      second.store.notePresence(of: alice, offlineSince: 7)
      await second.store.flushPresence()
      await first.store.flushPresence()
      let (later, since) = (try await first.store.usersOnline(), try await first.store.offlineSince(of: alice))
      #expect(later == [] && since == 7)
    }
  }

  @Test func notesOfANodeThatHasLostItsLeaseNeverComeBehindThoseOfTheNextOwner() async throws {
    try await withNodes { first, second, opener in
      let old = try #require(first.lease.node)
      first.store.notePresence(of: alice, offlineSince: nil)
      first.store.notePresence(of: bob, offlineSince: 3)
      try opener.connect().run("SELECT throng_leave($1)", [old.rawValue])
      second.store.notePresence(of: alice, offlineSince: 7)
      second.store.notePresence(of: bob, offlineSince: nil)
      await second.store.flushPresence()
      // It does not know yet: the fence refuses what it writes.
      await first.store.flushPresence()
      first.lease.wake()
      try await waitUntil("it is another node") { first.lease.node.map { $0 > old } ?? false }
      await first.store.flushPresence()
      for node in [first, second] {
        #expect(try await node.store.usersOnline() == [bob])
        #expect(try await node.store.offlineSince(of: alice) == 7)
      }
      // As another node it writes again.
      first.store.notePresence(of: alice, offlineSince: nil)
      await first.store.flushPresence()
      #expect(Set(try await second.store.usersOnline()) == [alice, bob])
    }
  }
}
