import Foundation
import Testing

@testable import ThrongClient

/// The store over its storage: what is written is there again, as much as there is room for, and a storage that
/// fails is no matter of the application's.
@Suite struct LocalStoreTests {
  private let storage = TestStorage()

  private func make(_ storage: (any Storage)? = nil, limits: StorageLimits = StorageLimits()) -> LocalStore {
    LocalStore(storage ?? self.storage, name: "store", userID: "alice", limits: limits)
  }

  private func open(_ storage: (any Storage)? = nil, limits: StorageLimits = StorageLimits()) async -> LocalStore {
    let store = make(storage, limits: limits)
    _ = await store.open()
    return store
  }

  private func group(_ groupID: String = "g") -> StoreEvent { .entered(StoreScene.info(groupID)) }

  private func row(_ number: Int, text: String = "text", groupID: String = "g") -> OutboxRow {
    OutboxRow(
      clientMsgID: "id \(number)", method: "sendGroupTextMessage",
      params: SendParams(groupID: groupID, text: text, clientMsgID: "id \(number)"), createdAt: 1, order: number, owner: "me",
      state: .sending)
  }

  private func texts(_ store: LocalStore, _ groupID: String = "g", count: Int = 100) async -> [Int] {
    await store.page(of: groupID, before: nil, count: count)?.messages.messageList.compactMap(\.seq) ?? []
  }

  // MARK: From one client to the next

  @Test func whatIsWrittenIsThereAgain() async throws {
    var store = await open()
    let events = [group()] + (1...5).map { StoreScene.message($0) }
    let written = await store.write(events + [.outbox([.put(row(3)), .put(row(7))], ticket: 1), .ready(toldUntil: 9_000)])
    #expect(written.isDurable && written.failures.isEmpty && written.changes.map(\.conversation.groupID) == ["g"])
    #expect(written.changes.first?.conversation.source == .server && written.changes[0].bytes > 100)
    _ = await store.write([.outbox([.delete(StoreKeys.outbox(3, "id 3"))], ticket: 2)])
    let before = await store.conversation("g")
    await store.close()

    store = make()
    let start = await store.open()
    #expect(start.isDurable && start.failures.isEmpty && start.conversations.map(\.info.groupID) == ["g"])
    #expect(start.positions["g"]?.seq == 5 && start.outbox == [row(7)])
    #expect(start.summary.toldUntil == 9_000 && start.summary.order == 7)
    let after = await store.conversation("g")
    #expect(after?.source == .stored && after?.info == before?.info && before?.source == .server)
    #expect(await texts(store) == [1, 2, 3, 4, 5])
    // Nothing was read twice, and what follows is counted.
    _ = await store.write([StoreScene.message(5), StoreScene.message(6)])
    #expect(await texts(store) == [1, 2, 3, 4, 5, 6])
    #expect(await store.conversation("g")?.info.selfInfo?.unreadCount == 6)
  }

  /// A later membership begins with nobody: who was a member before may have left meanwhile.
  @Test(arguments: [false, true]) func membersOfAnEarlierMembershipAreForgotten(bySync: Bool) async {
    let store = await open()
    _ = await store.write([group(), .members(groupID: "g", [MemberInfo(userID: "bob")], left: [])])
    _ = await store.write([.ended(groupID: "g", .left, at: 1)])
    #expect(await store.members(of: "g").map(\.userID) == ["bob"], "what has ended stays readable")
    let position = GroupPosition(groupID: "g", epoch: "e", seq: 0, changeSeq: 0)
    let sync = StoredSync(recovered: true, info: StoreScene.info(), from: 0, position: position)
    let again: StoreEvent = bySync ? .sync(sync) : group()
    _ = await store.write([again, .members(groupID: "g", [MemberInfo(userID: "carol")], left: [])])
    #expect(await store.members(of: "g").map(\.userID) == ["carol"])
  }

