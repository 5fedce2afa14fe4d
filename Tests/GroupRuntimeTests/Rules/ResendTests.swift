import GroupModel
import Testing
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// Messages that may have been sent before, longer ago than receipts are remembered (Protocol.md, "Late
/// repeats").
@Suite struct ResendTests {
  private static let storing: [GroupType] = [.work, .public, .meeting]
  private static let minute: Int64 = 60_000
  private static let day: Int64 = 86_400_000

  private func scene(_ type: GroupType = .public, rules: GroupRules = GroupRules()) throws -> Scene {
    try Scene(type, rules: rules) { policy in if type != .work { policy.joinMode = .any } }
  }

  private func params(_ id: String, _ first: WallInstant?, _ more: String = "") -> String {
    let instant = first.map { #","firstSentAt":\#($0)"# } ?? ""
    return #"{"text":"x","clientMsgID":"\#(id)"\#(instant)\#(more)}"#
  }

  @discardableResult
  private func send(
    _ scene: Scene, _ id: String = "c", first: WallInstant? = nil, more: String = "", by name: String = "mary"
  ) throws -> Scene.Outcome {
    try scene.ask("sendGroupTextMessage", params(id, first, more), by: name)
  }

  private func refuses(
    _ code: Int, _ scene: Scene, _ id: String = "c", first: WallInstant, more: String = "", by name: String = "mary",
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let before = scene.fingerprint
    let outcome = try send(scene, id, first: first, more: more, by: name)
    scene.expectNothingDone(outcome, code: code, before: before, "\(more)", sourceLocation)
    #expect(outcome.field == "firstSentAt", sourceLocation: sourceLocation)
  }

  // MARK: Found, or not

  @Test(arguments: storing) func aStoredMessageIsAnsweredAfterADay(type: GroupType) throws {
    let scene = try scene(type)
    let first = scene.clocks.wall
    let sent = try send(scene)
    for number in 0..<5 { try send(scene, "other \(number)", by: "carl") }
    scene.clocks.advance(by: Self.day)
    let before = scene.fingerprint
    let again = try send(scene, first: first)
    #expect(again.result == sent.result && again.result["status"] == "Stored")
    #expect(again.events.isEmpty && again.decision.changes.isEmpty && again.decision.counts.isEmpty)
    #expect(scene.fingerprint == before && scene.messages.count == 6)
    let asData = try scene.ask(
      "sendGroupCustomMessage", #"{"data":"d","clientMsgID":"c","firstSentAt":\#(first)}"#, by: "mary/2")
    #expect(asData.result == sent.result, "as within five minutes")
  }

  @Test(arguments: storing) func aMessageThatWasNotStoredIsANewOne(type: GroupType) async throws {
    let scene = try scene(type)
    let first = scene.clocks.wall
    try send(scene, "other")
    scene.clocks.advance(by: Self.day)
    try await scene.reload()
    let sent = try send(scene, first: first)
    #expect(sent.code == 0 && sent.receivers(of: "onRecvNewMessage") == ["adam", "carl", "olga"])
    #expect(scene.messages.map(\.clientMsgID) == ["other", "c"])
    #expect(sent.result["timestamp"].integer == scene.clocks.wall.milliseconds, "sent now")
    #expect(try send(scene, first: first).result == sent.result, "and remembered from now on")
    scene.clocks.advance(by: Self.day)
    #expect(try send(scene, first: first).result == sent.result)
    #expect(scene.messages.count == 2)
  }

  /// Without the instant it is what it always was.
  @Test func withoutTheInstantItIsANewMessage() throws {
    let scene = try scene()
    try send(scene)
    scene.clocks.advance(by: 5 * Self.minute)
    #expect(try send(scene).result["seq"] == 2)
  }

  @Test func whatBecameOfTheMessageDoesNotMatter() throws {
    let scene = try scene()
    let first = scene.clocks.wall
    let sent = try ["recalled", "edited", "hidden"].map { try send(scene, $0).result }
    try scene.ask("revokeGroupMessage", #"{"seq":1}"#, by: "mary")
    try scene.ask("modifyGroupMessage", #"{"seq":2,"text":"y"}"#, by: "mary")
    try scene.ask("clearGroupHistory", by: "mary")
    scene.clocks.advance(by: Self.day)
    try scene.ask("muteGroup", #"{"mode":"All"}"#, by: "olga")
    for (id, result) in zip(["recalled", "edited", "hidden"], sent) {
      let again = try send(scene, id, first: first)
      #expect(again.result == result && again.events.isEmpty, "\(id)")
    }
    #expect(try send(scene, "new", first: first).code == 10017, "a new one is refused as ever")
    try scene.ask("muteGroup", #"{"mode":"None"}"#, by: "olga")
    try scene.ask("quitGroup", by: "mary")
    try scene.expectRefused(10007, "sendGroupTextMessage", params("edited", first), by: "mary")
    try scene.ask("joinGroup", by: "mary")
    #expect(try send(scene, "edited", first: first).result == sent[1], "from before joining again")
  }

  @Test func anotherSenderSpellingOrTimeIsAnotherMessage() throws {
    let scene = try scene()
    let first = scene.clocks.wall
    try send(scene, "\u{e9}")
    scene.clocks.advance(by: Self.day)
    #expect(try send(scene, "\u{e9}", first: first, by: "carl").result["seq"] == 2)
    #expect(try send(scene, "e\u{301}", first: first).result["seq"] == 3)
    // It says that it was first sent a while after that.
    #expect(try send(scene, "\u{e9}", first: first + Self.minute).result["seq"] == 1, "clocks may be off by a minute")
    #expect(try send(scene, "\u{e9}", first: first + Self.minute + 1).result["seq"] == 4)
  }

  @Test func aReplyIsLookedForBeforeWhatItAnswers() async throws {
    let scene = try scene()
    let first = scene.clocks.wall
    try send(scene, "answered", by: "olga")
    let sent = try send(scene, more: #","replyTo":1"#)
    try scene.ask("revokeGroupMessage", #"{"seq":1}"#, by: "olga")
    scene.clocks.advance(by: Self.day)
    try await scene.reload()
    #expect(try send(scene, first: first, more: #","replyTo":1"#).result == sent.result)
    let other = try send(scene, "new", first: first, more: #","replyTo":1"#)
    #expect(other.code == 10030 && other.field == "replyTo")
    let reply = try send(scene, "new", first: first, more: #","replyTo":2"#)
    #expect(reply.code == 0 && scene.messages.last?.extras?.replyTo == ReplyReference(seq: 2, sender: "mary"))
    #expect(scene.messages.last?.extras == MessageExtras(replyTo: ReplyReference(seq: 2, sender: "mary")))
  }

  @Test func theApplicationSends() throws {
    let scene = try scene()
    let first = scene.clocks.wall
    let sent = try send(scene, by: "administrator")
    scene.clocks.advance(by: Self.day)
    for _ in 0..<20 { #expect(try send(scene, first: first, by: "administrator").result == sent.result) }
  }

  // MARK: Refused

  @Test func instantsThatNothingIsKnownOfAreRefused() async throws {
    let scene = try scene()
    try send(scene)
    scene.clocks.advance(by: Self.day)
    try await scene.reload()
    let now = scene.clocks.wall
    try refuses(10004, scene, first: now + Self.minute + 1)
    #expect(try send(scene, "ahead", first: now + Self.minute).code == 0, "clocks may be off by a minute")
    try refuses(10004, scene, first: now - 30 * Self.day - 1)
    try refuses(10004, scene, "far", first: .unset)
    #expect(try send(scene, "far", first: now - 30 * Self.day).code == 0)
    let without = try scene.ask("sendGroupTextMessage", #"{"text":"x","firstSentAt":\#(now)}"#, by: "mary")
    #expect(without.code == 10004 && without.field == "firstSentAt")
    try scene.expectRefused(10007, "sendGroupTextMessage", params("c", now + Self.day), by: "oscar")
  }

  @Test(arguments: [GroupType.avChatRoom, .bChatRoom]) func liveTypesTakeNothingLate(type: GroupType) throws {
    let scene = try Scene(type)
    let sender = type == .bChatRoom ? "olga" : "mary"
    let first = scene.clocks.wall
    scene.clocks.advance(by: 4 * Self.minute)
    let sent = try send(scene, first: first, by: sender)
    #expect(sent.result["status"] == "Delivered", "soon enough")
    scene.clocks.advance(by: 1)
    #expect(try send(scene, first: first, by: sender).result == sent.result, "it is remembered")
    try refuses(10033, scene, "other", first: first, by: sender)
    scene.clocks.advance(by: 5 * Self.minute)
    try refuses(10033, scene, first: first, by: sender)
    #expect(try send(scene, by: sender).code == 0, "as a new message it is sent")
  }

  @Test func whatIsForThoseOnlineIsNotSentLateEither() throws {
    let scene = try scene()
    let first = scene.clocks.wall
    scene.clocks.advance(by: 4 * Self.minute)
    #expect(try send(scene, first: first, more: #","onlineUserOnly":true"#).code == 0)
    scene.clocks.advance(by: 1)
    try refuses(10033, scene, "other", first: first, more: #","onlineUserOnly":true"#)
  }

  @Test func whatRetentionMayHaveRemovedIsNotSentAgain() async throws {
    let scene = try scene()
    let first = scene.clocks.wall
    try send(scene)
    scene.clocks.advance(by: Self.day)
    try send(scene, "kept")
    let second = scene.clocks.wall
    scene.clocks.advance(by: Self.day)
    let removal = try #require(scene.store.removeMessages(of: "g", before: 2))
    scene.state?.remove(removal)
    try await scene.reload()
    try refuses(10004, scene, first: first)
    try refuses(10004, scene, "never stored", first: first)
    #expect(try send(scene, "kept", first: second).result["seq"] == 2)
    #expect(try send(scene, "never stored", first: second).result["seq"] == 3)
  }

  @Test func aUserHasTenMessagesAMinuteLookedFor() throws {
    let scene = try scene()
    let first = scene.clocks.wall
    // Of a group whose receipts are all remembered nothing has to be looked for.
    for number in 0..<20 { #expect(try send(scene, "c\(number)", first: first).code == 0) }
    scene.clocks.advance(by: Self.day)
    for number in 0..<10 { #expect(try send(scene, "c\(number)", first: first).result["seq"] == .int(Int64(number + 1))) }
    scene.clocks.advance(by: 1000)
    let before = scene.fingerprint
    let refused = try send(scene, "c10", first: first)
    scene.expectNothingDone(refused, code: 10023, before: before, "the eleventh")
    #expect(refused.retryAfterMs == 59_000 && refused.field == nil)
    #expect(try send(scene, "c0", first: first, by: "carl").code == 0, "others have their own")
    #expect(try send(scene, "new").code == 0, "other messages are free")
    scene.clocks.advance(by: 59_000)
    #expect(try send(scene, "c10", first: first).result["seq"] == 11)
  }

  // MARK: Asking the application

  @Test func itIsLookedForBeforeTheApplicationIsAsked() throws {
    let scene = try scene()
    let first = scene.clocks.wall
    let sent = try send(scene)
    scene.clocks.advance(by: Self.day)
    func asked(_ id: String) -> AskedMessage {
      .text(SendGroupTextMessage(text: "x", options: MessageOptions(clientMsgID: id, extras: SendExtras(firstSentAt: first))))
    }
    let mary = scene.caller("mary")
    #expect(try scene.ask(.check(.message(asked("c")), .none), by: mary).result == sent.result)
    let checked = try scene.ask(.check(.message(asked("new")), .none), by: mary)
    #expect(checked.code == 0 && checked.result == [:] && checked.decision.changes.isEmpty, "the application is asked")
    let dropped = try scene.ask(.dropMessage(asked("new")), by: mary)
    #expect(dropped.result["status"] == "Dropped")
    let performed = try scene.ask(.request(.sendGroupTextMessage(try text(of: asked("new"))), .filtered), by: mary)
    #expect(performed.result["seq"] == 2)
    // Only the checks have looked: ten more may.
    for _ in 0..<8 { #expect(try scene.ask(.check(.message(asked("c")), .none), by: mary).code == 0) }
    #expect(try scene.ask(.check(.message(asked("c")), .none), by: mary).code == 10023)
  }

  private func text(of asked: AskedMessage) throws -> SendGroupTextMessage {
    guard case .text(let request) = asked else { throw WireError(.invalidRequest) }
    return request
  }

  // MARK: Whatever happens

  /// Random sends, losses of memory, retention and time. A resend that says when the message was sent first
  /// never makes it two, and what it answers is the first receipt.
  @Test(arguments: 1...30 as ClosedRange<UInt64>) func noMessageIsStoredTwice(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let scene = try scene()
    // Who sent what when first, and the receipt as far as the sender knows; nil = it was lost on its way.
    var sent: [(sender: String, id: String, first: WallInstant, receipt: JSON?)] = []
    var stored: [String: Int] = [:]
    // The newest instant of which retention has removed a message.
    var removedThrough = WallInstant.unset
    for step in 0..<80 {
      scene.clocks.advance(by: Int64.random(in: 0...400_000, using: &random))
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<4:
        let (sender, id) = (["mary", "carl"].randomElement(using: &random) ?? "mary", "c\(step)")
        var receipt: JSON?
        // The message is lost, or its receipt is, or neither.
        let fate = Int.random(in: 0..<3, using: &random)
        if fate > 0 {
          let result = try send(scene, id, by: sender).result
          stored[sender + id, default: 0] += 1
          if fate > 1 { receipt = result }
        }
        sent.append((sender: sender, id: id, first: scene.clocks.wall, receipt: receipt))
      case 4..<8:
        guard let index = sent.indices.randomElement(using: &random) else { continue }
        let (sender, id, first, receipt) = sent[index]
        let count = scene.messages.count
        let again = try send(scene, id, first: first, by: sender)
        if again.code == 10004 {
          #expect(removedThrough >= first - Self.minute, "\(step): refused without need")
        } else if again.code == 0 {
          #expect(receipt == nil || again.result == receipt, "\(step): another receipt")
          if scene.messages.count > count { stored[sender + id, default: 0] += 1 }
          sent[index].receipt = again.result
        } else {
          #expect(again.code == 10023, "\(step)")
        }
      case 8: try await scene.reload()
      default:
        let gone = scene.messages.prefix(Int.random(in: 0...2, using: &random))
        guard let last = gone.last, let seq = last.seq else { continue }
        let removal = try #require(scene.store.removeMessages(of: "g", before: seq + 1))
        scene.state?.remove(removal)
        removedThrough = last.timestamp
      }
      #expect(stored.values.allSatisfy { $0 <= 1 }, "\(step): \(stored.filter { $0.value > 1 })")
    }
  }
}
