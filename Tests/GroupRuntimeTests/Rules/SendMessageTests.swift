import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// sendGroupTextMessage and sendGroupCustomMessage.
@Suite struct SendMessageTests {
  private let hello = #"{"text":"hello"}"#

  @Test(arguments: [GroupType.work, .public, .meeting])
  func aStoredMessageHasASeqAndReachesAllButTheSendingSession(type: GroupType) throws {
    let scene = try Scene(type)
    scene.signIn("mary", as: "mary/2")
    let first = try scene.ask("sendGroupTextMessage", hello, by: "mary")
    #expect(first.result["seq"] == 1 && first.result["status"] == "Stored")
    #expect(first.result["timestamp"] == .instant(scene.clocks.wall))
    #expect(first.receivers(of: "onRecvNewMessage") == ["adam", "carl", "mary/2", "olga"])
    #expect(first.events.count == 4)
    let message = try first.params("onRecvNewMessage", to: "adam")["message"]
    #expect(
      message["msgID"] == first.result["msgID"] && message["seq"] == 1 && message["text"] == "hello" && message["type"] == "Text")
    #expect(
      message["sender"] == "mary" && message["priority"] == "Normal" && message["platform"] == "Web" && message["groupID"] == "g")
    let second = try scene.ask("sendGroupCustomMessage", #"{"data":"\u0000","priority":"High"}"#, by: "mary/2")
    #expect(second.result["seq"] == 2)
    #expect(second.receivers(of: "onRecvNewMessage") == ["adam", "carl", "mary", "olga"])
    let custom = try second.params("onRecvNewMessage", to: "mary")["message"]
    #expect(custom["type"] == "Custom" && custom["data"] == "\0" && custom["text"] == .null && custom["priority"] == "High")
    #expect(scene.messages.count == 2 && scene.messages[0].msgID != scene.messages[1].msgID)
  }

  @Test func aLiveRoomDeliversWithoutSeqAndStoresNothing() throws {
    let scene = try Scene(.avChatRoom)
    let first = try scene.ask("sendGroupTextMessage", hello, by: "mary")
    #expect(first.result.names == ["msgID", "status", "timestamp"] && first.result["status"] == "Delivered")
    #expect(try first.params("onRecvNewMessage", to: "olga")["message"]["seq"] == .null)
    #expect(first.decision.changes.isEmpty)
    #expect(try scene.ask("sendGroupTextMessage", hello, by: "mary").result["msgID"] != first.result["msgID"])
  }

  @Test func onlineUserOnlyHasNoSeqAndNoHistory() throws {
    let scene = try Scene(.public)
    let sent = try scene.ask("sendGroupTextMessage", #"{"text":"x","onlineUserOnly":true}"#, by: "mary")
    #expect(sent.result.names == ["msgID", "status", "timestamp"] && sent.result["status"] == "Delivered")
    #expect(sent.receivers(of: "onRecvNewMessage") == ["adam", "carl", "olga"])
    #expect(scene.messages.isEmpty)
    #expect(try scene.ask("sendGroupTextMessage", hello, by: "mary").result["seq"] == 1)
  }

  @Test func theClassOfAnEventTellsWhetherItMayBeSkipped() throws {
    let classes: [(GroupType, EventClass)] = [
      (.public, .storedChat(fromManager: true)), (.avChatRoom, .liveChat(fromManager: true)),
      (.bChatRoom, .liveChat(fromManager: true)),
    ]
    for (type, expected) in classes {
      let sent = try Scene(type).ask("sendGroupTextMessage", hello, by: "olga")
      guard case .publish(_, let kind, _)? = sent.decision.effects.first else { return #expect(Bool(false)) }
      #expect(kind == expected)
      #expect(sent.decision.counts.map(\.steps) == [[.accepted, .delivered]])
    }
  }

  @Test(arguments: GroupType.allCases, ["olga", "adam", "mary", "carl", "oscar", "administrator"])
  func sendingFollowsTheTable(type: GroupType, name: String) throws {
    let may = type == .bChatRoom ? ["olga", "adam", "administrator"].contains(name) : name != "oscar"
    let scene = try Scene(type)
    let before = scene.fingerprint
    let sent = try scene.ask("sendGroupTextMessage", hello, by: name)
    #expect(sent.code == (may ? 0 : 10007))
    if !may { #expect(sent.events.isEmpty && scene.fingerprint == before) }
  }

  @Test func anApplicationAdministratorSendsAsAdministrator() throws {
    let sent = try Scene(.public).ask("sendGroupTextMessage", hello, by: "administrator")
    #expect(sent.receivers(of: "onRecvNewMessage") == ["adam", "carl", "mary", "olga"])
    let message = try sent.params("onRecvNewMessage", to: "mary")["message"]
    #expect(message["sender"] == "administrator" && message["platform"] == "RESTful API" && message["nameCard"] == .null)
  }

  @Test func messagesCarryMentionsAndOnlyManagersMentionAll() throws {
    for (name, code) in [("olga", 0), ("adam", 0), ("mary", 10007), ("carl", 10007), ("administrator", 0)] {
      let scene = try Scene(.public)
      let before = scene.fingerprint
      let sent = try scene.ask("sendGroupTextMessage", #"{"text":"x","atUserIDList":["mary","@all","nobody"]}"#, by: name)
      #expect(sent.code == code, "\(name)")
      if code == 0 {
        #expect(try sent.params("onRecvNewMessage", to: "carl")["message"]["atUserIDList"] == ["mary", "@all", "nobody"])
      } else {
        #expect(scene.fingerprint == before)
      }
    }
    #expect(try Scene(.public).ask("sendGroupTextMessage", #"{"text":"x","atUserIDList":["oscar"]}"#, by: "mary").code == 0)
  }

  @Test func anOrdinaryMuteSilencesMembersAndNotManagers() throws {
    let scene = try Scene(.public)
    try scene.ask("setGroupInfo", #"{"allMuted":true}"#, by: "olga")
    for (name, code) in [("olga", 0), ("adam", 0), ("mary", 10017), ("carl", 10017), ("administrator", 0), ("oscar", 10007)] {
      let before = scene.fingerprint
      #expect(try scene.ask("sendGroupTextMessage", hello, by: name).code == code, "\(name)")
      if code != 0 { #expect(scene.fingerprint == before) }
    }
    try scene.ask("setGroupInfo", #"{"allMuted":false}"#, by: "olga")
    #expect(try scene.ask("sendGroupTextMessage", hello, by: "mary").code == 0)
  }

  @Test func aMemberIsMutedUntilTheInstant() throws {
    let scene = try Scene(.public)
    let end = scene.clocks.wall + 1000
    scene.state?.roster.update("mary") { $0.muteUntil = end }
    scene.clocks.advance(by: 999)
    #expect(try scene.ask("sendGroupTextMessage", hello, by: "mary").code == 10017)
    scene.clocks.advance(by: 1)
    #expect(try scene.ask("sendGroupTextMessage", hello, by: "mary").code == 0)
  }

  @Test func aTimedMuteOfTheGroupEndsByItself() throws {
    let scene = try Scene(.public)
    scene.state?.record.mute = GroupMute(mode: .all, muteUntil: scene.clocks.wall + 1000)
    #expect(try scene.ask("sendGroupTextMessage", hello, by: "olga").code == 10017)
    #expect(try scene.ask("info", by: "mary").result["allMuted"] == true)
    scene.clocks.advance(by: 1000)
    #expect(try scene.ask("sendGroupTextMessage", hello, by: "mary").code == 0)
    let info = try scene.ask("info", by: "mary").result
    #expect(info["allMuted"] == false && info["mute"] == ["mode": "None"])
  }

  @Test func timestampsNeverDecreaseInAHistory() throws {
    let scene = try Scene(.public)
    let first = try scene.ask("sendGroupTextMessage", hello, by: "mary").result["timestamp"].integer
    scene.clocks.moveWall(by: -5000)
    let second = try scene.ask("sendGroupTextMessage", hello, by: "mary").result["timestamp"].integer
    #expect(try #require(second) >= (try #require(first)))
  }
}
