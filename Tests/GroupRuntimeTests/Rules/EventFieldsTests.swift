import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit
import WireProtocol

/// The events of a group have exactly the fields that their descriptions name (`EventName.fields`).
@Suite struct EventFieldsTests {
  /// The params of all events of all sessions, by the name of the event.
  private typealias Found = [String: [JSON]]

  private func collect(_ outcome: Scene.Outcome, into found: inout Found) {
    #expect(outcome.code == 0)
    for event in outcome.events.values.joined() { found[event["method"].string ?? "?", default: []].append(event["params"]) }
  }

  /// Happenings of every kind, each in a group of its own.
  private static let happenings: [(type: GroupType, method: String, params: String, by: String)] = [
    (.public, "inviteUserToGroup", Scene.users(["oscar"]), "mary"), (.public, "kickGroupMember", Scene.users(["mary"]), "olga"),
    (.public, "setGroupMemberRole", #"{"userID":"mary","role":"Admin"}"#, "olga"),
    (.public, "setGroupMemberRole", #"{"userID":"adam","role":"Member"}"#, "olga"),
    (.public, "setGroupMemberInfo", #"{"userID":"mary","nameCard":"M"}"#, "mary"),
    (.avChatRoom, "muteGroupMember", #"{"userID":"mary","muteTime":5}"#, "olga"),
    (.public, "muteGroup", #"{"mode":"All"}"#, "olga"), (.avChatRoom, "setGroupInfo", #"{"groupName":"m"}"#, "olga"),
    (.public, "transferGroupOwner", #"{"userID":"mary","quit":true}"#, "olga"),
    (.avChatRoom, "quitGroup", "{}", "mary"), (.avChatRoom, "joinGroup", "{}", "oscar"), (.meeting, "joinGroup", "{}", "oscar"),
    (.public, "dismissGroup", "{}", "olga"), (.public, "recycleGroup", "{}", "administrator"),
    (.public, "joinGroup", "{}", "oscar"), (.avChatRoom, "initGroupAttributes", #"{"attributes":{"k":"v"}}"#, "mary"),
    (.work, "setGroupCounters", #"{"counters":{"k":1}}"#, "olga"),
    (.public, "setGroupReceiveMessageOpt", #"{"opt":"NotReceive"}"#, "mary"),
    (.public, "setConversation", #"{"isPinned":true,"isHidden":true,"isMarkedUnread":true,"marks":["m"]}"#, "mary"),
    (.public, "sendGroupTextMessage", #"{"text":"x"}"#, "olga"),
    (.avChatRoom, "sendGroupSignal", #"{"name":"typing","data":"x"}"#, "mary"),
    (.public, "sendGroupSystemNotification", #"{"content":"x"}"#, "administrator"),
  ]

  /// All events there are of groups.
  private func events() throws -> Found {
    var found: Found = [:]
    for (type, method, params, name) in EventFieldsTests.happenings {
      let scene = try Scene(type) { $0.inviteMode = .any }
      scene.signIn("mary", as: "mary/2")
      collect(try scene.ask(method, params, by: name), into: &found)
    }
    let scene = try Scene(.public) { policy in
      policy.inviteMode = .any
      policy.beInviteMode = .auth
    }
    scene.signIn("mary", as: "mary/2")
    let invitation = try scene.ask("inviteUserToGroup", Scene.users(["oscar"]), by: "mary")
    collect(invitation, into: &found)
    collect(try scene.decide(try invitation.application(), true, by: "oscar"), into: &found)
    collect(try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga"), into: &found)
    collect(try scene.ask("markGroupMessageAsRead", by: "mary"), into: &found)
    collect(try scene.ask("clearGroupHistory", by: "carl"), into: &found)
    collect(try scene.ask("modifyGroupMessage", #"{"seq":2,"text":"y"}"#, by: "olga"), into: &found)
    scene.clocks.advance(by: 1000)
    collect(try scene.ask("addMessageReaction", #"{"seq":2,"reaction":"r"}"#, by: "mary"), into: &found)
    for isPinned in [true, false] {
      collect(try scene.ask("pinGroupMessage", #"{"seq":2,"isPinned":\#(isPinned)}"#, by: "olga"), into: &found)
    }
    let confirmable = try scene.ask("sendGroupTextMessage", #"{"text":"x","needReadReceipt":true}"#, by: "olga")
    collect(confirmable, into: &found)
    let seqs = #"{"seqList":[\#(confirmable.result["seq"].integer ?? 0)]}"#
    collect(try scene.ask("sendMessageReadReceipts", seqs, by: "mary"), into: &found)
    collect(try scene.ask("revokeGroupMessage", #"{"seq":2}"#, by: "olga"), into: &found)
    collect(try Scene().ask("createGroup", #"{"groupType":"Work","groupName":"n"}"#, by: "olga"), into: &found)
    return found
  }

  /// Events that a session gets without a group, and those of the 40-messages rule.
  private static let ofNoGroup: Set<EventName> = [
    .onSelfInfoUpdated, .onUsersStatusChanged, .onConnectSuccess, .onKickedOffline, .onUserSigExpired, .onServerDraining,
    .onMessageDropped,
  ]

  @Test func everyEventHasExactlyItsDeclaredFields() throws {
    let found = try events()
    for name in EventName.allCases where !EventFieldsTests.ofNoGroup.contains(name) {
      let needed = Set(name.fields.filter { !$0.isOptional }.map(\.name))
      let allowed = Set(name.fields.map(\.name))
      let events = try #require(found[name.rawValue], "\(name)")
      for event in events {
        #expect(needed.isSubset(of: event.names) && allowed.isSuperset(of: event.names), "\(name): \(event.names)")
        #expect(event["groupID"] == "g")
      }
    }
    #expect(Set(found.keys).isSubset(of: EventName.allCases.map(\.rawValue)))
  }

  /// "The operator's platform in every event that an operator caused."
  @Test func eventsNameThePlatform() throws {
    let without: Set<EventName> = [
      .onReceiveMessageOptChanged, .onGroupApplicationListChanged, .onGroupAttributeChanged, .onGroupCounterChanged,
      .onRecvNewMessage, .onRecvMessageModified, .onRecvMessageReadReceipts, .onConversationRead, .onConversationChanged,
      .onGroupSignal,
    ]
    for (name, events) in try events() where !without.map(\.rawValue).contains(name) {
      for event in events { #expect(["Web", "RESTful API"].contains(event["platform"]), "\(name)") }
    }
  }

  @Test func eventsNameTheOperatorAndThePlatform() throws {
    for (name, events) in try events() {
      for event in events where event.names.contains("opUser") || event.names.contains("platform") {
        let isApplication = event["opUser"] == Person.administrator || name == EventName.onReceiveRESTCustomData.rawValue
        #expect(event["platform"] == (isApplication ? "RESTful API" : "Web"), "\(name)")
        guard !isApplication, event["opUser"] != .null else { continue }
        #expect(event["opUser"].names == ["nameCard", "role", "userID"], "\(name)")
      }
    }
  }
}
