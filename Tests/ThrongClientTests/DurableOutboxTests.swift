import Foundation
import Testing

@testable import ThrongClient

/// Own messages that outlive their client: on the disk before they leave, and until they are at their end.
@Suite struct DurableOutboxTests {
  private func message(_ id: String, to groupID: String = "g", options: SendOptions = SendOptions()) -> ClientInput {
    .send(LocalMessage(.text("hello"), to: groupID, options: options, clientMsgID: id, createdAt: 5))
  }

  private func sent(_ status: String, seq: Int? = nil) -> String {
    "{\"msgID\":\"m\",\"timestamp\":5,\"status\":\"\(status)\"\(seq.map { ",\"seq\":\($0)" } ?? "")}"
  }

  private func sync(_ messages: String, lastSeq: Int = 10) -> String {
    """
    {"groups":[{"groupID":"g","code":0,"epoch":"e","lastSeq":\(lastSeq),"recovered":true,"changeList":[],"changeSeq":0,
    "messageList":\(messages),"more":false}]}
    """
  }

  private var durable: ClientOptions { ClientOptions(userID: "alice", storage: MemoryStorage()) }

  /// A client with a store that has nothing in it.
  private func begin(_ start: LocalStore.Start = LocalStore.Start(isDurable: true)) -> Scene {
    var scene = Scene(options: durable)
    scene.feed(.restored(start))
    return scene
  }

  /// The same, in group g at seq 10.
  private func online(_ start: LocalStore.Start = LocalStore.Start(isDurable: true)) -> Scene {
    var scene = begin(start)
    scene.connect(in: "g")
    return scene
  }

  /// The rows that are on the disk after these effects, on top of others.
  private func disk(_ effects: [ClientEffect], _ rows: [String: OutboxRow] = [:]) -> [String: OutboxRow] {
    var rows = rows
    for case .outbox(let changes, _) in effects.storeEvents {
      for change in changes {
        switch change {
        case .put(let row): rows[StoreKeys.outbox(row.order, row.clientMsgID)] = row
        case .delete(let key): rows[key] = nil
        }
      }
    }
    return rows
  }

  private func tickets(_ effects: [ClientEffect]) -> [Int] {
    effects.storeEvents.compactMap { event -> Int? in if case .outbox(_, let ticket) = event { ticket } else { nil } }
  }

  private func ids(_ scene: Scene) -> [JSONValue?] {
    scene.asked("sendGroupTextMessage").map { params -> JSONValue? in
      if case .object(let members) = params { members["clientMsgID"] } else { nil }
    }
  }

  // MARK: Leaving

  @Test func aMessageLeavesWhenTheDiskHasIt() {
    var scene = online()
    scene.pass(.seconds(2))
    scene.feed(message("a"))
    #expect(scene.requests.isEmpty)
    let effects = scene.takeEffects()
    // One change: the row, and that it leaves.
    let row = disk(effects).values.first
    #expect(tickets(effects).count == 1 && row?.firstSentAt == 1_002_000 && row?.after == 10 && row?.state == .sending)
    #expect(row?.method == "sendGroupTextMessage" && row?.params.text == "hello" && row?.createdAt == 5)
    #expect(row?.params.firstSentAt == nil)
    scene.feed(.outboxWritten(ticket: tickets(effects)[0]))
    #expect(scene.asked("sendGroupTextMessage") == [["groupID": "g", "text": "hello", "clientMsgID": "a"]])
  }

  @Test func theAnswerTakesTheRowAndBringsTheMessage() throws {
    var scene = online()
    scene.feed(message("a", options: SendOptions(extension: "e", replyTo: 4)))
    let written = scene.takeEffects()
    scene.feed(.outboxWritten(ticket: tickets(written)[0]))
    scene.answer("sendGroupTextMessage", sent("Stored", seq: 11))
    let effects = scene.takeEffects()
    #expect(disk(effects, disk(written)).isEmpty)
    let stored = try #require(
      effects.storeEvents.compactMap { event -> GroupMessage? in if case .own(let message) = event { message } else { nil } }
        .first)
    #expect(stored.seq == 11 && stored.msgID == "m" && stored.sender == "alice" && stored.timestamp == 5)
    #expect(stored.text == "hello" && stored.extension == "e" && stored.replyTo?.seq == 4 && stored.clientMsgID == "a")
    // Both are one change.
    #expect(effects.count { if case .store = $0 { true } else { false } } == 1)
  }

  @Test func aMessageThatIsNotStoredBringsNone() {
    var scene = online()
    scene.feed(message("a"))
    let written = scene.takeEffects()
    scene.feed(.outboxWritten(ticket: tickets(written)[0]))
    scene.answer("sendGroupTextMessage", sent("Delivered", seq: 11))
    let effects = scene.takeEffects()
    #expect(disk(effects, disk(written)).isEmpty)
    #expect(!effects.storeEvents.contains { if case .own = $0 { true } else { false } })
  }

  @Test func messagesLeaveInTheirOrder() {
    var scene = online()
    for id in ["a", "b", "c"] { scene.feed(message(id)) }
    let asked = tickets(scene.takeEffects())
    #expect(asked.count == 3)
    scene.feed(.outboxWritten(ticket: asked[1]))
    #expect(ids(scene) == ["a", "b"])
    scene.feed(.outboxWritten(ticket: asked[2]))
    #expect(ids(scene) == ["a", "b", "c"])
  }

  @Test func aMessageIsWrittenWithoutAConnectionToo() {
    var scene = begin()
    scene.feed(message("a"))
    let effects = scene.takeEffects()
    #expect(disk(effects).values.map(\.firstSentAt) == [nil] && disk(effects).count == 1)
  }

  /// The bytes had not left: the server does not have it.
  @Test func aLossBeforeTheDiskAnswers() {
    var scene = online()
    scene.feed(message("a"))
    let first = scene.takeEffects()
    scene.feed(.ended(attempt: 1, .closed(code: 1006, reason: ""), didOpen: true))
    scene.feed(.outboxWritten(ticket: tickets(first)[0]))
    #expect(scene.requests.isEmpty)
    #expect(disk(scene.takeEffects(), disk(first)).values.map(\.firstSentAt) == [nil])
  }

  @Test func aRefusalThatIsTemporaryTakesTheInstantBack() {
    var scene = online()
    scene.feed(message("a"))
    let first = scene.takeEffects()
    scene.feed(.outboxWritten(ticket: tickets(first)[0]))
    scene.refuse("sendGroupTextMessage", code: 7008, temporary: true)
    #expect(disk(scene.takeEffects(), disk(first)).values.map(\.firstSentAt) == [nil])
  }

  @Test func withoutTheDiskMessagesLeaveAtOnce() {
    var scene = online()
    scene.feed(message("a"))
    _ = scene.takeEffects()
    scene.feed(.storeLost)
    scene.feed(message("b"))
    #expect(ids(scene) == ["a", "b"])
    #expect(scene.takeEffects().storeEvents.isEmpty)
  }

  @Test func aStoreThatHasBegunAnewGetsEverythingAgain() {
    var scene = online()
    scene.feed(message("a"))
    _ = scene.takeEffects()
    scene.feed(.storeRestarted)
    let effects = scene.takeEffects()
    #expect(disk(effects).values.map(\.clientMsgID) == ["a"])
    scene.feed(.outboxWritten(ticket: tickets(effects)[0]))
    #expect(ids(scene) == ["a"])
  }

  // MARK: From one client to the next

  private func row(
    _ id: String, _ order: Int, to groupID: String = "g", firstSentAt: Int? = nil, after: Int? = nil,
    state: OutboxRow.State = .sending, error: OutboxRow.Failure? = nil, onlineUserOnly: Bool? = nil
  ) -> OutboxRow {
    OutboxRow(
      clientMsgID: id, method: "sendGroupTextMessage",
      params: SendParams(groupID: groupID, text: id, clientMsgID: id, onlineUserOnly: onlineUserOnly), createdAt: 1, order: order,
      owner: "me", firstSentAt: firstSentAt, after: after, state: state, error: error)
  }

  private func start(_ rows: [OutboxRow], groups: [ConversationRow] = []) -> LocalStore.Start {
    var start = LocalStore.Start(isDurable: true)
    start.outbox = rows
    start.conversations = groups
    start.summary.order = rows.map(\.order).max() ?? 0
    return start
  }

  private func shown(_ effects: [ClientEffect]) -> StoredStart? {
    effects.events.compactMap { event -> StoredStart? in if case .stored(let start) = event { start } else { nil } }.first
  }

  @Test func whatAnEarlierClientHasLeftComesFirst() {
    var scene = Scene(options: durable)
    scene.feed(message("new"))
    #expect(scene.takeEffects().storeEvents.isEmpty, "nothing is written before it is known what there is")
    scene.feed(.restored(start([row("b", 9), row("a", 4)])))
    let effects = scene.takeEffects()
    #expect(shown(effects)?.outbox.map(\.clientMsgID) == ["a", "b", "new"])
    #expect(disk(effects).keys.sorted() == [StoreKeys.outbox(10, "new")])
    scene.connect(in: "g")
    scene.feed(.outboxWritten(ticket: 100))
    #expect(ids(scene) == ["a", "b", "new"])
  }

  @Test func whatWasSentIsLookedForInTheHistory() {
    let group = ConversationRow(Scene.decoded("g", lastSeq: 20), firstStored: 1)
    var restored = start([row("a", 1, firstSentAt: 77, after: 10), row("b", 2, firstSentAt: 78, after: 12)], groups: [group])
    restored.positions = ["g": PositionRow(epoch: "e", seq: 20, changeSeq: 0, own: [])]
    restored.summary.toldUntil = 900_000
    var scene = begin(restored)
    scene.connect()
    #expect(scene.asked("getJoinedGroupList") == [["updatedSince": 840_000, "count": 200, "nextSeq": 0]])
    scene.answer("getJoinedGroupList", Scene.noGroups)
    #expect(scene.asked("syncGroups") == [["groups": [["groupID": "g", "epoch": "e", "seq": 10, "changeSeq": 0]]]])
    _ = scene.takeEffects()
    scene.answer("syncGroups", sync("[\(Scene.message("g", seq: 11, sender: "alice", clientMsgID: "a"))]", lastSeq: 20))
    let effects = scene.takeEffects()
    #expect(scene.state.outbox.message("a")?.state == .stored && effects.readies.map(\.isFirst) == [true])
    // The other was never stored: it is a new message, under a new instant.
    #expect(disk(effects).values.contains { $0.clientMsgID == "b" && $0.firstSentAt == 1_000_000 })
    scene.feed(.outboxWritten(ticket: 100))
    #expect(ids(scene) == ["b"] && scene.asked("sendGroupTextMessage") == [["groupID": "g", "text": "b", "clientMsgID": "b"]])
  }

  @Test func whatWasSentElsewhereIsSentAgainAndSaysSo() {
    var scene = begin(start([row("a", 1, to: "elsewhere", firstSentAt: 77)]))
    scene.connect()
    scene.answer("getJoinedGroupList", Scene.noGroups)
    #expect(
      scene.asked("sendGroupTextMessage") == [["groupID": "elsewhere", "text": "a", "clientMsgID": "a", "firstSentAt": 77]],
      "the disk has the instant already")
  }

  /// Nobody waits for it any more; what was sent is the server's to know.
  @Test func whatWasNeverSentToALiveRoomHasExpired() {
    let room = ConversationRow(Scene.decoded("room", type: "AVChatRoom"))
    var scene = begin(
      start(
        [
          row("new", 1, to: "room"), row("sent", 2, to: "room", firstSentAt: 7), row("passing", 3, onlineUserOnly: true),
          row("stored", 4),
        ], groups: [room]))
    let effects = scene.takeEffects()
    #expect(shown(effects)?.outbox.map(\.state) == [.sending, .sending, .sending, .sending])
    #expect(effects.messages.map(\.clientMsgID) == ["new", "passing"])
    #expect(effects.messages.allSatisfy { ($0.error as? ClientError)?.reason == .expired })
    #expect(scene.state.outbox.messages.map(\.state) == [.failed, .sending, .failed, .sending])
    #expect(disk(effects).values.filter { $0.state == .failed }.count == 2)
  }

  @Test func aFailureIsShownAgainUntilItIsDiscarded() throws {
    let muted = OutboxRow.Failure(code: 10_017, reason: nil, message: "muted")
    let unknown = OutboxRow.Failure(code: nil, reason: "OutcomeUnknown", message: "")
    var scene = begin(
      start([
        row("a", 1, state: .failed, error: muted), row("b", 2, state: .failed, error: unknown), row("c", 3, state: .failed),
      ]))
    let kept = try #require(shown(scene.takeEffects())).outbox
    #expect(kept.map(\.state) == [.failed, .failed, .dropped])
    #expect((kept[0].error as? ThrongError)?.code == .muted && (kept[0].error as? ThrongError)?.message == "muted")
    #expect((kept[1].error as? ClientError)?.reason == .outcomeUnknown && kept[2].error == nil)
    scene.feed(.discard(clientMsgID: "a"))
    #expect(disk(scene.takeEffects(), [StoreKeys.outbox(1, "a"): row("a", 1)]).isEmpty)
    #expect(scene.state.outbox.messages.map(\.clientMsgID) == ["b", "c"])
    scene.feed(.resend(kept[1]))
    let effects = scene.takeEffects()
    let old = StoreKeys.outbox(2, "b")
    #expect(disk(effects, [old: row("b", 2)]).keys.sorted() == [StoreKeys.outbox(4, "b")])
    scene.feed(.discard(clientMsgID: "b"))
    #expect(scene.state.outbox.messages.map(\.clientMsgID) == ["c", "b"], "what is on its way cannot be discarded")
  }

  @Test func theOldestFailuresGo() {
    var scene = online()
    var rows: [String: OutboxRow] = [:]
    for number in 0..<Outbox.mostFailures + 3 {
      scene.feed(message("\(number)", to: "g"))
      let effects = scene.takeEffects()
      rows = disk(effects, rows)
      scene.feed(.outboxWritten(ticket: tickets(effects).last ?? 0))
      scene.refuse("sendGroupTextMessage", code: 10_017)
      rows = disk(scene.takeEffects(), rows)
    }
    #expect(rows.count == Outbox.mostFailures && scene.state.outbox.messages.count == Outbox.mostFailures)
    #expect(scene.state.outbox.messages.first?.clientMsgID == "3")
  }

  @Test func aMessageThatIsSentAgainBeforeTheStoreIsOpen() {
    var scene = Scene(options: durable)
    scene.feed(message("a"))
    scene.feed(message("b"))
    scene.feed(.restored(start([row("a", 1), row("b", 2, state: .failed)])))
    // The first is still on its way; of the other the application wants one more try.
    #expect(scene.state.outbox.messages.map(\.clientMsgID) == ["a", "b"])
    #expect(scene.state.outbox.messages.map(\.state) == [.sending, .sending])
    let rows = disk(scene.takeEffects(), [StoreKeys.outbox(2, "b"): row("b", 2)])
    #expect(rows.keys.sorted() == [StoreKeys.outbox(1, "a"), StoreKeys.outbox(3, "b")])
  }

  // MARK: The end

  @Test func theEndKeepsWhatIsUnderWay() {
    var scene = online()
    for id in ["a", "b"] { scene.feed(message(id)) }
    let written = scene.takeEffects()
    scene.feed(.outboxWritten(ticket: tickets(written)[0]))
    scene.feed(.close)
    let effects = scene.takeEffects()
    #expect(effects.messages.isEmpty && scene.state.outbox.messages.map(\.state) == [.sending, .sending])
    let rows = disk(effects, disk(written))
    #expect(rows.values.sorted { $0.order < $1.order }.map(\.firstSentAt) == [1_000_000, nil], "the second had not left")
    scene.feed(message("c"))
    #expect((scene.takeEffects().messages.last?.error as? ClientError)?.reason == .closed)
    #expect(scene.state.outbox.message("a")?.state == .sending)
  }

  @Test func theTokenOfAnotherUserEndsAClientWithAStore() {
    var scene = begin()
    scene.feed(.connect)
    scene.open(Scene.session(user: "mallory"))
    #expect(scene.state.phase == .closed)
  }
}
