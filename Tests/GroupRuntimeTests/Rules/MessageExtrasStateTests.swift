import GroupModel
import Testing
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// What a group's state does with messages that have more than most, below the methods that send them.
@Suite struct MessageExtrasStateTests {
  private let excluded = MessageExtras(isExcludedFromLastMessage: true)

  private func stored(_ seq: Int64, _ extras: MessageExtras? = nil, at time: WallInstant) -> Message {
    var message = Message(
      msgID: "e-\(seq)", groupID: "g", seq: seq, sender: "olga", nameCard: "", timestamp: time, content: .text("\(seq)"),
      priority: .normal, clientMsgID: nil, platform: .web)
    message.extras = extras
    return message
  }

  /// Sends a message as a rule does that makes such ones.
  /// - Returns: what is stored.
  @discardableResult
  private func send(_ extras: MessageExtras?, in scene: Scene) throws -> [StoreChange] {
    var state = try #require(scene.state)
    let seq = state.messages.lastSeq + 1
    let message = stored(seq, extras, at: scene.clocks.wall)
    var turn = state.beginTurn(by: .administrator, at: scene.clocks.now)
    turn.store(.append(message))
    state.noteExtras(of: message, &turn)
    state.messages.append(message)
    scene.state = state
    let changes = turn.finish().changes
    try scene.commit(changes)
    return changes
  }

