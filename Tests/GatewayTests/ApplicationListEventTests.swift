import Testing
import ThrongTestKit

@testable import Gateway

/// onGroupApplicationListChanged on real sessions, and that it agrees with the list.
@Suite struct ApplicationListEventTests {
  private static let event = "onGroupApplicationListChanged"

  /// olga's group with the admin nick and the member otto; mary is outside.
  private func found(_ live: LiveGateway) async throws {
    try await live.backend.create("g", "Public", #""memberList":[{"userID":"nick","role":"Admin"},{"userID":"otto"}]"#)
  }

  private func newest(_ client: Client, _ box: String) async throws -> JSON {
    try await client.call("getGroupApplicationList", #"{"box":"\#(box)"}"#)["result"]["applicationList"][0]
  }

  @Test func everySessionOfBothSidesIsToldWhatItsListSays() async throws {
    try await LiveGateway.with { live in
      try await found(live)
      let (olga, nick, otto) = (try await live.signIn("olga"), try await live.signIn("nick"), try await live.signIn("otto"))
      let (mary, second) = (try await live.signIn("mary", "platform=Web"), try await live.signIn("mary", "platform=iOS"))
      #expect(try await mary.call("joinGroup", #"{"groupID":"g","message":"please"}"#)["result"]["status"] == "Pending")
      for (client, box) in [(olga, "Received"), (nick, "Received"), (mary, "Sent"), (second, "Sent")] {
        let params = try await client.event(Self.event)
        #expect(params.names == ["application", "groupID", "opTime"])
        #expect(try await newest(client, box) == params["application"])
      }
      // olga reads it, nick decides.
      #expect(try await olga.call("setGroupApplicationRead")["result"] == [:])
      let id = try await newest(nick, "Received")["applicationID"].string ?? ""
      #expect(try await nick.call("acceptGroupApplication", #"{"applicationID":"\#(id)"}"#)["result"] == [:])
      for (client, box, status, isRead) in [
        (olga, "Received", "HandledByOther", true), (nick, "Received", "HandledBySelf", false),
        (mary, "Sent", "HandledByOther", true), (second, "Sent", "HandledByOther", true),
      ] as [(Client, String, JSON, JSON)] {
        let application = try await client.event(Self.event)["application"]
        #expect(application["handleStatus"] == status && application["isRead"] == isRead)
        #expect(try await newest(client, box) == application)
      }
      _ = try await otto.event("onMemberEnter")
      _ = try await otto.call("ping")
      #expect(await otto.events.isEmpty, "an ordinary member is told of the joining alone")
    }
  }

  @Test func aNewManagerIsSentNone() async throws {
    try await LiveGateway.with { live in
      try await found(live)
      try await live.backend.apply("mary", to: "g")
      let otto = try await live.signIn("otto")
      _ = try await live.backend.result("setGroupMemberRole", as: "olga", #""groupID":"g","userID":"otto","role":"Admin""#)
      _ = try await otto.event("onGrantAdministrator")
      _ = try await otto.call("ping")
      #expect(await otto.events.isEmpty)
      #expect(try await newest(otto, "Received")["fromUser"] == "mary", "the list shows it")
    }
  }

  @Test func theInitialMembersAreAskedAndTheCreatorSeesIt() async throws {
    try await LiveGateway.with { live in
      let (olga, mary) = (try await live.signIn("olga"), try await live.signIn("mary"))
      let made = try await olga.call(
        "createGroup",
        #"{"groupType":"Work","groupName":"n","groupID":"w","beInviteMode":"Auth","inviteMessage":"come","memberList":[{"userID":"mary"}]}"#
      )
      #expect(made["result"]["memberList"] == [["userID": "mary", "result": "Pending"]])
      let invitation = try await mary.event("onReceiveGroupInvitation")
      #expect(invitation["opReason"] == "come" && invitation["groupName"] == "n" && invitation["groupType"] == "Work")
      #expect(invitation["memberCount"] == 1 && invitation["faceURL"] == "")
      #expect(try await olga.event(Self.event)["application"]["toUser"] == "mary")
      let id = try await mary.event(Self.event)["application"]["applicationID"].string ?? ""
      #expect(id == invitation["applicationID"].string)
      #expect(try await mary.call("acceptGroupApplication", #"{"applicationID":"\#(id)"}"#)["result"] == [:])
      #expect(try await olga.event("onMemberInvited")["memberList"][0]["userID"] == "mary")
    }
  }
}
