import GroupModel
import Testing
import ThrongTestKit

@testable import Gateway

/// The deliveries that a user's requests may cause, on real connections (Protocol.md, "Delivery
/// rate").
@Suite struct DeliveryRateTests {
  private func say(_ client: Client) async throws -> JSON {
    try await client.call("sendGroupTextMessage", #"{"groupID":"g","text":"x"}"#)
  }

  @Test(arguments: [1, 4]) func theSessionsOfAUserShareTheRate(loops: Int) async throws {
    let world = World()
    try await LiveGateway.with(world: world, loops: loops) {
      $0.deliveriesPerSecond = 2
    } _: { live in
      let (alice, again, bob) = (try await live.signIn("alice"), try await live.signIn("alice"), try await live.signIn("bob"))
      try await live.backend.create("g", by: "alice", memberList("bob"))
      #expect(try await say(alice)["error"] == .null, "to both")
      for client in [alice, again] {
        let error = try await say(client)["error"]
        #expect(error["code"] == 7008 && error["data"]["temporary"] == true && error["data"]["retryAfterMs"] == 1)
        #expect(try await client.call("getGroupMemberList", #"{"groupID":"g"}"#)["error"] == .null, "reads pass")
      }
      #expect(try await say(bob)["error"] == .null, "another user is not affected")
      for _ in 0..<3 {
        try await live.say("x", in: "g", as: "alice")
        try await live.say("x", in: "g")
      }
      world.clocks.advance(by: 1)
      #expect(try await say(again)["error"] == .null)
      #expect(try await say(alice)["error"]["data"]["retryAfterMs"] == 1000)
      try await live.heard(of: "g", by: bob)
      let heard = await bob.texts()
      #expect(heard.count == 8, "of alice's sessions two, six by the application")
    }
  }

  @Test func comingAgainBringsNothingNew() async throws {
    try await LiveGateway.with {
      $0.deliveredBytesPerSecond = 1
    } _: { live in
      let alice = try await live.signIn("alice")
      try await live.backend.create("g", by: "alice")
      #expect(try await say(alice)["error"] == .null)
      try await alice.leave()
      try await live.gone("alice")
      for _ in 0..<live.services.budgets.sweepTicks { live.services.budgets.sweep(at: live.backend.clocks.monotonic) }
      #expect(try await say(live.signIn("alice"))["error"]["code"] == 7008)
    }
  }

  @Test func zeroIsNoLimit() async throws {
    try await LiveGateway.with {
      $0.deliveriesPerSecond = 0
      $0.deliveredBytesPerSecond = 0
    } _: { live in
      let alice = try await live.signIn("alice")
      try await live.backend.create("g", by: "alice")
      for _ in 0..<10 { #expect(try await say(alice)["error"] == .null) }
    }
  }

  /// "The node that decides for the group charges", wherever the sessions are.
  @Test func theOwnersNodeCharges() async throws {
    try await LiveCluster.with(3) {
      $0.deliveredBytesPerSecond = 1
    } _: { cluster in
      var clients: [Client] = []
      for node in 0..<3 { clients.append(try await cluster[node].signIn("alice", "platform=Web")) }
      let bob = try await cluster[1].signIn("bob")
      try await cluster[0].live.backend.create("g", by: "alice", memberList("bob"))
      #expect(try await say(clients[0])["error"] == .null)
      for client in clients { #expect(try await say(client)["error"]["code"] == 7008) }
      #expect(try await say(bob)["error"] == .null, "another user is not affected")
    }
  }
}
