import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// "The same clientMsgID from the same user to the same group within 5 minutes answers the first
/// result again and delivers nothing twice."
@Suite struct ClientMessageIDTests {
  private let marked = #"{"text":"x","clientMsgID":"c"}"#

  @Test(arguments: [GroupType.public, .avChatRoom])
  func aRepeatedSendReturnsTheFirstReceiptAndDeliversNothing(type: GroupType) throws {
    let scene = try Scene(type)
    let first = try scene.ask("sendGroupTextMessage", marked, by: "mary")
    #expect(try first.params("onRecvNewMessage", to: "olga")["message"]["clientMsgID"] == "c")
    scene.clocks.advance(by: 299_999)
    let before = scene.fingerprint
    let again = try scene.ask("sendGroupCustomMessage", #"{"data":"other","clientMsgID":"c","priority":"High"}"#, by: "mary/2")
    #expect(again.result == first.result)
    #expect(
      again.events.isEmpty && again.decision.changes.isEmpty && again.decision.counts.isEmpty && scene.fingerprint == before)
  }

  @Test(arguments: [GroupType.public, .avChatRoom])
  func afterFiveMinutesItIsANewMessage(type: GroupType) throws {
    let scene = try Scene(type)
    let first = try scene.ask("sendGroupTextMessage", marked, by: "mary")
    scene.clocks.advance(by: 300_000)
    let second = try scene.ask("sendGroupTextMessage", marked, by: "mary")
    #expect(second.result["msgID"] != first.result["msgID"])
    #expect(second.receivers(of: "onRecvNewMessage") == ["adam", "carl", "olga"])
    scene.clocks.advance(by: 299_999)
    #expect(try scene.ask("sendGroupTextMessage", marked, by: "mary").result == second.result, "the second counts from itself")
  }

  @Test func anotherUserOrClientMsgIDIsAnotherMessage() throws {
    let scene = try Scene(.public)
    #expect(try scene.ask("sendGroupTextMessage", marked, by: "mary").result["seq"] == 1)
    #expect(try scene.ask("sendGroupTextMessage", marked, by: "carl").result["seq"] == 2)
    #expect(try scene.ask("sendGroupTextMessage", #"{"text":"x","clientMsgID":"C"}"#, by: "mary").result["seq"] == 3)
    #expect(try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary").result["seq"] == 4)
    #expect(try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary").result["seq"] == 5)
  }

  @Test func errorsAreNotRemembered() throws {
    let scene = try Scene(.public)
    try scene.ask("setGroupInfo", #"{"allMuted":true}"#, by: "olga")
    #expect(try scene.ask("sendGroupTextMessage", marked, by: "mary").code == 10017)
    try scene.ask("setGroupInfo", #"{"allMuted":false}"#, by: "olga")
    #expect(try scene.ask("sendGroupTextMessage", marked, by: "mary").result["status"] == "Stored")
    try scene.ask("setGroupInfo", #"{"allMuted":true}"#, by: "olga")
    #expect(try scene.ask("sendGroupTextMessage", marked, by: "mary").result["status"] == "Stored", "muted since, answered again")
  }

  @Test func storedMessagesAreRememberedAcrossARestart() async throws {
    let scene = try Scene(.public)
    let first = try scene.ask("sendGroupTextMessage", marked, by: "mary")
    try scene.ask("sendGroupTextMessage", #"{"text":"later"}"#, by: "mary")
    let stored = try #require(
      try await scene.store.group("g", sentSince: scene.clocks.wall - RecentlySent.retentionMilliseconds, at: 0, mostFormer: .max)
    )
    scene.state = GroupState(stored, at: scene.clocks.now, rules: scene.rules)
    #expect(try scene.ask("sendGroupTextMessage", marked, by: "mary").result == first.result)
    #expect(try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary").result["seq"] == 3)
  }

  @Test func expiredReceiptsAreForgottenEvenIfTheClockWasSetBack() throws {
    let scene = try Scene(.avChatRoom)
    let send = { (mark: String) in try scene.ask("sendGroupTextMessage", #"{"text":"x","clientMsgID":"\#(mark)"}"#, by: "mary") }
    try _ = send("a")
    scene.clocks.moveWall(by: -1_000_000)
    for clientMsgID in ["b", "c"] { try _ = send(clientMsgID) }
    scene.clocks.advance(by: 300_001)
    try _ = send("b")
    scene.clocks.advance(by: 2_000_000)
    try _ = send("d")
    let messages = try #require(scene.state).messages
    #expect(messages.receiptCount == 1, "only the last receipt is kept")
  }
}
