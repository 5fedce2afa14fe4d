import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// The row of syncGroups: "every message after seq that I may see, none missing, or recovered:false
/// and none" (Protocol.md, "Reconnecting").
@Suite struct SyncTests {
  private func row(_ scene: Scene, epoch: String = "e", seq: Int, by user: String = "mary") throws -> JSON {
    try scene.ask("sync", #"{"epoch":"\#(epoch)","seq":\#(seq)}"#, by: user).result
  }

  private func seqs(_ row: JSON) -> [Int64] { row["messageList"].elements.compactMap { $0["seq"].integer } }

  private func scene(messages: Int) throws -> Scene {
    let scene = try Scene(.public) { $0.joinMode = .any }
    for _ in 0..<messages { try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary") }
    return scene
  }

  @Test func messagesAfterThePositionComeAscending() throws {
    let scene = try scene(messages: 5)
    for seq in 0...5 {
      let row = try row(scene, seq: seq)
      #expect(seqs(row) == Array(Int64(seq + 1)..<6))
      #expect(row["recovered"] == true && row["more"] == false && row["lastSeq"] == 5 && row["epoch"] == "e")
    }
  }

  @Test func aRowHasAHundredMessagesAndSaysThatThereAreMore() throws {
    let scene = try scene(messages: 201)
    for (seq, expected, more) in [(0, 1...100, true), (100, 101...200, true), (101, 102...201, false), (200, 201...201, false)]
      as [(Int, ClosedRange<Int64>, JSON)]
    {
      let row = try row(scene, seq: seq)
      #expect(seqs(row) == Array(expected) && row["more"] == more)
    }
  }

  @Test func anotherEpochOrAFutureSeqIsNotRecovered() throws {
    let scene = try scene(messages: 3)
    for (epoch, seq) in [("other", 0), ("other", 3), ("", 1), ("e", 4), ("e", 1 << 53)] {
      let row = try row(scene, epoch: epoch, seq: seq)
      #expect(row["recovered"] == false && row["messageList"] == [] && row["more"] == false)
      #expect(row["epoch"] == "e" && row["lastSeq"] == 3)
    }
  }

  @Test func invisibleMessagesAreNotMissing() throws {
    let scene = try scene(messages: 3)
    try scene.ask("joinGroup", by: "oscar")
    try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    for seq in 0...4 { #expect(seqs(try row(scene, seq: seq, by: "oscar")) == Array(Int64(max(4, seq + 1))..<6)) }
  }

  @Test func aLiveRoomIsNeverRecovered() throws {
    for type in [GroupType.avChatRoom, .bChatRoom] {
      let row = try row(try Scene(type), seq: 0, by: "olga")
      #expect(row["recovered"] == false && row["messageList"] == [] && row["lastSeq"] == 0)
    }
  }

  @Test func anOutsiderIsRefused() throws {
    for type in GroupType.allCases where !type.everyoneIsMember {
      #expect(try Scene(type).ask("sync", #"{"epoch":"e","seq":0}"#, by: "oscar").code == 10007)
    }
  }
}
