import GroupRuntime
import Testing
import ThrongTestKit

@testable import Gateway

/// Receive options on real connections: which messages a member gets, in order with all events
/// (Protocol.md, "Receive options").
@Suite struct ReceiveOptionTests {
  private static let options = ["Receive", "ReceiveNotNotify", "ReceiveFromManagers", "NotifyFromManagers", "NotReceive"]

  private func choose(_ option: String, _ group: String, as user: String, _ live: LiveGateway) async throws {
    _ = try await live.backend.result("setGroupReceiveMessageOpt", as: user, #""groupID":"\#(group)","opt":"\#(option)""#)
  }

  // MARK: Whose chat

  /// Mary of a group where olga owns, nick is an admin where there are any, and ivan a member.
  @Test(arguments: ["Public", "Meeting", "AVChatRoom", "BChatRoom"], options)
  func anOptionDecidesWhoseChatIsHeard(type: String, option: String) async throws {
    try await LiveGateway.with { live in
      var speakers: [String?] = ["olga", nil]
      if type == "BChatRoom" {
        try await live.backend.found(type)
      } else {
        try await live.backend.found(type, with: "mary", "ivan", "nick")
        speakers.append("ivan")
      }
      if type != "AVChatRoom" {
        _ = try await live.backend.result("setGroupMemberRole", as: "olga", #""groupID":"g","userID":"nick","role":"Admin""#)
        speakers.append("nick")
      }
      let (mary, bystander) = (try await live.signIn("mary"), try await live.signIn("olga"))
      try await choose(option, "g", as: "mary", live)
      for speaker in speakers { try await live.say(speaker ?? "app", in: "g", as: speaker) }
      try await live.heard(of: "g", by: mary, bystander)
      let expected: [String] =
        switch option {
        case "NotReceive": []
        case "ReceiveFromManagers": speakers.filter { $0 != "ivan" }.map { $0 ?? "app" }
        default: speakers.map { $0 ?? "app" }
        }
      #expect(await mary.texts() == expected)
      #expect(await bystander.texts() == speakers.map { $0 ?? "app" }, "it is one member's option")
    }
  }

  @Test(arguments: ["Public", "AVChatRoom"]) func eventsArriveWhateverTheOption(type: String) async throws {
    try await LiveGateway.with { live in
      try await live.backend.found(type, with: "mary")
      _ = try await live.backend.result("setGroupInfo", as: "olga", #""groupID":"g","joinMode":"Any""#)
      let mary = try await live.signIn("mary")
      try await choose("NotReceive", "g", as: "mary", live)
      try await live.say("unheard", in: "g", as: "olga")
      await live.advance(by: 1000)
      _ = try await live.backend.result("joinGroup", as: "ivan", #""groupID":"g""#)
      _ = try await live.backend.result("sendGroupCustomMessage", as: "olga", #""groupID":"g","data":"unheard""#)
      _ = try await live.backend.result("sendGroupSystemNotification", #""groupID":"g","content":"news""#)
      try await live.heard(of: "g", by: mary)
      #expect(await mary.heard("onMemberEnter").map { $0["memberList"][0]["userID"] } == ["ivan"])
      #expect(await mary.heard("onReceiveRESTCustomData").map { $0["customData"] } == ["news"])
      #expect(await mary.heard("onReceiveMessageOptChanged").map { $0["opt"] } == ["NotReceive"])
      #expect(await mary.events == [], "and nothing else")
    }
  }

  // MARK: Lasting

  @Test(arguments: ["Public", "BChatRoom"]) func anOptionOutlastsTheSessionAndTheGroupsMemory(type: String) async throws {
    try await LiveGateway.with { live in
      if type == "Public" { try await live.backend.found(type, with: "mary") } else { try await live.backend.found(type) }
      try await choose("NotReceive", "g", as: "mary", live)
      let first = try await live.signIn("mary")
      try await live.say("one", in: "g", as: "olga")
      try await live.heard(of: "g", by: first)
      try await first.leave()
      try await live.gone("mary")
      let second = try await live.signIn("mary")
      try await live.say("two", in: "g", as: "olga")
      try await live.heard(of: "g", by: second)
      live.backend.clocks.advance(by: 1)
      live.services.registry.retireGroups(unusedFor: .zero)
      try await live.backend.waitUntilUnloaded()
      try await live.say("three", in: "g", as: "olga")
      try await live.heard(of: "g", by: second)
      try await choose("Receive", "g", as: "mary", live)
      try await live.say("four", in: "g", as: "olga")
      try await live.heard(of: "g", by: second)
      #expect(await first.texts() == [])
      #expect(await second.texts() == ["four"])
    }
  }

  // MARK: In order

  /// One session asks for chat and options in one go; the user's others hear exactly what the
  /// option of the moment lets through, the options in their places between the chat.
  @Test(
    arguments: [("Public", "mary"), ("Public", "olga"), ("AVChatRoom", "mary"), ("AVChatRoom", "olga"), ("BChatRoom", "olga")],
    [1, 2])
  func changesTakeTheirPlaceInTheChat(asked: (type: String, user: String), loops: Int) async throws {
    try await LiveGateway.with(loops: loops) { live in
      if asked.type == "BChatRoom" {
        try await live.backend.found(asked.type)
      } else {
        try await live.backend.found(asked.type, with: "mary")
      }
      let speaker = try await live.signIn(asked.user, "platform=Web")
      var listeners: [Client] = []
      for _ in 0..<4 { listeners.append(try await live.signIn(asked.user, "platform=Web")) }

      var random = SeededGenerator(seed: UInt64(loops))
      var option = asked.type == "Public" ? "Receive" : "ReceiveNotNotify"
      var requests: [String] = []
      var expected: [String] = []
      for number in 0..<80 {
        if number % 3 == 0 {
          requests.append(#""method":"sendGroupTextMessage","params":{"groupID":"g","text":"\#(number)"}"#)
          let passes = option != "NotReceive" && (option != "ReceiveFromManagers" || asked.user == "olga")
          if passes { expected.append("\(number)") }
        } else {
          let next = Self.options.randomElement(using: &random) ?? option
          requests.append(#""method":"setGroupReceiveMessageOpt","params":{"groupID":"g","opt":"\#(next)"}"#)
          if next != option { expected.append(next) }
          option = next
        }
      }
      try await speaker.send(requests.enumerated().map { #"{"jsonrpc":"2.0","id":\#($0),\#($1)}"# })
      for id in requests.indices {
        #expect(try await speaker.reply { $0["id"].integer == Int64(id) }["error"] == nil)
      }
      try await live.heard(of: "g", by: [speaker] + listeners)
      for listener in listeners {
        let heard = await listener.events.map { $0["params"]["message"]["text"].string ?? $0["params"]["opt"].string ?? "\($0)" }
        #expect(heard == expected)
      }
      #expect(await speaker.events == [], "the session that asks hears of neither")
    }
  }
}