  @Test func theLastMessageIsTheNewestThatMayBeIt() async throws {
    let scene = try Scene(.public)
    try scene.ask("sendGroupTextMessage", #"{"text":"shown"}"#, by: "olga")
    let shown = try #require(scene.state?.messages.lastMessage)
    scene.clocks.advance(by: 5)
    let first = try send(excluded, in: scene)
    #expect(first.count == 2, "the record, with its new feature and its last message")
    let record = try #require(scene.state?.record)
    #expect(record.messageFeatures == .excluded && record.lastShownSeq == 1 && record.lastShownTime == shown.timestamp)
    #expect(try send(excluded, in: scene).count == 1, "nothing new is to be noted")
    for _ in 0..<2 {
      let history = try #require(scene.state?.messages)
      #expect(history.lastMessage == shown && history.lastTime == shown.timestamp)
      #expect(history.lastSeq == 3 && history.newestTime == scene.clocks.wall)
      try await scene.reload()
    }
    let info = try scene.ask("info", by: "mary").result
    #expect(info["lastMessage"]["seq"] == 1 && info["lastSeq"] == 3)
    // The next message is shown again, and what follows it is behind that one.
    try scene.ask("sendGroupTextMessage", #"{"text":"shown"}"#, by: "olga")
    #expect(scene.state?.messages.lastMessage?.seq == 4)
    let next = try send(MessageExtras(isExcludedFromLastMessage: true, toUserIDList: ["carl"]), in: scene)
    #expect(next.count == 2 && scene.state?.record.messageFeatures == .uncounted)
    #expect(try send(excluded, in: scene).count == 1)
    try await scene.reload()
    #expect(scene.state?.messages.lastMessage?.seq == 4 && scene.state?.messages.lastSeq == 6)
  }

  @Test func onlyTheStepFromAShownMessageIsStored() throws {
    let scene = try Scene(.public)
    try send(excluded, in: scene)
    try scene.ask("sendGroupTextMessage", #"{"text":"shown"}"#, by: "olga")
    let time = try #require(scene.state?.messages.lastTime)
    let message = stored(3, excluded, at: scene.clocks.wall)
    #expect(try send(excluded, in: scene) == [.append(message), .putLastShown(seq: 2, at: time, in: "g")])
  }

  @Test func flaggedMessagesDoNotCountAsUnread() throws {
    let scene = try Scene(.public)
    try send(MessageExtras(extension: "e"), in: scene)
    let state = try #require(scene.state)
    let mary = try #require(state.roster["mary"])
    #expect(!state.unread(of: mary).skipsFlagged, "an extension changes nothing")
    try send(MessageExtras(isExcludedFromUnreadCount: true), in: scene)
    let flagged = try #require(scene.state)
    #expect(flagged.unread(of: mary).skipsFlagged)
    var cleared = mary
    cleared.clearedSeq = 1
    #expect(flagged.unread(of: mary).ranges == [1...2] && flagged.unread(of: cleared).ranges == [2...2])
  }

  @Test func aTargetedMessageIsThereForItsSenderThoseNamedAndTheApplication() throws {
    let scene = try Scene(.public)
    try send(MessageExtras(toUserIDList: ["carl"]), in: scene)
    let message = try #require(scene.store.allMessages(of: "g").first)
    let state = try #require(scene.state)
    #expect(state.readers(of: message) == ["olga", "carl"])
    #expect(state.readers(of: stored(1, at: 1)) == nil, "all see another")
    let found = FoundMessage(message: message)
    for (name, sees) in [("olga", true), ("carl", true), ("mary", false), ("adam", false), ("administrator", true)] {
      var copy = state
      let turn = copy.beginTurn(by: scene.caller(name), at: scene.clocks.now)
      let seen = try copy.current(found, seq: 1, turn)
      #expect((seen != nil) == sees, "\(name)")
    }
    #expect(try scene.ask("modifyGroupMessage", #"{"seq":1,"text":"new"}"#, by: "mary").code == 10030)
    #expect(try scene.ask("revokeGroupMessage", #"{"seq":1}"#, by: "adam").code == 10030)
    #expect(try scene.ask("pinGroupMessage", #"{"seq":1,"isPinned":true}"#, by: "adam").code == 10030)
    #expect(try scene.ask("addMessageReaction", #"{"seq":1,"reaction":"r"}"#, by: "mary").code == 10030)
    let reaction = try scene.ask("addMessageReaction", #"{"seq":1,"reaction":"r"}"#, by: "carl")
    #expect(reaction.code == 0)
    let receivers = reaction.decision.effects.compactMap { effect -> [UserID]? in
      if case .send(_, to: let users, except: _) = effect { users } else { nil }
    }
    #expect(receivers == [["olga", "carl"]])
  }

  @Test func whoHasClearedTheHistoryHearsOfNoChangeInIt() throws {
    let scene = try Scene(.meeting)
    for text in ["a", "b"] { try scene.ask("sendGroupTextMessage", #"{"text":"\#(text)"}"#, by: "olga") }
    scene.state?.roster.update("mary") { $0.clearedSeq = 1 }
    let state = try #require(scene.state)
    #expect(state.readers(of: 1, nil)?.sorted() == ["adam", "carl", "olga"])
    #expect(state.readers(of: 2, nil) == nil)
    #expect(try scene.ask("revokeGroupMessage", #"{"seq":1}"#, by: "mary").code == 10030)
  }

  @Test func theTimeOfAMembersInfoFollowsWhatOthersSee() throws {
    let scene = try Scene(.public)
    func infoTime() throws -> WallInstant { try #require(scene.state?.roster["mary"]).infoTime }
    let joined = try infoTime()
    try scene.ask("sendGroupTextMessage", #"{"text":"t"}"#, by: "olga")
    scene.clocks.advance(by: 1000)
    try scene.ask("markGroupMessageAsRead", by: "mary")
    try scene.ask("setGroupReceiveMessageOpt", #"{"opt":"NotReceive"}"#, by: "mary")
    #expect(try infoTime() == joined && scene.state?.roster["mary"]?.changeTime == scene.clocks.wall)
    try scene.ask("setGroupMemberInfo", #"{"userID":"mary","nameCard":"M"}"#, by: "mary")
    #expect(try infoTime() == scene.clocks.wall)
    scene.clocks.advance(by: 1000)
    try scene.ask("muteGroupMember", #"{"userID":"mary","muteTime":60}"#, by: "olga")
    #expect(try infoTime() == scene.clocks.wall)
    scene.clocks.advance(by: 1000)
    try scene.ask("setGroupMemberRole", #"{"userID":"mary","role":"Admin"}"#, by: "olga")
    #expect(try infoTime() == scene.clocks.wall)
  }
}
