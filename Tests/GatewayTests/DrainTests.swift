import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit
import WebSocketTransport

@testable import Gateway

/// The orderly end (Protocol.md, "Draining").
@Suite struct DrainTests {
  @Test(arguments: [1, 2]) func everySessionIsToldServedAndClosed(loops: Int) async throws {
    try await LiveGateway.with(loops: loops) { live in
      let sessions = try await (0..<8).asyncMap { try await live.signIn("user\($0)") }
      let stranger = try await live.connect()
      live.gateway.drain(over: .milliseconds(400), on: live.transport.loops)
      for session in sessions {
        #expect(try await session.event("onServerDraining")["retryAfterMs"].integer != nil)
      }
      let late = try Client(port: live.port)
      #expect(try await late.status() == 503)
      await live.advance(by: 500)
      for session in sessions { #expect(try await session.closed().code == 4001) }
      #expect(try await stranger.closed().code == 4001)
      #expect(await stranger.events.isEmpty)
      #expect(await live.remains() == [:])
    }
  }

  /// More than a turn of the loop tells.
  @Test func manySessionsAreToldInSlices() async throws {
    try await LiveGateway.with { live in
      let sessions = try await (0...2 * Gateway.drainedAtOnce).asyncMap { try await live.signIn("user\($0)") }
      live.gateway.drain(over: .milliseconds(400), on: live.transport.loops)
      for session in sessions { _ = try await session.event("onServerDraining") }
      await live.advance(by: 500)
      for session in sessions { #expect(try await session.closed().code == 4001) }
    }
  }

  @Test func aSessionThatIsSigningInIsToldAfterwardsAndServed() async throws {
    try await LiveGateway.with { live in
      live.store.hold()
      let alice = try await live.connect()
      try await alice.send(#"{"jsonrpc":"2.0","id":1,"method":"login","params":{"token":"alice"}}"#)
      try await live.store.arrival()
      live.gateway.drain(over: .seconds(86_400), on: live.transport.loops)
      for loop in live.transport.loops { await live.on(loop) {} }
      live.store.release()
      #expect(try await alice.next()["result"]["userID"] == "alice")
      #expect(try await alice.next()["method"] == "onServerDraining")
    }
  }

  /// Without a reply, a client could not know whether its message is stored.
  @Test func requestsInFlightAreAnsweredBeforeTheClose() async throws {
    try await LiveGateway.with { live in
      let alice = try await live.signIn("alice")
      _ = try await alice.call("createGroup", #"{"groupType":"Public","groupName":"g","groupID":"g"}"#)
      live.store.inner.hold()
      try await alice.send(#"{"jsonrpc":"2.0","id":7,"method":"sendGroupTextMessage","params":{"groupID":"g","text":"x"}}"#)
      try await live.waitForCommits(1)
      live.gateway.drain(over: .zero, on: live.transport.loops)
      _ = try await alice.event("onServerDraining")
      await live.advance(by: 100)
      let session = try #require(await live.openSessions()[0].first?.session)
      try await waitUntil("the close is pending") { await session.pendingClose != nil }
      live.store.inner.release()
      #expect(try await alice.reply { $0["id"] == 7 }["result"]["status"] == "Stored")
      #expect(try await alice.closed().code == 4001)
    }
  }

  @Test func withNobodyThereItIsOverAtOnce() async throws {
    try await LiveGateway.with(loops: 2) { live in
      live.gateway.drain(over: .seconds(86_400), on: live.transport.loops)
      await live.gateway.waitUntilEmpty()
      #expect(await live.remains() == [:])
    }
  }
}

extension Sequence {
  /// One after the other.
  func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
    var values: [Value] = []
    for element in self { values.append(try await transform(element)) }
    return values
  }
}
