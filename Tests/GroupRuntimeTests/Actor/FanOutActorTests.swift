import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit
import WireProtocol

/// A user whose requests have reached too many has to wait (Protocol.md, "Delivery rate").
@Suite struct FanOutActorTests {
  private let scene = ActorScene()

  /// mary with a budget of ten deliveries a second, in a group of three who are online.
  private func mary(_ deliveries: Int = 10) async throws -> Caller {
    try await scene.makeGroup()
    let budget = FanOutBudget(FanOutAllowance(deliveriesPerSecond: deliveries, bytesPerSecond: 0, now: scene.clocks.monotonic))
    return scene.caller("mary").with(fanOut: budget)
  }

  private func ask(
    _ method: String, _ params: String, of group: GroupID = "g", by caller: Caller
  ) async throws -> (code: Int, wait: Int64?) {
    let reply = await scene.registry.group(group).ask(try groupRequest(method, params, of: group, by: caller), by: caller)
    if case .failure(let error) = reply { return (error.code.rawValue, error.retryAfterMs) }
    return (0, nil)
  }

  @Test func requestsPassWhileSomethingIsLeft() async throws {
    let mary = try await mary()
    for number in 0..<4 {
      #expect(try await ask("sendGroupTextMessage", #"{"text":"\#(number)"}"#, by: mary).code == 0, "12 deliveries")
    }
    let refused = try await ask("sendGroupTextMessage", #"{"text":"x"}"#, by: mary)
    #expect(refused.code == 7008 && refused.wait == 201)
    for (method, params) in [
      ("joinGroup", "{}"), ("quitGroup", "{}"), ("setGroupMemberInfo", #"{"userID":"mary","nameCard":"x"}"#),
      ("addMessageReaction", #"{"seq":1,"reaction":"r"}"#), ("modifyGroupMessage", #"{"seq":1,"text":"y"}"#),
      ("revokeGroupMessage", #"{"seq":1}"#), ("increaseGroupCounter", #"{"key":"k","value":1}"#),
    ] {
      #expect(try await ask(method, params, by: mary).code == 7008, "\(method)")
    }
    #expect(scene.store.allMessages(of: "g").count == 4 && scene.events("olga").count == 4, "nothing was done")
    scene.advance(by: 200)
    #expect(try await ask("sendGroupTextMessage", #"{"text":"x"}"#, by: mary).code == 7008)
    scene.advance(by: 1)
    #expect(try await ask("sendGroupTextMessage", #"{"text":"x"}"#, by: mary).code == 0)
  }

  @Test func readsAndOthersPass() async throws {
    let mary = try await mary(1)
    #expect(try await ask("sendGroupTextMessage", #"{"text":"x"}"#, by: mary).code == 0)
    #expect(try await ask("sendGroupTextMessage", #"{"text":"x"}"#, by: mary).code == 7008)
    for (method, params) in [
      ("info", "{}"), ("getGroupHistoryMessageList", "{}"), ("getGroupMemberList", "{}"),
      ("markGroupMessageAsRead", #"{"seq":1}"#), ("getGroupCounters", "{}"),
    ] {
      #expect(try await ask(method, params, by: mary).code == 0, "\(method)")
    }
    #expect(try await scene.say(by: "olga") != nil, "another user")
    #expect(try await ask("sendGroupTextMessage", #"{"text":"x"}"#, by: scene.caller("administrator")).code == 0)
    #expect(try await ask("sendGroupTextMessage", #"{"text":"x"}"#, by: scene.caller("mary")).code == 0, "by asUser")
  }

  @Test func aUserPaysInAllGroupsTogether() async throws {
    let mary = try await mary(1)
    let made = try await scene.ask(
      "createGroup", #"{"groupID":"h","groupType":"Work","groupName":"n","memberList":[{"userID":"mary"}]}"#, by: "olga", of: "h")
    try #require(made.code == 0)
    #expect(try await ask("sendGroupTextMessage", #"{"text":"x"}"#, by: mary).code == 0)
    #expect(try await ask("sendGroupTextMessage", #"{"text":"x"}"#, of: "h", by: mary).code == 7008)
  }

  /// The edits of one moment are looked up before any is charged.
  @Test func editsThatComeAtOnceAreChargedOneByOne() async throws {
    let mary = try await mary(4)
    #expect(try await ask("sendGroupTextMessage", #"{"text":"x"}"#, by: mary).code == 0)
    let pending = try (0..<10).map { number in
      let (pending, edit) = (Pending(), #"{"seq":1,"text":"\#(number)"}"#)
      scene.registry.group("g").enqueue(
        .request(try groupRequest("modifyGroupMessage", edit, by: mary), by: mary) { pending.complete($0) })
      return pending
    }
    var codes: [Int] = []
    for reply in pending { codes.append(try await reply.answer().code) }
    #expect(codes == [0] + Array(repeating: 7008, count: 9))
  }
}
