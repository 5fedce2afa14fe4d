import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// getGroupHistoryMessageList.
@Suite struct HistoryTests {
  private func scene(_ type: GroupType = .public, messages: Int) throws -> Scene {
    let scene = try Scene(type) { $0.joinMode = .any }
    for number in 1...messages { try scene.ask("sendGroupTextMessage", #"{"text":"\#(number)"}"#, by: "mary") }
    return scene
  }

  private func page(_ scene: Scene, _ params: String, by user: String = "mary") throws -> (seqs: [Int64], isFinished: Bool) {
    let result = try scene.ask("getGroupHistoryMessageList", params, by: user).result
    return (result["messageList"].elements.compactMap { $0["seq"].integer }, result["isFinished"] == true)
  }

  @Test(
    arguments: [
      (#"{}"#, Array((11...30).reversed()), false), (#"{"count":30}"#, Array((1...30).reversed()), true),
      (#"{"count":29}"#, Array((2...30).reversed()), false),
      (#"{"count":100}"#, Array((1...30).reversed()), true), (#"{"count":1}"#, [30], false),
      (#"{"fromSeq":30,"count":1}"#, [29], false),
      (#"{"fromSeq":2}"#, [1], true), (#"{"fromSeq":1}"#, [], true), (#"{"fromSeq":31,"count":1}"#, [30], false),
      (#"{"fromSeq":9007199254740992,"count":1}"#, [30], false),
      (#"{"fromSeq":4,"count":3}"#, [3, 2, 1], true), (#"{"fromSeq":5,"count":3}"#, [4, 3, 2], false),
      (#"{"direction":"Newer","count":3}"#, [1, 2, 3], false),
      (#"{"direction":"Newer","fromSeq":0,"count":30}"#, Array(1...30), true),
      (#"{"direction":"Newer","fromSeq":28,"count":3}"#, [29, 30], true),
      (#"{"direction":"Newer","fromSeq":27,"count":3}"#, [28, 29, 30], true),
      (#"{"direction":"Newer","fromSeq":26,"count":3}"#, [27, 28, 29], false), (#"{"direction":"Newer","fromSeq":30}"#, [], true),
      (#"{"direction":"Newer","fromSeq":9007199254740992}"#, [], true),
    ] as [(String, [Int64], Bool)])
  func aPageIsTheWindowBehindAnExclusiveSeq(params: String, seqs: [Int64], isFinished: Bool) throws {
    let found = try page(try scene(messages: 30), params)
    #expect(found.seqs == seqs && found.isFinished == isFinished)
  }

  @Test func pagesInEitherDirectionMissNothingAndRepeatNothing() throws {
    let scene = try scene(messages: 25)
    for (direction, expected) in [("Older", Array((1...25).reversed())), ("Newer", Array(1...25))] as [(String, [Int64])] {
      var all: [Int64] = []
      var isFinished = false
      while !isFinished {
        let next = try page(scene, #"{"direction":"\#(direction)","count":7,"fromSeq":\#(all.last ?? 0)}"#)
        all += next.seqs
        isFinished = next.isFinished
      }
      #expect(all == expected)
    }
  }

  @Test func anEmptyHistoryIsFinished() throws {
    for direction in ["Older", "Newer"] {
      let found = try page(try Scene(.public), #"{"direction":"\#(direction)"}"#)
      #expect(found.seqs.isEmpty && found.isFinished)
    }
  }

  @Test func aJoinersHistoryBeginsWithTheOwnJoinTip() throws {
    let scene = try scene(messages: 5)
    try scene.ask("joinGroup", by: "oscar")
    try scene.ask("sendGroupTextMessage", #"{"text":"after"}"#, by: "mary")
    #expect(try page(scene, "{}", by: "oscar") == ([7, 6], true))
    #expect(try page(scene, #"{"direction":"Newer","count":1}"#, by: "oscar") == ([6], false))
    #expect(try page(scene, #"{"fromSeq":6}"#, by: "oscar") == ([], true))
    #expect(try page(scene, #"{"direction":"Newer","fromSeq":2}"#, by: "oscar") == ([6, 7], true))
    #expect(try page(scene, "{}", by: "mary").seqs.count == 7)
  }

  @Test func inAMeetingAJoinerReadsEarlierMessages() throws {
    let scene = try scene(.meeting, messages: 5)
    try scene.ask("joinGroup", by: "oscar")
    #expect(try page(scene, "{}", by: "oscar") == ([5, 4, 3, 2, 1], true))
  }

  @Test func messagesOfAnAbsenceStayHidden() throws {
    let scene = try scene(messages: 1)
    try scene.ask("joinGroup", by: "oscar")  // 2
    try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")  // 3
    try scene.ask("quitGroup", by: "oscar")  // 4
    try scene.ask("sendGroupTextMessage", #"{"text":"away"}"#, by: "mary")  // 5
    try scene.ask("joinGroup", by: "oscar")  // 6
    #expect(try page(scene, "{}", by: "oscar") == ([6, 3, 2], true))
    #expect(try page(scene, #"{"count":2}"#, by: "oscar") == ([6, 3], false))
    #expect(try page(scene, #"{"direction":"Newer","fromSeq":2}"#, by: "oscar") == ([3, 6], true))
    let row = try scene.ask("sync", #"{"epoch":"e","seq":3}"#, by: "oscar").result
    #expect(row["messageList"].elements.map { $0["seq"] } == [6] && row["recovered"] == true)
  }

  @Test func anInitialMemberReadsFromTheBeginning() throws {
    let scene = Scene()
    try scene.ask("createGroup", #"{"groupType":"Work","groupName":"n","memberList":[{"userID":"mary"}]}"#, by: "olga")
    try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga")
    #expect(try page(scene, "{}") == ([1], true))
  }

  @Test func onlyMembersReadAndLiveRoomsHaveNoHistory() throws {
    for type in GroupType.allCases {
      #expect(try Scene(type).ask("getGroupHistoryMessageList", by: "oscar").code == 10007, "\(type)")
      let member = try Scene(type).ask("getGroupHistoryMessageList", by: "olga").code
      #expect(member == (type.storesMessages ? 0 : 10007), "\(type)")
      let administrator = try Scene(type).ask("getGroupHistoryMessageList", by: "administrator").code
      #expect(administrator == (type.storesMessages ? 0 : 10007), "\(type)")
    }
  }
}
