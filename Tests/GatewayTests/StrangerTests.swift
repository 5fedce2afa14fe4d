import GroupModel
import Testing
import ThrongTestKit

@testable import Gateway

/// How many users a user may add without asking them (Protocol.md, "Invitations").
@Suite struct StrangerTests {
  private func results(_ reply: JSON) -> [String?] { reply["result"]["memberList"].column("result").map(\.string) }

  @Test func aUserAddsSoManyADayInAllGroupsTogether() async throws {
    let world = World()
    try await LiveGateway.with(world: world) {
      $0.strangersPerDay = 3
    } _: { live in
      let alice = try await live.signIn("alice")
      let made = try await alice.call(
        "createGroup", #"{"groupID":"g","groupType":"Work","groupName":"g",\#(memberList("u1", "u2"))}"#)
      #expect(results(made) == ["Success", "Success"])
      let invited = try await alice.call("inviteUserToGroup", #"{"groupID":"g","userIDList":["u3","u1","u4"]}"#)
      #expect(results(invited) == ["Success", "Invalid", "OverLimit"])
      // Those who count already may be added elsewhere.
      let second = try await alice.call(
        "createGroup", #"{"groupID":"h","groupType":"Work","groupName":"h",\#(memberList("u1", "u2", "u3", "u5"))}"#)
      #expect(results(second) == ["Success", "Success", "Success", "OverLimit"])
      // Who is asked first is no stranger who is added.
      #expect(
        try await alice.call(
          "createGroup", #"{"groupID":"asking","groupType":"Work","groupName":"a","beInviteMode":"Auth",\#(memberList("u6"))}"#)[
            "result"]["memberList"][0]["result"] == "Pending")
      // The application is not bound, in a user's name neither.
      _ = try await live.backend.result("inviteUserToGroup", #""groupID":"g","userIDList":["u7"]"#)
      _ = try await live.backend.result("inviteUserToGroup", as: "alice", #""groupID":"g","userIDList":["u8"]"#)
      world.clocks.advance(by: 86_400_000)
      let later = try await live.signIn("alice")
      #expect(results(try await later.call("inviteUserToGroup", #"{"groupID":"g","userIDList":["u9"]}"#)) == ["Success"])
    }
  }

  @Test func aRefusedRequestCountsNobody() async throws {
    try await LiveGateway.with {
      $0.strangersPerDay = 1
    } _: { live in
      let alice = try await live.signIn("alice")
      try await live.backend.create("g", by: "olga")
      #expect(
        try await alice.call("inviteUserToGroup", #"{"groupID":"g","userIDList":["u1"]}"#)["error"]["code"] == 10007)
      try await live.backend.create("h", "Work", by: "alice")
      let invited = try await alice.call("inviteUserToGroup", #"{"groupID":"h","userIDList":["u2","u3"]}"#)
      #expect(results(invited) == ["Success", "OverLimit"])
    }
  }
}
