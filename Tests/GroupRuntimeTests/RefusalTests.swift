import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// A refused request changes nothing, stores nothing and tells nobody, whoever asks whatever of whichever type.
@Suite struct RefusalTests {
  private static let requests: [(String, String)] = [
    ("createGroup", #"{"groupType":"Work","groupName":"n","groupID":"g"}"#), ("joinGroup", "{}"), ("quitGroup", "{}"),
    ("dismissGroup", "{}"), ("info", "{}"),
    ("setGroupInfo", #"{"groupName":"a","customInfo":{"k":"v"},"allMuted":true}"#),
    ("setGroupInfo", #"{"introduction":"a","maxMemberNum":1}"#),
    ("setGroupInfo", #"{"faceURL":"a","joinMode":"Forbid","inviteMode":"Any"}"#),
    ("setGroupInfo", #"{"notification":"a","maxMemberNum":7000}"#),
    ("getGroupMemberList", "{}"), ("getGroupMembersInfo", #"{"userIDList":["olga"]}"#), ("getGroupOnlineMemberCount", "{}"),
    ("sendGroupTextMessage", #"{"text":"x","clientMsgID":"c","atUserIDList":["@all"]}"#),
    ("sendGroupCustomMessage", #"{"data":"x","clientMsgID":"c"}"#),
    ("getGroupHistoryMessageList", "{}"), ("sync", #"{"epoch":"e","seq":0}"#),
  ]

  @Test(arguments: GroupType.allCases)
  func aRefusalLeavesNoTrace(type: GroupType) throws {
    var refused = 0
    for name in DismissGroupTests.callers {
      for (method, params) in RefusalTests.requests {
        let scene = try Scene(type, maxMemberNum: type.limitsMembers ? 4 : 0) { $0.isMemberVisible = false }
        scene.state?.record.mute = GroupMute(mode: .ordinary)
        let before = scene.fingerprint
        let outcome = try scene.ask(method, params, by: name)
        guard outcome.code != 0 else { continue }
        refused += 1
        #expect(
          outcome.events.isEmpty && outcome.decision.effects.isEmpty && outcome.decision.changes.isEmpty, "\(method) by \(name)")
        #expect(outcome.decision.delivered == nil && !outcome.decision.disbands, "\(method) by \(name)")
        #expect(scene.fingerprint == before, "\(method) by \(name)")
      }
    }
    #expect(refused > 20)
  }

  @Test func aQuestionChangesNothingEither() throws {
    let scene = try Scene(.public)
    try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    let before = scene.fingerprint
    for (method, params) in RefusalTests.requests where ["info", "sync"].contains(method) || method.hasPrefix("get") {
      let outcome = try scene.ask(method, params, by: "mary")
      #expect(
        outcome.code == 0 && outcome.events.isEmpty && outcome.decision.changes.isEmpty && scene.fingerprint == before,
        "\(method)")
    }
  }
}
