import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// Conversations with a store that is slow or fails, and sessions that come and go.
@Suite(.timeLimit(.minutes(10))) struct ConversationActorTests {
  private let scene: ActorScene

  /// A Public group with a message of olga's at seq 1; mary has two sessions.
  init() async throws {
    scene = ActorScene()
    scene.signIn("mary", as: "mary/2")
    try await scene.makeGroup()
    try await scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga")
    forget()
  }

  private func forget() { for name in ["olga", "adam", "mary", "mary/2"] { _ = scene.events(name) } }

  private func chosen() async throws -> JSON { try await scene.ask("info", by: "mary").result["selfInfo"] }

  @Test func aMessageThatIsNotStoredEndsNothing() async throws {
    try await scene.ask("setConversation", #"{"isHidden":true}"#, by: "mary")
    forget()
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    #expect(try await scene.ask("sendGroupTextMessage", #"{"text":"lost"}"#, by: "olga").code == 10002)
    for name in ["mary", "mary/2"] { #expect(scene.events(name).isEmpty) }
    scene.store.fail(with: nil)
    #expect(try await chosen()["isHidden"] == true)
    try await scene.ask("sendGroupTextMessage", #"{"text":"kept"}"#, by: "olga")
    for name in ["mary", "mary/2"] { #expect(scene.events(name) == ["onRecvNewMessage", "onConversationChanged"]) }
    #expect(try await chosen()["isHidden"] == .null)
  }

  /// The message itself is not stored; what it ends is.
  @Test func aMentionForThoseOnlineWaitsForTheDiskWhereItEndsIsHidden() async throws {
    try await scene.ask("setConversation", #"{"isHidden":true}"#, by: "mary")
    forget()
    let mention = #"{"text":"x","onlineUserOnly":true,"atUserIDList":["mary"]}"#
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    #expect(try await scene.ask("sendGroupTextMessage", mention, by: "olga").code == 10002)
    for name in ["adam", "mary", "mary/2"] { #expect(scene.events(name).isEmpty, "\(name)") }
    scene.store.fail(with: nil)
    #expect(try await chosen()["isHidden"] == true)
    scene.store.hold()
    let pending = try scene.begin("sendGroupTextMessage", mention, by: "olga")
    try await scene.wait { scene.store.pendingCount > 0 }
    #expect(!pending.isAnswered && scene.events("adam").isEmpty && scene.events("mary").isEmpty)
    scene.store.release()
    #expect(try await pending.answer().result["status"] == "Delivered")
    for name in ["mary", "mary/2"] { #expect(scene.events(name) == ["onRecvNewMessage", "onConversationChanged"]) }
    #expect(scene.events("adam") == ["onRecvNewMessage"])
    // Nobody has hidden the group now: the disk has nothing to do with it.
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    #expect(try await scene.ask("sendGroupTextMessage", mention, by: "olga").result["status"] == "Delivered")
    #expect(scene.events("mary") == ["onRecvNewMessage"])
  }

  @Test func aSettingThatIsNotStoredIsNone() async throws {
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    for (method, params) in [("setConversation", #"{"isPinned":true}"#), ("clearGroupHistory", "{}")] {
      #expect(try await scene.ask(method, params, by: "mary").code == 10002)
    }
    scene.store.fail(with: nil)
    #expect(scene.events("mary/2").isEmpty)
    #expect(try await chosen()["isPinned"] == .null)
    #expect(try await scene.ask("info", by: "mary").result["firstSeq"] == 1)
  }

  @Test func theEventWaitsForTheDisk() async throws {
    scene.store.hold()
    let pending = try scene.begin("clearGroupHistory", by: "mary")
    try await scene.wait { scene.store.pendingCount > 0 }
    #expect(!pending.isAnswered && scene.events("mary/2").isEmpty)
    scene.store.release()
    #expect(try await pending.answer().result == ["clearedSeq": 1] as JSON)
    #expect(scene.events("mary/2") == ["onConversationChanged"] && scene.events("mary").isEmpty)
  }

  /// What is decided behind the clearing sees nothing of what is cleared, though it is not stored yet.
  @Test func whatIsAskedBehindAClearingOnItsWayToTheDiskIsDecidedAfterIt() async throws {
    scene.store.hold()
    let cleared = try scene.begin("clearGroupHistory", by: "mary")
    let history = try scene.begin("getGroupHistoryMessageList", by: "mary")
    let reaction = try scene.begin("addMessageReaction", #"{"seq":1,"reaction":"r"}"#, by: "mary")
    let edit = try scene.begin("modifyGroupMessage", #"{"seq":1,"text":"y"}"#, by: "olga")
    scene.settle()
    scene.store.release()
    #expect(try await cleared.answer().code == 0)
    #expect(try await history.answer().result["messageList"] == [])
    #expect(try await reaction.answer().code == 10030)
    #expect(try await edit.answer().code == 0)
    #expect(scene.events("adam") == ["onRecvMessageModified"])
    #expect(scene.events("mary").isEmpty && scene.events("mary/2") == ["onConversationChanged"])
  }

  @Test func aGroupThatIsLoadedAgainSendsByTheOption() async throws {
    try await scene.ask("setGroupReceiveMessageOpt", #"{"opt":"NotifyFromManagers"}"#, by: "mary")
    scene.registry.retireGroups(unusedFor: .zero)
    scene.settle()
    forget()
    try await scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "adam")
    #expect(scene.events("mary") == ["onRecvNewMessage"] && scene.events("mary/2") == ["onRecvNewMessage"])
    let topic = try #require(scene.broker.topics(of: "g").last)
    #expect(topic.calls.contains(.attach("mary", receiving: .receive)))
    #expect(try await chosen()["receiveMessageOpt"] == "NotifyFromManagers")
  }

  @Test func aHiddenGroupThatIsLoadedAgainIsFoundByTheNextMessage() async throws {
    try await scene.ask("setConversation", #"{"isHidden":true}"#, by: "mary")
    scene.registry.retireGroups(unusedFor: .zero)
    scene.settle()
    forget()
    try await scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga")
    #expect(scene.events("mary") == ["onRecvNewMessage", "onConversationChanged"])
    try await scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga")
    #expect(scene.events("mary") == ["onRecvNewMessage"])
  }
}