  @Test func pagesOfAConversation() async throws {
    let store = await open()
    _ = await store.write([group()] + (1...9).map { StoreScene.message($0) })
    let newest = try #require(await store.page(of: "g", before: nil, count: 4))
    #expect(newest.messages.messageList.map(\.seq) == [6, 7, 8, 9] && !newest.messages.isFinished && newest.isMember)
    let middle = try #require(await store.page(of: "g", before: 6, count: 4))
    #expect(middle.messages.messageList.map(\.seq) == [2, 3, 4, 5] && !middle.messages.isFinished)
    let oldest = try #require(await store.page(of: "g", before: 2, count: 4))
    #expect(oldest.messages.messageList.map(\.seq) == [1] && oldest.messages.isFinished)
    #expect(await store.page(of: "unknown", before: nil, count: 4) == nil)
  }

  @Test func oneUserIsNotAnother() async throws {
    let store = await open()
    _ = await store.write([
      group(), .members(groupID: "g", [MemberInfo(userID: "ann"), MemberInfo(userID: "anna")], left: []),
      .profiles([UserInfo(userID: "anna", nickName: "A", faceURL: "", customInfo: [:])], at: 1),
    ])
    #expect(await store.members(of: "g").map(\.userID) == ["ann", "anna"])
    #expect(await store.member("ann", of: "g")?.userID == "ann")
    _ = await store.write([.members(groupID: "g", [], left: ["ann"])])
    #expect(await store.member("ann", of: "g") == nil)
    #expect(await store.profile(of: "ann") == nil)
    #expect(await store.profile(of: "anna")?.nickName == "A")
  }

  @Test func theListHasPinnedOnesFirst() async {
    let store = await open()
    var pinned = StoreScene.info("c")
    pinned.selfInfo?.isPinned = true
    var hidden = StoreScene.info("d")
    hidden.selfInfo?.isHidden = true
    _ = await store.write([group("a"), group("b"), .entered(pinned), .entered(hidden), StoreScene.message(1, in: "b")])
    #expect(await store.conversations(hidden: false).map(\.groupID) == ["c", "b", "a"])
    #expect(await store.conversations(hidden: true).map(\.groupID) == ["c", "b", "a", "d"])
  }

  // MARK: Properties

  /// Events as they may come, each behind those before.
  private struct Events {
    private var random: SeededGenerator
    private var seqs: [String: Int] = [:]
    private var changeSeqs: [String: Int] = [:]
    private var orders = 0

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func next() -> [StoreEvent] {
      let groupID = ["a", "b", "c"].randomElement(using: &random) ?? "a"
      guard let last = seqs[groupID] else {
        seqs[groupID] = 0
        return [.entered(StoreScene.info(groupID))]
      }
      switch Int.random(in: 0..<12, using: &random) {
      case 0...4:
        seqs[groupID] = last + 1
        return [StoreScene.message(last + 1, in: groupID, by: Bool.random(using: &random) ? "bob" : "alice")]
      case 5:
        seqs[groupID] = last + 1
        return [.own(StoreScene.text(last + 1, in: groupID, by: "alice"))]
      case 6, 7:
        let changeSeq = (changeSeqs[groupID] ?? 0) + 1
        changeSeqs[groupID] = changeSeq
        let seq = Int.random(in: 1...max(1, last), using: &random)
        return [
          .server(
            .onRecvMessageRevoked(
              .init(
                groupID: groupID, opTime: 1, opUser: MemberInfo(userID: "bob"), platform: "Web", msgID: "m\(seq)", seq: seq,
                changeSeq: changeSeq)), bytes: 10)
        ]
      case 8:
        let place = Int.random(in: 0...last, using: &random)
        return [.server(.onConversationRead(.init(groupID: groupID, opTime: 1, readSeq: place)), bytes: 10)]
      case 9:
        let users = (0..<3).map { _ in MemberInfo(userID: "u\(Int.random(in: 0..<6, using: &random))", nameCard: "card") }
        return [.members(groupID: groupID, users, left: [])]
      case 10:
        orders += 1
        let (clientMsgID, order) = ("\(orders)", orders)
        let row = OutboxRow(
          clientMsgID: clientMsgID, method: "m", params: SendParams(groupID: groupID, clientMsgID: clientMsgID), createdAt: 1,
          order: order, owner: "me", state: .sending)
        return [.outbox([.put(row)], ticket: order)]
      default:
        guard orders > 0 else { return [] }
        let order = Int.random(in: 1...orders, using: &random)
        return [.outbox([.delete(StoreKeys.outbox(order, "\(order)"))], ticket: orders)]
      }
    }
  }

