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

/// Changes in the row of syncGroups (Protocol.md, "Reconnecting").
@Suite struct SyncOfChangesTests {
  private func row(_ scene: Scene, seq: Int, changeSeq: Int, by user: String = "mary") throws -> JSON {
    try scene.ask("sync", #"{"epoch":"e","seq":\#(seq),"changeSeq":\#(changeSeq)}"#, by: user).result
  }

  private func seqs(_ list: JSON) -> [Int64] { list.elements.compactMap { $0["seq"].integer } }

  /// A group with messages, of which some are edited, in that order.
  private func scene(messages: Int, edited: [Int]) throws -> Scene {
    let scene = try Scene(.public) { $0.joinMode = .any }
    for _ in 0..<messages { try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary") }
    for (number, seq) in edited.enumerated() {
      scene.clocks.advance(by: 60)
      try scene.ask("modifyGroupMessage", #"{"seq":\#(seq),"text":"edit \#(number)"}"#, by: "mary")
    }
    return scene
  }

  @Test func changesSinceComeOnceInTheirOrderAsTheyAreNow() throws {
    let scene = try scene(messages: 5, edited: [3, 1, 5, 3])
    let row = try row(scene, seq: 4, changeSeq: 0)
    #expect(seqs(row["changeList"]) == [1, 3] && row["changeSeq"] == 4 && row["recovered"] == true)
    #expect(row["changeList"][1]["text"] == "edit 3")
    #expect(seqs(row["messageList"]) == [5], "what is not known yet comes as a message alone")
    #expect(seqs(try self.row(scene, seq: 5, changeSeq: 2)["changeList"]) == [5, 3])
    #expect(seqs(try self.row(scene, seq: 5, changeSeq: 4)["changeList"]) == [])
    let plain = try scene.ask("sync", #"{"epoch":"e","seq":4}"#, by: "mary").result
    #expect(plain["changeList"] == .null && plain["changeSeq"] == .null)
  }

  @Test func aChangeThatTheGroupNeverHadIsNotRecovered() throws {
    let scene = try scene(messages: 2, edited: [1])
    let row = try row(scene, seq: 2, changeSeq: 2)
    #expect(row["recovered"] == false && row["changeList"] == [] && row["messageList"] == [] && row["changeSeq"] == 1)
  }

  @Test func changesComeBeforeMessagesAndBothAreAHundredTogether() throws {
    let scene = try scene(messages: 260, edited: Array(1...130))
    var (seq, changeSeq) = (130, 0)
    var changes: [Int64] = []
    var messages: [Int64] = []
    var pages: [[Int]] = []
    while true {
      let row = try row(scene, seq: seq, changeSeq: changeSeq)
      changes += seqs(row["changeList"])
      messages += seqs(row["messageList"])
      pages.append([row["changeList"].elements.count, row["messageList"].elements.count])
      changeSeq = Int(try #require(row["changeSeq"].integer))
      seq = Int(messages.last ?? 130)
      if row["more"] == false { break }
    }
    #expect(pages == [[100, 0], [30, 70], [0, 60]])
    #expect(changes == Array(1...130) && messages == Array(131...260) && changeSeq == 130)
  }

  @Test func changesOfInvisibleMessagesAreLeftOut() throws {
    let scene = try scene(messages: 2, edited: [1])
    try scene.ask("joinGroup", by: "oscar")
    try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    scene.clocks.advance(by: 60)
    try scene.ask("revokeGroupMessage", #"{"seq":4}"#, by: "mary")
    let row = try row(scene, seq: 4, changeSeq: 0, by: "oscar")
    #expect(seqs(row["changeList"]) == [4] && row["changeSeq"] == 2 && row["changeList"][0]["isRevoked"] == true)
  }
}
