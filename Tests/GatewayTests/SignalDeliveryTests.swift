import GroupRuntime
import Testing
import ThrongTestKit

@testable import Gateway

/// Signals on real connections: who hears them, and their place among other frames (Protocol.md,
/// "Signals").
@Suite struct SignalDeliveryTests {
  private func signal(_ client: Client, _ name: String = "typing") async throws -> JSON {
    try await client.call("sendGroupSignal", #"{"groupID":"g","name":"\#(name)","data":"{}"}"#)
  }

  /// The names of the signals that a client has heard.
  private func names(_ client: Client) async -> [String] {
    await client.heard("onGroupSignal").compactMap { $0["name"].string }
  }

  @Test(arguments: ["Public", "AVChatRoom"], [1, 4])
  func allSessionsOfMembersButTheSendingOneHear(type: String, loops: Int) async throws {
    try await LiveGateway.with(loops: loops) { live in
      try await live.backend.found(type, with: "mary", "ivan", "nick")
      let (mary, again) = (try await live.signIn("mary"), try await live.signIn("mary"))
      let (olga, ivan, vera) = (try await live.signIn("olga"), try await live.signIn("ivan"), try await live.signIn("vera"))
      let nick = try await live.signIn("nick")
      _ = try await live.backend.result("setGroupReceiveMessageOpt", as: "nick", #""groupID":"g","opt":"NotReceive""#)
      _ = try await live.backend.result("setGroupReceiveMessageOpt", as: "ivan", #""groupID":"g","opt":"ReceiveFromManagers""#)
      #expect(try await signal(mary)["result"] == [:])
      _ = try await live.backend.result("sendGroupSignal", as: "mary", #""groupID":"g","name":"backend""#)
      _ = try await live.backend.result("sendGroupSignal", #""groupID":"g","name":"news""#)
      try await live.heard(of: "g", by: mary, again, olga, ivan, nick)
      for client in [again, olga, ivan] { #expect(await names(client) == ["typing", "backend", "news"]) }
      #expect(await names(mary) == ["backend", "news"], "not on the session that has sent it")
      #expect(await names(nick) == [], "who receives no messages hears none")
      _ = try await vera.call("ping")
      #expect(await vera.events.isEmpty, "no member")
    }
  }

  @Test func aSignalWaitsForNoCommitAndItsReplyForThoseBefore() async throws {
    try await LiveGateway.with { live in
      try await live.backend.found("Public", with: "mary")
      let (mary, olga) = (try await live.signIn("mary"), try await live.signIn("olga"))
      live.store.inner.hold()
      try await mary.send(
        #"{"jsonrpc":"2.0","id":1,"method":"sendGroupTextMessage","params":{"groupID":"g","text":"x"}}"#,
        #"{"jsonrpc":"2.0","id":2,"method":"sendGroupSignal","params":{"groupID":"g","name":"typing"}}"#)
      #expect(try await olga.event("onGroupSignal")["sender"] == "mary")
      #expect(await olga.events.isEmpty, "the message is not stored yet")
      live.store.inner.release()
      let replies = [try await mary.next(), try await mary.next()]
      #expect(replies.map { $0["id"] } == [1, 2])
      #expect(replies[0]["result"]["seq"] == 1 && replies[1]["result"] == [:])
      #expect(try await olga.event("onRecvNewMessage")["message"]["text"] == "x")
    }
  }

  @Test func theNickNameIsThatOfNow() async throws {
    try await LiveGateway.with { live in
      try await live.backend.found("Public", with: "mary")
      let (mary, olga) = (try await live.signIn("mary"), try await live.signIn("olga"))
      _ = try await mary.call("setSelfInfo", #"{"nickName":"Mimi","faceURL":"https://f/1"}"#)
      _ = try await signal(mary)
      let told = try await olga.event("onGroupSignal")
      #expect(told["nickName"] == "Mimi" && !told.names.contains("faceURL"))
    }
  }

  @Test func signalsCountForTheDeliveryRate() async throws {
    try await LiveGateway.with {
      $0.deliveriesPerSecond = 2
    } _: { live in
      let (alice, bob) = (try await live.signIn("alice"), try await live.signIn("bob"))
      try await live.backend.create("g", by: "alice", memberList("bob"))
      #expect(try await signal(alice)["result"] == [:])
      let refused = try await signal(alice)["error"]
      #expect(refused["code"] == 7008 && refused["data"]["temporary"] == true)
      #expect(try await signal(bob)["result"] == [:], "another user is not affected")
    }
  }
}
