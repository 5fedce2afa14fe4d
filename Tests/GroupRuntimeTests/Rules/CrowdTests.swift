import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// Changes of a crowd, decided together (Protocol.md, "Crowds").
@Suite struct CrowdTests {
  private static let users = (0..<5).map { "u\($0)" }

  private func scene(maxMemberNum: Int? = nil) throws -> Scene {
    let scene = try Scene(.public, maxMemberNum: maxMemberNum) { $0.joinMode = .any }
    for user in CrowdTests.users { scene.signIn(user) }
    return scene
  }

  private typealias Change = (name: String, method: String, params: String)

  private func joins(_ names: [String]) -> [Change] { names.map { ($0, "joinGroup", "{}") } }

  private func quits(_ names: [String]) -> [Change] { names.map { ($0, "quitGroup", "{}") } }

  private func named(_ event: JSON) -> [String] { event["memberList"].elements.compactMap { $0["userID"].string } }

  @Test func joinsShareATipAndAnEvent() throws {
    let scene = try scene()
    let (outcome, codes) = try scene.askTogether(joins(CrowdTests.users))
    #expect(codes == [0, 0, 0, 0, 0])
    #expect(scene.messages.count == 1 && scene.state?.messages.lastSeq == 1)
    let tip = try #require(scene.messages.first?.tips)
    #expect(tip["type"] == "Join" && named(tip) == CrowdTests.users && tip["opUser"]["userID"] == "u0" && tip["memberCount"] == 9)
    // Everybody once, and nobody else.
    #expect(outcome.receivers(of: "onMemberEnter") == ["adam", "carl", "mary", "olga"] + CrowdTests.users)
    for session in ["olga", "carl", "u0", "u4"] {
      let event = try outcome.params("onMemberEnter", to: session)
      #expect(named(event) == CrowdTests.users && event["memberCount"] == 9 && event["seq"] == 1)
      #expect(event["platform"] == "Web" && event["msgID"] == .string(scene.messages[0].msgID))
    }
    for user in CrowdTests.users {
      let member = try #require(scene.state?.roster[UserID(stringLiteral: user)])
      #expect(member.firstVisibleSeq == 1 && member.readSeq == 1)
    }
  }

  @Test func whoMayNotJoinIsToldAndTheOthersJoin() throws {
    let scene = try scene(maxMemberNum: 7)
    try scene.ask("joinGroup", by: "u1")
    try scene.ask("kickGroupMember", #"{"userIDList":["u1"],"banTime":60}"#, by: "olga")
    let (outcome, codes) = try scene.askTogether(joins(["u0", "u1", "u0", "u2", "u3", "u4"]))
    #expect(codes == [0, 10007, 10013, 0, 0, 10014])
    #expect(try named(outcome.params("onMemberEnter", to: "olga")) == ["u0", "u2", "u3"])
    #expect(outcome.receivers(of: "onMemberEnter") == ["adam", "carl", "mary", "olga", "u0", "u2", "u3"])
  }

  @Test func quitsShareATipAndAnEvent() throws {
    let scene = try scene()
    let (outcome, codes) = try scene.askTogether(quits(["mary", "carl", "mary"]))
    #expect(codes == [0, 0, 10007])
    #expect(outcome.receivers(of: "onMemberLeave") == ["adam", "olga"])
    #expect(outcome.receivers(of: "onQuitFromGroup") == ["carl", "mary"])
    let event = try outcome.params("onMemberLeave", to: "olga")
    #expect(named(event) == ["mary", "carl"] && event["memberCount"] == 2 && event["seq"] == 1)
    let tip = try #require(scene.messages.first?.tips)
    #expect(tip["type"] == "Quit" && named(tip) == ["mary", "carl"] && scene.messages.count == 1)
  }

  @Test func editsShareATipAndAnEventWithTheLastStateOfEach() throws {
    let scene = try scene()
    func edit(_ name: String, _ card: String) -> (name: String, method: String, params: String) {
      (name, "setGroupMemberInfo", #"{"userID":"\#(name)","nameCard":"\#(card)"}"#)
    }
    let requests = [edit("mary", "a"), edit("carl", "b"), edit("mary", "c"), edit("adam", "")]
    let (outcome, codes) = try scene.askTogether(requests)
    #expect(codes == [0, 0, 0, 0])
    let event = try outcome.params("onGroupMemberInfoChanged", to: "olga")
    #expect(event["changeInfoList"] == [["userID": "mary", "nameCard": "c"], ["userID": "carl", "nameCard": "b"]])
    #expect(event["opUser"]["userID"] == "mary", "the last who has changed something")
    #expect(scene.messages.count == 1 && scene.state?.roster["mary"]?.nameCard == "c")
  }

  @Test func oneOfEachKindIsMadeOfAMixture() throws {
    let scene = try scene()
    let edit: Change = ("carl", "setGroupMemberInfo", #"{"userID":"carl","nameCard":"x"}"#)
    let (outcome, codes) = try scene.askTogether(joins(["u0"]) + quits(["mary"]) + [edit] + joins(["u1"]))
    #expect(codes == [0, 0, 0, 0])
    #expect(outcome.names("olga") == ["onMemberEnter", "onGroupMemberInfoChanged", "onMemberLeave"])
    #expect(scene.messages.count == 3)
  }

  @Test func someChangesStandAlone() throws {
    let scene = try scene()
    func change(_ name: String, _ method: String, _ params: String = "{}") throws -> CrowdRequest? {
      let caller = scene.caller(name)
      return scene.state?.crowdRequest(try groupRequest(method, params, by: caller), by: caller)
    }
    #expect(try change("olga", "quitGroup") == nil, "the owner's")
    #expect(try change("oscar", "quitGroup") == nil && change("mary", "joinGroup") == nil)
    #expect(try change("olga", "setGroupMemberInfo", #"{"userID":"mary","nameCard":"x"}"#) == nil)
    #expect(try change("olga", "setGroupMemberInfo", #"{"userID":"olga","muteUntil":0}"#) == nil)
    #expect(try change("mary", "sendGroupTextMessage", #"{"text":"x"}"#) == nil)
    #expect(try change("oscar", "joinGroup") != nil)
    try scene.ask("setGroupInfo", #"{"joinMode":"Auth"}"#, by: "olga")
    #expect(try change("oscar", "joinGroup") == nil, "an application")
    try scene.ask("setGroupInfo", #"{"memberChangeNotification":false}"#, by: "olga")
    #expect(try change("mary", "quitGroup") == nil, "nobody is told")
  }
}

extension Message {
  fileprivate var tips: JSON? { if case .tips(let text) = content { try? JSON(text) } else { nil } }
}
