import GroupModel
import Testing
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// A refused request changes and stores nothing and sends no event, for every caller, method and
/// type.
@Suite struct RefusalTests {
  private static let requests: [(method: String, params: String)] = [
    ("createGroup", #"{"groupType":"Work","groupName":"n","groupID":"g"}"#), ("joinGroup", "{}"), ("quitGroup", "{}"),
    ("dismissGroup", "{}"), ("info", "{}"),
    ("setGroupInfo", #"{"groupName":"a","customInfo":{"k":"v"},"allMuted":true}"#),
    ("setGroupInfo", #"{"introduction":"a","maxMemberNum":1}"#),
    ("setGroupInfo", #"{"faceURL":"a","joinMode":"Forbid","inviteMode":"Any"}"#),
    ("setGroupInfo", #"{"notification":"a","maxMemberNum":7000}"#),
    ("inviteUserToGroup", #"{"userIDList":["oscar","petra"]}"#), ("kickGroupMember", #"{"userIDList":["mary"],"banTime":9}"#),
    ("transferGroupOwner", #"{"userID":"mary"}"#), ("transferGroupOwner", #"{"userID":"adam","quit":true}"#),
    ("setGroupMemberRole", #"{"userID":"mary","role":"Admin"}"#), ("setGroupMemberRole", #"{"userID":"adam","role":"300"}"#),
    ("setGroupMemberInfo", #"{"userID":"mary","nameCard":"x","role":"300"}"#),
    ("setGroupMemberInfo", #"{"userID":"carl","customInfo":{"k":"v"},"muteUntil":9999999999999}"#),
    ("muteGroupMember", #"{"userID":"mary","muteTime":60}"#), ("muteGroup", #"{"mode":"Custom","roles":["200"]}"#),
    ("setGroupReceiveMessageOpt", #"{"opt":"NotReceive"}"#),
    ("setConversation", #"{"isPinned":true,"isHidden":true,"isMarkedUnread":true,"marks":["m"]}"#), ("clearGroupHistory", "{}"),
    ("initGroupAttributes", #"{"attributes":{"k":"v"}}"#), ("setGroupAttributes", #"{"attributes":{"k":"v"}}"#),
    ("deleteGroupAttributes", #"{"keys":["unknown"]}"#),
    ("setGroupCounters", #"{"counters":{"k":1}}"#), ("increaseGroupCounter", #"{"key":"k","value":1}"#),
    ("decreaseGroupCounter", #"{"key":"k","value":1}"#),
    ("getGroupAttributes", "{}"), ("revokeGroupMessage", #"{"seq":1}"#), ("revokeGroupMessage", #"{"seq":9}"#),
    ("modifyGroupMessage", #"{"seq":1,"text":"x"}"#), ("pinGroupMessage", #"{"seq":1,"isPinned":true}"#),
    ("addMessageReaction", #"{"seq":1,"reaction":"r"}"#), ("removeMessageReaction", #"{"seq":1,"reaction":"r"}"#),
    ("reportMessage", #"{"seq":1}"#), ("reportMessage", #"{"msgID":"m"}"#),
    ("sendMessageReadReceipts", #"{"seqList":[1]}"#), ("unbanGroupMember", #"{"userIDList":["oscar"]}"#),
    ("markGroupMessageAsRead", "{}"), ("unreadCount", "{}"),
    ("getGroupMemberList", "{}"), ("getGroupMembersInfo", #"{"userIDList":["olga"]}"#), ("getGroupMutedMembers", "{}"),
    ("getGroupMemberInviters", #"{"userIDList":["olga"]}"#), ("getGroupMemberRoles", #"{"userIDList":["olga"]}"#),
    ("getGroupOnlineMemberCount", "{}"),
    ("sendGroupTextMessage", #"{"text":"x","clientMsgID":"c","atUserIDList":["@all"]}"#),
    ("sendGroupCustomMessage", #"{"data":"x","clientMsgID":"c"}"#), ("sendGroupSignal", #"{"name":"typing"}"#),
    ("getGroupHistoryMessageList", "{}"), ("sync", #"{"epoch":"e","seq":0}"#),
    ("sendGroupSystemNotification", #"{"content":"c"}"#), ("recycleGroup", "{}"),
    ("importGroupMembers", #"{"memberList":[{"userID":"oscar"}]}"#),
    ("importGroupMessages", #"{"messageList":[{"sender":"mary","timestamp":1,"text":"t"}]}"#),
    ("setUnreadCount", #"{"userID":"oscar","unreadCount":1}"#),
  ]

  @Test func everyMethodOfAGroupThatWritesIsAmongThem() {
    let named = Set(RefusalTests.requests.map(\.method))
    for method in MethodTable().entries where method.writes && method.isOfGroup {
      #expect(named.contains(method.name), "\(method.name)")
    }
  }

  @Test(arguments: GroupType.allCases)
  func aRefusedRequestChangesNothing(type: GroupType) throws {
    var refused = 0
    for name in DismissGroupTests.callers {
      for (method, params) in RefusalTests.requests {
        let scene = try Scene(type, maxMemberNum: type.limitsMembers ? 4 : 0) { $0.isMemberVisible = false }
        scene.state?.record.mute = GroupMute(mode: .ordinary)
        let before = scene.fingerprint
        let outcome = try scene.ask(method, params, by: name)
        guard outcome.code != 0 else { continue }
        refused += 1
        scene.expectNothingDone(outcome, code: outcome.code, before: before, "\(method) \(params) by \(name)")
        #expect(outcome.decision.counts.isEmpty, "\(method) by \(name)")
      }
    }
    #expect(refused > 60)
  }

  @Test func aReadingRequestChangesNothing() throws {
    let scene = try Scene(.public)
    try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    let questions = RefusalTests.requests.filter { method, _ in
      ["info", "sync", "unreadCount"].contains(method) || method.hasPrefix("get") && method != "getGroupAttributes"
    }
    #expect(questions.count >= 10)
    let before = scene.fingerprint
    for (method, params) in questions {
      scene.expectNothingDone(try scene.ask(method, params, by: "mary"), code: 0, before: before, method)
    }
  }
}
