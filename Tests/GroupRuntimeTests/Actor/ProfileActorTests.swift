import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// Profiles in events and answers of a group's actor (Protocol.md, "Profiles").
@Suite struct ProfileActorTests {
  private let gate = ProfileGate()

  private func scene(store: InMemoryStore = InMemoryStore()) async throws -> ActorScene {
    for user in ["olga", "mary", "oscar"] as [UserID] {
      gate.set(.make(nickName: "The " + user.rawValue, faceURL: ""), of: user)
    }
    let scene = ActorScene(store: store, profileStore: gate)
    try await scene.makeGroup()
    return scene
  }

  @Test func anEventWaitsForItsProfilesAndTheLaterOnesForIt() async throws {
    let scene = try await scene()
    gate.hold()
    let joined = try scene.begin("joinGroup", by: "oscar")
    try await gate.arrival(1)
    let sent = try scene.begin("sendGroupTextMessage", #"{"text":"x"}"#, by: "adam")
    let option = try scene.begin("setGroupReceiveMessageOpt", #"{"opt":"NotReceive"}"#, by: "mary")
    try await scene.wait { scene.store.allMessages(of: "g").count == 2 && scene.store.pendingCount == 0 }
    #expect(scene.events("olga").isEmpty && !joined.isAnswered && !sent.isAnswered && !option.isAnswered)
    gate.release()
    for pending in [joined, sent, option] { #expect(try await pending.answer().code == 0) }
    #expect(scene.events("olga") == ["onMemberEnter", "onRecvNewMessage"])
  }

  @Test func anEventShowsEveryMembersProfileAndTheOperators() async throws {
    let scene = try await scene()
    try await scene.ask("kickGroupMember", #"{"userIDList":["mary","adam"]}"#, by: "olga")
    let event = try #require(try scene.params("onMemberKicked", to: "olga").first)
    #expect(
      event["memberList"] == [
        ["userID": "mary", "nickName": "The mary", "nameCard": "", "role": "Member"],
        ["userID": "adam", "nameCard": "", "role": "Admin"],
      ])
    #expect(event["opUser"]["nickName"] == "The olga")
    let reads = gate.reads.count
    try await scene.ask("joinGroup", by: "mary")
    #expect(try scene.params("onMemberEnter", to: "olga")[0]["memberList"][0]["nickName"] == "The mary")
    #expect(gate.reads.count == reads, "it was in memory")
  }

  @Test func aReportKeepsTheProfileOfTheMessagesSender() async throws {
    let scene = try await scene()
    let sent = try await scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga")
    let seq = try #require(sent.result["seq"].integer)
    let made = try await scene.ask("reportMessage", #"{"seq":\#(seq)}"#, by: "mary")
    let id = try #require(made.result["reportID"].string)
    let found = try await scene.store.report(id)
    let report = try #require(found).report
    #expect(try JSON(report.message)["nickName"] == "The olga" && report.reporter == "mary")
    gate.fail(with: StoreError(.unavailable, "test"))
    let other = try await scene.ask("sendGroupTextMessage", #"{"text":"y"}"#, by: "adam")
    let second = try #require(other.result["seq"].integer)
    #expect(try await scene.ask("reportMessage", #"{"seq":\#(second)}"#, by: "mary").code == 10002, "nothing is kept without it")
  }

  @Test func whereTheStoreFailsTheEventComesWithoutThem() async throws {
    let scene = try await scene()
    gate.fail(with: StoreError(.unavailable, "test"))
    #expect(try await scene.ask("joinGroup", by: "oscar").code == 0)
    let event = try #require(try scene.params("onMemberEnter", to: "olga").first)
    #expect(event["memberList"] == [["userID": "oscar", "nameCard": "", "role": "Member"]])
    #expect(scene.observer.failures.count == 1)
  }

  /// The joining is durable, the message is not.
  @Test func aFailedCommitBehindAWaitingEventTakesNothingFromIt() async throws {
    let scene = try await scene()
    gate.hold()
    let joined = try scene.begin("joinGroup", by: "oscar")
    try await gate.arrival(1)
    try await scene.wait { scene.store.pendingCount == 0 && scene.store.allMessages(of: "g").count == 1 }
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    let sent = try scene.begin("sendGroupTextMessage", #"{"text":"lost"}"#, by: "adam")
    #expect(try await sent.answer().code == 10002)
    #expect(try await joined.answer().code == 0)
    #expect(scene.events("olga") == ["onMemberEnter"])
    gate.release()
    scene.store.fail(with: nil)
    #expect(try await scene.ask("joinGroup", by: "oscar").code == 10013, "loaded again, with the member")
    #expect(joined.count == 1 && sent.count == 1)
  }

  @Test func aMessageLooksNothingUp() async throws {
    let scene = try await scene()
    let reads = gate.reads.count
    for name in ["olga", "mary", "adam"] { try await scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: name) }
    #expect(gate.reads.count == reads)
  }

  // MARK: Answers

  @Test func aPageOfMembersIsOneQuery() async throws {
    let scene = ActorScene(profileStore: gate)
    let names = (0..<50).map { "u\($0)" }
    for name in names { gate.set(.make(nickName: "", faceURL: name), of: UserID(stringLiteral: name)) }
    let list = names.map { #"{"userID":"\#($0)"}"# }.joined(separator: ",")
    try await scene.ask("createGroup", #"{"groupType":"Public","groupName":"n","memberList":[\#(list)]}"#, by: "olga")
    #expect(gate.reads.isEmpty, "its event names nobody")
    let page = try await scene.ask("getGroupMemberList", by: "olga").result["memberList"].elements
    #expect(page.count == 50 && gate.reads.count == 1)
    #expect(page.dropFirst().allSatisfy { $0["faceURL"] == $0["userID"] && $0["nickName"] == JSON.null })
    let infos = try await scene.ask("getGroupMembersInfo", #"{"userIDList":["u0","u1"]}"#, by: "olga").result["memberList"]
    #expect(infos.elements.map { $0["faceURL"] } == ["u0", "u1"] && gate.reads.count == 1)
  }

  /// "A page ends where it would be over half of limits.sendQueueBytes": the profiles are part of it.
  @Test func aPageOfMembersEndsWhereItsProfilesWouldNotFit() async throws {
    var limits = GroupLimits.standard
    limits.pageBytes = 10_000
    let scene = ActorScene(profileStore: gate, limits: limits)
    let names = (0..<60).map { "u\($0)" }
    // Each byte is six of the answer.
    let longest = String(repeating: "\u{1}", count: 500)
    for name in names { gate.set(.make(nickName: "", faceURL: longest), of: UserID(stringLiteral: name)) }
    let list = names.map { #"{"userID":"\#($0)"}"# }.joined(separator: ",")
    try await scene.ask("createGroup", #"{"groupType":"Public","groupName":"n","memberList":[\#(list)]}"#, by: "olga")
    var listed: [String] = []
    var next: Int64 = 0
    repeat {
      let page = try await scene.ask("getGroupMemberList", #"{"count":200,"nextSeq":\#(next)}"#, by: "olga").result
      let members = page["memberList"].elements
      #expect((1...4).contains(members.count))
      listed += members.compactMap { $0["userID"].string }
      next = try #require(page["nextSeq"].integer)
    } while next != 0
    #expect(listed.sorted() == (names + ["olga"]).sorted())
  }

  @Test func aPageOfMessagesIsOneQueryAndShowsTheProfilesOfNow() async throws {
    let scene = try await scene()
    for number in 0..<99 {
      try await scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: ["olga", "adam", "mary"][number % 3])
    }
    try await scene.ask("joinGroup", by: "oscar")
    gate.set(.make(nickName: "Later", faceURL: "f"), of: "mary")
    scene.profiles.didChange(.make(nickName: "Later", faceURL: "f"), of: "mary")
    let reads = gate.reads.count
    let page = try await scene.ask("getGroupHistoryMessageList", #"{"count":100}"#, by: "olga").result["messageList"].elements
    #expect(page.count == 100 && gate.reads.count <= reads + 1)
    let senders = Dictionary(grouping: page) { $0["sender"].string ?? "" }
    #expect(senders["mary"]?.allSatisfy { $0["nickName"] == "Later" && $0["faceURL"] == "f" } == true)
    #expect(senders["adam"]?.allSatisfy { $0["nickName"] == .null && $0["faceURL"] == .null } == true)
    let tip = try #require(senders["oscar"]?.first)
    #expect(tip["nickName"] == "The oscar" && tip["tips"]["opUser"]["nickName"] == "The oscar")
    #expect(tip["tips"]["memberList"][0]["nickName"] == "The oscar" && tip["tips"]["memberList"][0]["role"] == "Member")
    let info = try await scene.ask("info", by: "mary").result["lastMessage"]
    #expect(info["nickName"] == "The oscar" && info["tips"]["opUser"]["nickName"] == "The oscar")
  }
}
