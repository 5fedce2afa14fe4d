import GroupModel
import Testing
import ThrongTestKit
import WebSocketTransport

@testable import Gateway

/// Bounds of what the server holds for a session: replies behind a slower one, reads, replies of
/// batches.
@Suite struct ReadingTests {
  private let create = #"{"groupType":"Public","groupName":"g","groupID":"g"}"#
  private let info = #"{"jsonrpc":"2.0","id":"i","method":"getServerInfo"}"#
  private let list = #"{"jsonrpc":"2.0","id":"g","method":"getJoinedGroupList"}"#

  private func message(_ id: Int) -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"method":"sendGroupTextMessage","params":{"groupID":"g","text":"x"}}"#
  }

  /// How many reads of a user are under way in each of the sessions.
  private func reads(of user: UserID, _ live: LiveGateway) async throws -> [Int] {
    let loop = live.transport.loops[0]
    return await live.on(loop) { [live] in
      live.gateway.context(of: loop).open.values.compactMap { session in
        session.assumeIsolated { $0.identity?.userID == user ? $0.readsInFlight : nil }
      }
    }
  }

  /// Returns when the loop has done what it had to do.
  private func turn(_ live: LiveGateway) async { await live.on(live.transport.loops[0]) {} }

  @Test func whileMuchIsReadyBehindASlowReplyNothingMoreIsExecuted() async throws {
    try await LiveGateway.with {
      $0.readyReplyBytes = 1000
    } _: { live in
      let alice = try await live.signIn("alice")
      _ = try await alice.call("createGroup", create)
      live.store.inner.hold()
      // One write, so that one read brings it all: what may be executed has been when the first
      // has.
      try await alice.send([message(1), info] + (2..<20).map(message))
      try await live.waitForCommits(1)
      await turn(live)
      #expect(live.store.inner.pendingCount == 1)
      live.store.inner.release()
      var ids: [JSON] = []
      while ids.count < 20 { ids.append(try await alice.reply { $0["id"] != nil }["id"]) }
      #expect(ids == [1, "i"] + (2..<20).map { JSON.number(Double($0)) })
      #expect(try await alice.call("ping")["error"] == nil)
    }
  }

  @Test func fewReadsOfASessionAreUnderWay() async throws {
    try await LiveGateway.with { live in
      let alice = try await live.signIn("alice")
      live.store.hold()
      try await alice.send(Array(repeating: list, count: 10))
      try await live.waitForReads(4)
      await turn(live)
      #expect(try await reads(of: "alice", live) == [4])
      live.store.release()
      for _ in 0..<10 { #expect(try await alice.next()["result"]["groupList"] == []) }
      #expect(try await reads(of: "alice", live) == [0])
    }
  }

  @Test func sessionsOfAUserShareWhatMayBeUnderWay() async throws {
    try await LiveGateway.with { live in
      var sessions: [Client] = []
      for _ in 0..<4 { sessions.append(try await live.signIn("alice")) }
      let bob = try await live.signIn("bob")
      live.store.hold()
      for session in sessions { try await session.send(Array(repeating: list, count: 5)) }
      try await live.waitForReads(UserBudget.maxReads)
      try await bob.send(list)
      try await live.waitForReads(UserBudget.maxReads + 1)
      await turn(live)
      #expect(try await reads(of: "alice", live).reduce(0, +) == UserBudget.maxReads)
      #expect(try await reads(of: "bob", live) == [1])
      // Those of a session that ends make room when they are over.
      try await sessions.removeFirst().leave()
      live.store.release()
      for session in sessions { for _ in 0..<5 { #expect(try await session.next()["result"]["groupList"] == []) } }
      #expect(try await bob.next()["result"]["groupList"] == [])
      #expect(try await reads(of: "alice", live) == [0, 0, 0])
    }
  }

  @Test func requestsBehindADeferredReadAreAnsweredInOrder() async throws {
    try await LiveGateway.with { live in
      let alice = try await live.signIn("alice")
      _ = try await alice.call("createGroup", create)
      live.store.hold()
      try await alice.send(
        Array(repeating: list, count: 4) + [
          #"{"jsonrpc":"2.0","id":"p","method":"ping"}"#, message(0), list, message(1), "[\(list),\(message(2))]", message(3),
        ])
      try await live.waitForReads(4)
      try await waitUntil("the message is stored") { !live.store.inner.allMessages(of: "g").isEmpty }
      await turn(live)
      #expect(live.store.inner.allMessages(of: "g").count == 1, "the fifth list waits, and what is behind it")
      live.store.release()
      for _ in 0..<4 { #expect(try await alice.next()["id"] == "g") }
      #expect(try await alice.next()["id"] == "p")
      #expect(try await alice.next()["result"]["seq"] == 1)
      #expect(try await alice.next()["id"] == "g")
      #expect(try await alice.next()["result"]["seq"] == 2)
      #expect(try await alice.next().elements.map { $0["result"]["seq"] } == [nil, 3])
      #expect(try await alice.next()["result"]["seq"] == 4)
    }
  }

  /// The answer of a batch is bounded: further reads find no room, while what changes something is
  /// done.
  @Test func aBatchReadsNoMoreThanItsAnswerMayHold() async throws {
    try await LiveGateway.with {
      $0.readyReplyBytes = 1000
    } _: { live in
      let alice = try await live.signIn("alice")
      _ = try await alice.call("createGroup", create)
      try await alice.send("[\(([info, message(1)] + Array(repeating: info, count: 16) + [message(2)]).joined(separator: ","))]")
      let rows = try await alice.next().elements
      #expect(rows[0]["result"]["name"] == "Throng")
      #expect(rows[1]["result"]["seq"] == 1 && rows[18]["result"]["seq"] == 2)
      for row in rows[2..<18] { #expect(row["error"]["code"] == 10002 && row["error"]["data"]["temporary"] == true) }
      #expect(try await alice.call("getServerInfo")["error"] == nil)
    }
  }
}
