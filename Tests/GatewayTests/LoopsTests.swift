import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import Gateway

/// Sessions and groups that live on different loops, and what storms of them leave behind.
@Suite struct LoopsTests {
  /// Sessions of one user on every loop: connections are spread by the system, so there are tries.
  private func everywhere(_ live: LiveGateway, _ user: String) async throws -> [Client] {
    var clients: [Client] = []
    repeat {
      clients.append(try await live.signIn(user, "platform=Web"))
    } while await live.openSessions().contains { $0.isEmpty } && clients.count < 200
    return clients
  }

  @Test(arguments: [1, 2, 3]) func eventsReachEveryLoopInOneOrder(loops: Int) async throws {
    try await LiveGateway.with(loops: loops) {
      $0.sessionsPerPlatform[.web] = 1000
    } _: { live in
      let listeners = try await everywhere(live, "mary")
      let olga = try await live.signIn("olga")
      let groups = (0..<4).map { "g\($0)" }
      for group in groups {
        _ = try await olga.call(
          "createGroup", #"{"groupType":"Public","groupName":"g","groupID":"\#(group)","memberList":[{"userID":"mary"}]}"#)
      }
      for number in 0..<50 {
        for group in groups {
          try await olga.send(
            #"{"jsonrpc":"2.0","method":"sendGroupTextMessage","params":{"groupID":"\#(group)","text":"\#(number)"}}"#)
        }
      }
      for listener in listeners {
        var heard: [String: [String]] = [:]
        for _ in 0..<200 {
          let message = try await listener.event("onRecvNewMessage")["message"]
          heard[message["groupID"].string ?? "", default: []].append(message["text"].string ?? "")
        }
        for group in groups { #expect(heard[group] == (0..<50).map(String.init), "\(group)") }
        #expect(await listener.events.allSatisfy { $0["method"] != "onRecvNewMessage" }, "nothing twice")
      }
    }
  }

  @Test func aSessionIsReplacedAcrossLoops() async throws {
    try await LiveGateway.with(loops: 2) { live in
      var last = try await live.signIn("alice", "platform=iOS")
      for _ in 0..<20 {
        let next = try await live.signIn("alice", "platform=iOS")
        #expect(try await last.event("onKickedOffline")["reason"] == "OtherDevice")
        #expect(try await last.closed().code == 4502)
        last = next
      }
      #expect(live.services.sessionCount == 1)
      #expect(try await last.call("ping")["result"] != nil)
    }
  }

  /// People come and go in every way while their groups talk. Then nothing is left: no session, no
  /// entry, no deadline, nobody online.
  @Test(arguments: [1, 2]) func aStormOfReconnectionsLeavesNothingBehind(loops: Int) async throws {
    try await LiveGateway.with(loops: loops) {
      $0.failureDelay = .zero
    } _: { live in
      for group in ["g", "h"] {
        let members = (0..<6).map { #"{"userID":"user\#($0)"}"# }.joined(separator: ",")
        _ = try await live.backend.rpc(
          "createGroup",
          #"{"groupType":"Meeting","groupName":"g","groupID":"\#(group)","asUser":"olga","memberList":[\#(members)]}"#)
      }
      let seen = try await withThrowingTaskGroup { tasks in
        for number in 0..<6 { tasks.addTask { try await storm(live, "user\(number)", seed: UInt64(number)) } }
        var seen: [LiveGateway.Weak] = []
        for try await sessions in tasks { seen += sessions }
        return seen
      }
      #expect(await live.remains(failures: 1) == [:], "bad tokens are remembered for 10 s")
      for group in ["g", "h"] {
        let online = try await live.backend.rpc("getGroupOnlineMemberCount", #"{"groupID":"\#(group)","asUser":"olga"}"#)
        #expect(online["result"]["count"] == 0, "\(group)")
      }
      #expect(!seen.isEmpty)
      // A task releases its references at its end; a cycle would stay for ever, and the test with
      // it.
      for session in seen { try await session.waitUntilReleased() }
    }
  }

  private func storm(_ live: LiveGateway, _ user: String, seed: UInt64) async throws -> [LiveGateway.Weak] {
    var random = SeededGenerator(seed: seed)
    var seen: [LiveGateway.Weak] = []
    for round in 0..<25 {
      let client = try Client(port: live.port, query: Bool.random(using: &random) ? "token=\(user)&platform=iOS" : "")
      switch Int.random(in: 0..<6, using: &random) {
      case 0: await client.cut()
      case 1:
        try await client.send(#"{"jsonrpc":"2.0","method":"login","params":{"token":"\#(user)","platform":"iOS"}}"#)
        await client.cut()
      case 2:
        try await client.send(#"{"jsonrpc":"2.0","method":"sendGroupTextMessage","params":{"groupID":"g","text":"\#(round)"}}"#)
        try? await client.leave()
      case 3:
        try await client.send(#"{"jsonrpc":"2.0","id":1,"method":"login","params":{"token":"bad"}}"#)
        await client.cut()
      case 4:
        try await client.send(#"{"jsonrpc":"2.0","id":1,"method":"logout"}"#)
        await client.cut()
      default:
        // The session before may be closed by this one at any moment.
        seen += await live.openSessions().joined()
        try? await client.leave()
      }
    }
    return seen
  }
}