  /// However changes are put together, and wherever a process ends: the same is stored.
  @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64]) func changesMayBeWrittenTogether(seed: UInt64) async throws {
    var events = Events(seed: seed)
    let all = (0..<200).map { _ in events.next() }
    let (single, together) = (TestStorage(), TestStorage())
    let limits = StorageLimits(messagesPerGroup: 15)
    var store = await open(single, limits: limits)
    for (number, change) in all.enumerated() {
      _ = await store.write(change)
      guard number % 37 == 36 else { continue }
      await single.kill()
      store = await open(single, limits: limits)
    }
    await store.close()
    store = await open(together, limits: limits)
    for start in stride(from: 0, to: all.count, by: 23) {
      _ = await store.write(all[start..<min(all.count, start + 23)].flatMap { $0 })
    }
    await store.close()
    let (one, other) = (try await single.dump("store"), try await together.dump("store"))
    #expect(try one.mapValues(json) == other.mapValues(json))
    // The size is that of what is there.
    let rows = one.filter { $0.key != StoreKeys.summary }
    let summary = try JSONDecoder().decode(SummaryRow.self, from: Data((one[StoreKeys.summary] ?? "").utf8))
    #expect(summary.bytes == rows.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count })
    // What is known to be stored without gaps is.
    for groupID in ["a", "b", "c"] {
      let row = try JSONDecoder().decode(ConversationRow.self, from: Data((one["g/\(groupID)"] ?? "").utf8))
      let range = StoreKeys.messages(of: groupID)
      let seqs = one.keys.filter { $0 >= range.from && $0 < range.to }.sorted().compactMap(StoreKeys.seq)
      #expect(seqs == Array(row.firstStored..<row.firstStored + seqs.count) && seqs.count <= 15)
      #expect(seqs.last ?? 0 == row.info.lastSeq)
    }
  }

  private func json(_ text: String) throws -> JSONValue { try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) }

  // MARK: Bounds

  private func say(_ groupID: String, _ seqs: ClosedRange<Int>) -> [StoreEvent] {
    seqs.map { StoreScene.message($0, in: groupID) }
  }

  /// Old messages first, then those of conversations where nothing was said for long; what waits to be sent stays.
  @Test func aStoreThatIsTooLargeForgetsWhatIsOldest() async throws {
    let store = await open(limits: StorageLimits(bytes: 7_000))
    _ = await store.write([group("old"), group("new")] + say("old", 1...25) + [.outbox([.put(row(1))], ticket: 1)])
    for seq in 1...60 { _ = await store.write([StoreScene.message(1_000 + seq, in: "new")]) }
    await store.close()
    let rows = try await storage.dump("store")
    let size = rows.filter { $0.key != StoreKeys.summary }.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    #expect(size <= 7_000)
    #expect(rows["g/old"] != nil && rows["p/old"]?.contains("25") == true, "a group of the user's is never forgotten")
    #expect(rows[StoreKeys.outbox(1, "id 1")] != nil)
    #expect(rows.keys.contains { $0.hasPrefix("m/new/") } && !rows.keys.contains { $0.hasPrefix("m/old/") })
  }

  @Test func theStepsOfForgetting() {
    func conversation(_ groupID: String, _ activeAt: Int, endedAt: Int? = nil, isPinned: Bool = false) -> ConversationRow {
      var row = ConversationRow(StoreScene.info(groupID))
      row.activeAt = activeAt
      row.endedAt = endedAt
      if endedAt != nil { row.status = .left }
      if isPinned { row.info.selfInfo?.isPinned = true }
      return row
    }
    let rows = [
      conversation("pinned", 1, isPinned: true), conversation("busy", 9), conversation("quiet", 2),
      conversation("ended late", 99, endedAt: 7), conversation("ended", 99, endedAt: 5),
    ]
    let order = ["ended", "ended late", "quiet", "busy", "pinned"]
    var expected = order.map { Eviction.Step.messages(groupID: $0, keeping: 20) }
    expected += order.map { Eviction.Step.members(groupID: $0) }
    expected += [.conversation(groupID: "ended"), .conversation(groupID: "ended late"), .profiles]
    expected += order.map { Eviction.Step.messages(groupID: $0, keeping: 0) }
    #expect(Eviction.steps(rows) == expected)
    #expect(Eviction.steps(rows, most: 5).isEmpty)
    #expect(Eviction.steps(rows, most: 4) == [.conversation(groupID: "ended"), .conversation(groupID: "ended late")])
    #expect(
      Eviction.steps(rows, most: 2) == [
        .conversation(groupID: "ended"), .conversation(groupID: "ended late"), .messages(groupID: "quiet", keeping: 0),
        .members(groupID: "quiet"),
      ])
  }

  @Test func groupsBeyondTheBound() async throws {
    let store = await open(limits: StorageLimits(groups: 2))
    _ = await store.write([group("a"), group("b")] + say("a", 1...3) + say("b", 1...3))
    _ = await store.write([.ended(groupID: "b", .left, at: 5), group("c")])
    #expect(await store.conversations(hidden: true).map(\.groupID).sorted() == ["a", "c"])
    _ = await store.write([group("d")])
    #expect(await store.conversations(hidden: true).count == 3, "a group of the user's is never forgotten")
    await store.close()
    let rows = try await storage.dump("store")
    #expect(!rows.keys.contains { $0.hasPrefix("m/b/") || $0.hasPrefix("g/b") })
    #expect(rows.keys.count { $0.hasPrefix("g/") } == 3)
  }

  @Test func profilesGoByTheirAge() throws {
    var scene = StoreScene()
    let rows = try (0..<4).map { number in
      let profile = StoredProfile(userID: "\(number)", nickName: "n", faceURL: "", seenAt: 10 - number)
      return StorageRow(key: StoreKeys.profile("\(number)"), value: try StoreText.encode(profile))
    }
    try scene.draft.forgetProfiles(rows, bytes: rows[3].bytes + 1)
    #expect(try scene.draft.profiles.changes() == [.delete("U/2"), .delete("U/3")])
    #expect(scene.draft.state.profileCount == 2)
  }

  // MARK: Storages that fail

  private func failing(
    _ operation: TestStorage.Operation, from first: Int = 1, _ reason: StorageError.Reason
  ) -> TestStorage {
    TestStorage { done, count in done == operation && count >= first ? StorageError(reason, "as the test says") : nil }
  }

  /// Opens a store over a storage and uses it; answers all failures.
  private func use(_ storage: TestStorage, _ store: LocalStore) async -> [StorageFailure] {
    var failures = await store.open().failures
    for events in [[group()], [StoreScene.message(1)], [StoreScene.message(2)], [StoreScene.message(3)]] {
      failures += await store.write(events).failures
    }
    #expect(await store.conversation("g")?.info.lastSeq == 3, "everything goes on in memory")
    return failures
  }

  @Test(arguments: [StorageError.Reason.refused, .inUse, .full, .failed])
  func aStorageThatCannotBeOpened(reason: StorageError.Reason) async {
    let storage = failing(.open, reason)
    let failures = await use(storage, make(storage))
    #expect(failures.map(\.reason) == [reason] && failures.map(\.lostOutbox) == [false])
    #expect(await storage.count(.destroy) == 0, "what could not be opened is nobody's to remove")
    #expect(await storage.count(.close) == (reason == .inUse ? 0 : 1))
  }

  @Test(arguments: 1...4) func aStorageThatIsFull(first: Int) async throws {
    let storage = failing(.update, from: first, .full)
    let store = make(storage)
    let failures = await use(storage, store)
    #expect(failures.map(\.reason) == [.full])
    #expect(await texts(store).last == 3)
    // A later client would send once more what this one sends now.
    let rows = try await storage.dump("store")
    #expect(!rows.keys.contains { $0.hasPrefix("o/") })
  }

  /// Room may be made.
  @Test func aStorageThatIsFullForATime() async throws {
    let storage = TestStorage()
    let store = await open(storage)
    _ = await store.write([group()] + say("g", 1...40))
    let first = await storage.count(.update) + 1
    await storage.fail { done, count in done == .update && count == first ? StorageError(.full, "") : nil }
    let written = await store.write([StoreScene.message(41)])
    #expect(written.failures.isEmpty && written.isDurable)
    let kept = await texts(store)
    #expect(kept.last == 41 && kept.count < 41, "old ones made room")
  }

  @Test func aDamagedStoreBeginsAnewWithWhatWaitsToBeSent() async throws {
    var store = await open()
    _ = await store.write([group(), .outbox([.put(row(4))], ticket: 1), .ready(toldUntil: 77)])
    await store.close()
    try await storage.poke("store", "g/g", "no JSON")
    store = make()
    let start = await store.open()
    #expect(start.failures.map(\.reason) == [.corrupt] && start.failures.map(\.lostOutbox) == [false])
    #expect(start.outbox == [row(4)] && start.conversations.isEmpty && start.isDurable)
    #expect(start.summary.toldUntil == 0, "all groups are listed anew")
    await store.close()
    #expect(try await storage.dump("store").keys.sorted() == ["meta", StoreKeys.outbox(4, "id 4"), "s"])
  }

  @Test(arguments: ["no JSON", "{\"order\":1}"]) func anOutboxThatIsDamagedIsLost(value: String) async throws {
    var store = await open()
    await store.close()
    try await storage.poke("store", StoreKeys.outbox(1, "a"), value)
    store = make()
    let start = await store.open()
    #expect(start.failures.map(\.lostOutbox) == [true] && start.outbox.isEmpty && start.isDurable)
  }

  @Test func aRowOfAnotherGroupIsDamage() async throws {
    var store = await open()
    _ = await store.write([group()])
    await store.close()
    let value = try #require(try await storage.dump("store")["g/g"])
    try await storage.poke("store", "g/h", value)
    store = make()
    #expect(await store.open().failures.map(\.reason) == [.corrupt])
  }

  @Test func aSecondDamageEndsTheStorage() async {
    let storage = failing(.update, from: 2, .corrupt)
    #expect(await use(storage, make(storage)).map(\.reason) == [.corrupt, .corrupt])
  }

  /// The groups are in memory; their messages are read from the server.
  @Test func aStoreThatIsDamagedWhileItIsOpen() async throws {
    let store = await open()
    _ = await store.write([group()] + say("g", 1...3))
    let first = await storage.count(.update) + 1
    await storage.fail { done, count in done == .update && count == first ? StorageError(.corrupt, "") : nil }
    let written = await store.write([StoreScene.message(4)])
    #expect(written.failures.map(\.reason) == [.corrupt] && written.failures.map(\.lostOutbox) == [false])
    #expect(written.hasBegunAnew && written.isDurable)
    #expect(await texts(store) == [4])
    #expect(await store.conversation("g")?.info.selfInfo?.unreadCount == 4)
    await store.close()
    #expect(try await storage.dump("store").keys.sorted() == ["g/g", StoreKeys.message(4, in: "g"), "meta", "p/g", "s"])
  }

  @Test func aStoreOfALaterVersionIsLeftAlone() async throws {
    var store = await open()
    _ = await store.write([group()])
    await store.close()
    try await storage.poke("store", StoreKeys.meta, "{\"version\":2,\"name\":\"store\"}")
    let before = try await storage.dump("store")
    store = make()
    let failures = await use(storage, store)
    #expect(failures.map(\.reason) == [.tooNew])
    await store.close()
    #expect(try await storage.dump("store") == before)
  }

  /// Rows as the first release has written them: where a later one reads them no more, the version changes, and rows
  /// are rewritten.
  @Test func rowsOfTheFirstVersion() async throws {
    let rows = [
      "meta": "{\"version\":1,\"name\":\"store\"}",
      "s": "{\"toldUntil\":5,\"bytes\":1000,\"order\":2}",
      "g/g": "{\"info\":\(Scene.info("g", lastSeq: 4)),\"status\":\"member\",\"firstStored\":4,\"activeAt\":1}",
      "g/old": "{\"info\":\(Scene.info("old")),\"status\":\"removed\",\"endedAt\":3,\"firstStored\":1,\"activeAt\":1}",
      "p/g": "{\"epoch\":\"e\",\"seq\":4,\"changeSeq\":0,\"own\":[6]}",
      StoreKeys.message(4, in: "g"): Scene.message("g", seq: 4),
      "u/g/bob": "{\"userID\":\"bob\",\"role\":\"Owner\"}",
      "U/bob": "{\"userID\":\"bob\",\"nickName\":\"B\",\"faceURL\":\"\",\"seenAt\":4}",
      StoreKeys.outbox(1, "a"): """
      {"clientMsgID":"a","method":"sendGroupTextMessage","params":{"groupID":"g","text":"t","clientMsgID":"a"},"createdAt":1,
      "order":1,"owner":"me","firstSentAt":7,"after":4,"state":"sending"}
      """,
      StoreKeys.outbox(2, "b"): """
      {"clientMsgID":"b","method":"sendGroupCustomMessage","params":{"groupID":"g","data":"d","clientMsgID":"b"},"createdAt":1,
      "order":2,"owner":"me","state":"failed","error":{"code":10017,"message":"muted"}}
      """,
    ]
    for (key, value) in rows { try await storage.poke("store", key, value) }
    let store = make()
    let start = await store.open()
    #expect(start.failures.isEmpty && start.conversations.count == 2 && start.positions["g"]?.own == [6])
    #expect(start.outbox.map(\.clientMsgID) == ["a", "b"] && start.outbox.map(\.firstSentAt) == [7, nil])
    #expect(await texts(store) == [4])
    #expect(await store.member("bob", of: "g")?.role == "Owner")
    #expect(await store.profile(of: "bob")?.nickName == "B")
    #expect(await store.conversation("old")?.status == .removed)
    #expect(await store.readFailure == nil)
  }

  @Test func aStorageThatCannotBeReadIsLeftWithTheNextChange() async throws {
    let store = await open()
    _ = await store.write([group()] + say("g", 1...3))
    await storage.fail { done, _ in done == .rows ? StorageError(.failed, "") : nil }
    #expect(await texts(store).isEmpty)
    #expect(await store.readFailure?.reason == .failed)
    let written = await store.write([])
    #expect(written.failures.map(\.reason) == [.failed] && !written.isDurable)
    #expect(await store.conversation("g")?.info.lastSeq == 3)
    #expect(await store.readFailure == nil)
  }

  // MARK: The end

  @Test func nothingOfAUserIsLeft() async throws {
    let store = await open()
    _ = await store.write([group(), .outbox([.put(row(1))], ticket: 1)])
    #expect(await store.forget() == nil)
    _ = await store.write([group(), StoreScene.message(1)])
    #expect(try await storage.dump("store").isEmpty)
    #expect(await store.conversations(hidden: true).isEmpty)
  }

  @Test func aStoreThatWasClosedMayBeForgotten() async throws {
    let store = await open()
    _ = await store.write([group()])
    await store.close()
    #expect(await store.conversation("g") != nil)
    #expect(await store.page(of: "g", before: nil, count: 1) == nil)
    #expect(await store.forget() == nil)
    #expect(try await storage.dump("store").isEmpty)
  }

  /// Also what a storage holds that has failed before.
  @Test func aStorageThatHasFailedIsForgottenToo() async throws {
    let store = await open()
    _ = await store.write([group()])
    await storage.fail { done, _ in done == .rows ? StorageError(.failed, "") : nil }
    _ = await texts(store)
    #expect(await store.write([]).failures.count == 1)
    await storage.fail { _, _ in nil }
    #expect(await store.forget() == nil)
    #expect(try await storage.dump("store").isEmpty)
  }

  @Test func whatCannotBeForgottenIsSaid() async {
    let store = await open()
    await storage.fail { done, _ in done == .destroy ? StorageError(.refused, "as the test says") : nil }
    #expect(await store.forget() == StorageFailure(reason: .refused, message: "as the test says", lostOutbox: false))
  }
}

/// Chance that is the same in each run.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  /// SplitMix64.
  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
