import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import Testing
import ThrongTestKit
import WireProtocol

@testable import SQLiteStore

extension WebhookEntry {
  fileprivate static func sample(
    _ id: String, _ lane: Lane = .group(club), at time: WallInstant = 5, trace: TraceContext? = nil
  ) -> WebhookEntry {
    WebhookEntry(
      id: id, .messageSent, data: Array(#"{"n":"\#(id)"}"#.utf8), in: lane, at: time, since: time.advanced(byMilliseconds: 1),
      number: 0, trace: trace)
  }
}

/// Webhooks, on every store.
/// After-events in the store (Protocol.md, "Webhooks").
@Suite struct WebhookStoreTests {
  private func all(
    _ store: any AnyStore, in lane: WebhookEntry.Lane? = nil, after: Int64 = 0, limit: Int = 100
  ) async throws -> [WebhookEntry] {
    try await store.webhooks(in: lane, after: after, limit: limit, bytes: .max)
  }

  @Test(arguments: Backing.allCases)
  func entriesComeBackWithEveryFieldInTheOrderOfTheirCommits(_ backing: Backing) async throws {
    try await backing.withStore { (store) async throws in
      let entries = [WebhookEntry.sample("a"), .sample("b", .user(alice)), .sample("c", .group(team), at: 9)]
      let stored = try await store.store([.create()] + entries.map(StoreChange.appendWebhook))
      #expect(stored.map(\.storedNumber) == [1, 2, 3] && stored == entries)
      #expect(entries.map(\.storedNumber) == [0, 0, 0], "the store changes nothing that a decision holds")
      let read = try await all(store)
      #expect(read.map(\.storedNumber) == [1, 2, 3])
      for (kept, made) in zip(read, entries) {
        #expect(kept.id == made.id && kept.lane == made.lane && kept.type == made.type && kept.data == made.data)
        #expect(kept.timestamp == made.timestamp && kept.since == made.since)
      }
      #expect(try await all(store, in: .user(alice)).map(\.id) == ["b"])
      #expect(try await all(store, after: 1, limit: 1).map(\.id) == ["b"])
      #expect(try await all(store, in: .group(club), after: 1).isEmpty)
      #expect(try await store.webhookCounts() == WebhookCounts(pending: 3, failures: 0))
    }
  }

  @Test(arguments: Backing.allCases)
  func anEntryShowsTheProfilesOfItsTransactionInTheStoreAndInItsAnswer(_ backing: Backing) async throws {
    try await backing.withStore { (store) async throws in
      let joined = WebhookContent.memberJoined(club, [.outsider(alice)], memberCount: 2, how: .join, by: nil)
      let made = WebhookEntry(.memberJoined, joined, in: .group(club), at: 5)
      let profile = UserInfo(userID: alice, nickName: "Al")
      let stored = try await store.store([.create(), .putUserInfo(profile), .appendWebhook(made)])
      let read = try await all(store)
      #expect(read == stored && read.map(\.data) == stored.map(\.data))
      #expect(try JSON(stored[0].data)["memberList"][0]["nickName"].string == "Al")
      #expect(try JSON(made.data)["memberList"][0]["nickName"] == .null, "what the decision holds stays as it was")
    }
  }

  @Test(arguments: Backing.allCases)
  func aCommitThatFailsLeavesNoEntry(_ backing: Backing) async throws {
    try await backing.withStore { (store) async throws in
      let result = await store.put([.appendWebhook(.sample("a")), .append(.sample(7))])
      #expect(throws: StoreError.self) { try result.get() }
      #expect(try await all(store).isEmpty)
    }
  }

  @Test(arguments: Backing.allCases)
  func besideACommitThatFailsTheOthersAreToldOfTheirOwnEntries(_ backing: Backing) async throws {
    try await backing.withStore { (store) async throws in
      let answers = await store.putTogether([
        ([.create(), .appendWebhook(.sample("a"))], CommitGeneration()),
        ([.appendWebhook(.sample("b")), .append(.sample(7))], CommitGeneration()),
        ([.append(.sample(1)), .appendWebhook(.sample("c")), .appendWebhook(.sample("d", .user(alice)))], CommitGeneration()),
      ])
      #expect(answers.map(\.failure) == [nil, .inconsistent, nil])
      let told = answers.map { (try? $0.get()) ?? [] }
      #expect(told.map { $0.map(\.id) } == [["a"], [], ["c", "d"]])
      let read = try await all(store)
      #expect(read.map(\.id) == ["a", "c", "d"] && read.map(\.storedNumber) == told.joined().map(\.storedNumber))
    }
  }

  @Test(arguments: Backing.allCases)
  func whatIsRemovedIsGoneAndItsNumberIsNotUsedAgain(_ backing: Backing) async throws {
    try await backing.withStore { (store) async throws in
      try await store.put([.appendWebhook(.sample("a")), .appendWebhook(.sample("b"))]).get()
      try await store.put([.removeWebhooks([2, 77])]).get()
      #expect(try await all(store).map(\.id) == ["a"])
      try await store.put([.removeWebhooks([1])]).get()
      #expect(try await store.store([.appendWebhook(.sample("c"))]).map(\.storedNumber) == [3])
    }
  }

  @Test(arguments: Backing.allCases)
  func whatIsGivenUpMovesToTheFailuresAndKeepsItsId(_ backing: Backing) async throws {
    try await backing.withStore { (store) async throws in
      let stored = try #require(try await store.store([.appendWebhook(.sample("a", .user(bob)))]).first)
      let volatile = WebhookEntry.sample("v")
      try await store.put([
        .giveUpWebhook(stored, attempts: 4, lastError: "why\0"), .giveUpWebhook(volatile, attempts: 0, lastError: "not tried"),
      ]).get()
      #expect(try await store.webhookCounts() == WebhookCounts(pending: 0, failures: 2))
      let failures = try await store.webhookFailures(after: 0, limit: 9, bytes: .max)
      #expect(failures.map(\.entry.id) == ["a", "v"] && failures.map(\.attempts) == [4, 0])
      #expect(failures.map(\.lastError) == ["why\0", "not tried"] && failures.map(\.entry.data) == [stored.data, volatile.data])
      #expect(failures[0].entry.lane == .user(bob) && failures[0].entry.timestamp == 5 && failures[0].entry.storedNumber == 0)
      let second = try await store.webhookFailures(after: failures[0].number, limit: 1, bytes: .max)
      #expect(second.map(\.number) == [failures[1].number])
      try await store.put([.removeWebhookFailures([failures[0].number])]).get()
      #expect(try await store.webhookCounts() == WebhookCounts(pending: 0, failures: 1))
    }
  }

  @Test(arguments: Backing.allCases)
  func theTraceOfAnEntryIsKept(_ backing: Backing) async throws {
    try await backing.withStore { (store) async throws in
      let unsampled = TraceContext(traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00")
      let traces: [TraceContext?] = [.begin(), nil, unsampled]
      let made = traces.enumerated().map { WebhookEntry.sample("\($0)", .user(alice), trace: $1) }
      let stored = try await store.store(made.map(StoreChange.appendWebhook))
      #expect(stored.map(\.trace) == traces)
      #expect(try await all(store).map(\.trace) == traces)
      try await store.put(stored.map { .giveUpWebhook($0, attempts: 1, lastError: "e") }).get()
      let failures = try await store.webhookFailures(after: 0, limit: 9, bytes: .max)
      #expect(failures.map(\.entry.trace) == traces)
    }
  }

  @Test(arguments: Backing.allCases)
  func theOldestFailuresAreTrimmed(_ backing: Backing) async throws {
    try await backing.withStore { (store) async throws in
      try await store.put((0..<5).map { .giveUpWebhook(.sample("f\($0)"), attempts: 1, lastError: "e") }).get()
      try await store.put([.trimWebhookFailures(keeping: 2)]).get()
      #expect(try await store.webhookFailures(after: 0, limit: 9, bytes: .max).map(\.entry.id) == ["f3", "f4"])
    }
  }

  @Test func aReadEndsWithTheBytesThatItMayBringAndBringsOneAtLeast() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { (store) async throws in
        try await store.put((0..<5).map { .appendWebhook(.sample("\($0)")) }).get()
        #expect(try await store.webhooks(in: nil, after: 0, limit: 9, bytes: 1).count == 1)
        #expect(try await store.webhooks(in: nil, after: 0, limit: 9, bytes: 20).count == 3)
        try await store.put((0..<5).map { .giveUpWebhook(.sample("\($0)"), attempts: 1, lastError: "e") }).get()
        #expect(try await store.webhookFailures(after: 0, limit: 9, bytes: 1).count == 1)
      }
    }
  }

  @Test(arguments: [false, true])
  func usersWhomACrashFoundOnlineAreOfflineAtTheNextOpening(_ posts: Bool) async throws {
    try await withDirectory { directory in
      try await withSQLite(directory, { $0.postsUserOffline = posts }) { (store) async throws in
        store.notePresence(of: alice, offlineSince: nil)
        store.notePresence(of: bob, offlineSince: 5)
        try await store.put([.create()]).get()
      }
      for _ in 0..<2 {
        try await withSQLite(directory, { $0.postsUserOffline = posts }) { (store) async throws in
          let entries = try await all(store)
          #expect(entries.map(\.type) == (posts ? [.userOffline] : []) && entries.allSatisfy { $0.lane == .user(alice) })
          #expect(entries.allSatisfy { String(decoding: $0.data, as: UTF8.self) == #"{"userID":"alice","platform":"Unknown"}"# })
        }
      }
    }
  }

  @Test func entriesAndFailuresOutliveTheProcess() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { (store) async throws in
        try await store.put([.appendWebhook(.sample("a")), .giveUpWebhook(.sample("f"), attempts: 2, lastError: "e")]).get()
      }
      try await withSQLite(directory) { (store) async throws in
        #expect(try await all(store).map(\.id) == ["a"])
        #expect(try await store.webhookFailures(after: 0, limit: 9, bytes: .max).map(\.entry.id) == ["f"])
      }
    }
  }
}

/// Webhooks of messages.
/// The after-events of stored messages, which the store keeps without a copy of the message.
@Suite struct MessageWebhookTests {
  /// A message and its after-event, as a group stores them.
  private func sent(
    _ seqs: ClosedRange<Int64>, in group: GroupID = club, from sender: UserID = alice, trace: TraceContext? = nil
  ) -> [(Message, WebhookEntry)] {
    seqs.map { seq in
      var message = Message.sample(seq, in: group, from: sender, at: WallInstant(seq + 1000), .text("text \(seq)"))
      // Some have what most have not.
      if seq % 3 == 0 {
        message.extras = MessageExtras(
          extension: "data \(seq)", replyTo: ReplyReference(seq: 1, sender: sender), isExcludedFromUnreadCount: true,
          toUserIDList: [bob])
      }
      let sent = WebhookContent.messageSent(MessageInfo(message), isStored: true)
      return (message, WebhookEntry(.messageSent, sent, in: .group(group), at: message.timestamp, trace: trace))
    }
  }

  private func changes(_ sent: [(Message, WebhookEntry)]) -> [StoreChange] {
    sent.flatMap { [.append($0.0), .appendWebhook($0.1)] }
  }

  /// Stores messages with their after-events.
  /// - Returns: these as they were stored.
  private func put(
    _ sent: [(Message, WebhookEntry)], behind others: [StoreChange], in store: any AnyStore
  ) async throws -> [WebhookEntry] {
    let stored = try await store.store(others + changes(sent))
    #expect(stored == sent.map(\.1))
    return stored
  }

  private func all(
    _ store: any AnyStore, in lane: WebhookEntry.Lane? = nil, after: Int64 = 0, limit: Int = 1000
  ) async throws -> [WebhookEntry] {
    try await store.webhooks(in: lane, after: after, limit: limit, bytes: .max)
  }

  private func expect(
    _ read: [WebhookEntry], are made: [WebhookEntry], sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(read.map(\.storedNumber) == made.map(\.storedNumber), sourceLocation: sourceLocation)
    #expect(read.map(\.id) == made.map(\.id) && read.map(\.lane) == made.map(\.lane), sourceLocation: sourceLocation)
    #expect(read.map(\.data) == made.map(\.data) && read.map(\.type) == made.map(\.type), sourceLocation: sourceLocation)
    #expect(
      read.map(\.timestamp) == made.map(\.timestamp) && read.map(\.since) == made.map(\.since), sourceLocation: sourceLocation)
  }

  private func rowCount(_ store: SQLiteStore) async throws -> Int {
    try await store.pool.read { try $0.count("SELECT count(*) FROM webhook", []) }
  }

  @Test(arguments: Backing.allCases)
  func theyComeBackAsTheyWereMade(_ backing: Backing) async throws {
    try await backing.withStore { (store) async throws in
      var made = try await put(sent(1...70), behind: [.create(), .create(team)], in: store)
      let other = try await put(sent(1...3, in: team), behind: [], in: store)
      made += try await put(sent(71...100), behind: [], in: store)
      let numbers = made.map(\.storedNumber)
      #expect(numbers == Set(numbers).sorted())
      expect(try await all(store, in: .group(club)), are: made)
      expect(try await all(store, in: .group(club), after: made[9].storedNumber, limit: 60), are: Array(made[10..<70]))
      expect(try await all(store), are: (made + other).sorted { $0.storedNumber < $1.storedNumber })
      #expect(try await store.webhookCounts().pending == 103)
    }
  }

  @Test func thoseThatFollowEachOtherShareARowOfAtMost64() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { (store) async throws in
        try await store.put([.create()] + changes(sent(1...64))).get()
        #expect(try await rowCount(store) == 1)
        try await store.put(changes(sent(65...129))).get()
        #expect(try await rowCount(store) == 3)
      }
    }
  }

  @Test(arguments: Backing.allCases)
  func messagesOfSeveralTracesKeepTheirOwn(_ backing: Backing) async throws {
    try await backing.withStore { (store) async throws in
      let (one, other) = (TraceContext.begin(), TraceContext.begin())
      let batches = [
        sent(1...3), sent(4...6, trace: one), sent(7...7, trace: other), sent(8...9, trace: one), sent(10...10),
      ]
      var made: [WebhookEntry] = []
      for (index, batch) in batches.enumerated() {
        made += try await put(batch, behind: index == 0 ? [.create()] : [], in: store)
      }
      let traces: [TraceContext?] = [nil, nil, nil, one, one, one, other, one, one, nil]
      #expect(made.map(\.trace) == traces)
      expect(try await all(store), are: made)
      #expect(try await all(store).map(\.trace) == traces)
      // What is left of a row keeps it, too.
      try await store.put([.removeWebhooks([made[4].storedNumber])]).get()
      #expect(try await all(store, in: .group(club)).map(\.trace) == [nil, nil, nil, one, one, other, one, one, nil])
      try await store.put([.giveUpWebhook(made[6], attempts: 1, lastError: "e")]).get()
      #expect(try await store.webhookFailures(after: 0, limit: 9, bytes: .max).map(\.entry.trace) == [other])
    }
  }

  @Test func messagesOfOneTraceShareARow() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { (store) async throws in
        let trace = TraceContext.begin()
        try await store.put([.create()] + changes(sent(1...10, trace: trace))).get()
        #expect(try await rowCount(store) == 1)
        try await store.put(changes(sent(11...12)) + changes(sent(13...14, trace: trace))).get()
        #expect(try await rowCount(store) == 3)
      }
    }
  }

  /// The end of a group copies its messages into the entries that wait.
  @Test(arguments: Backing.allCases)
  func tracesOutliveTheGroup(_ backing: Backing) async throws {
    try await backing.withStore { (store) async throws in
      let trace = TraceContext.begin()
      _ = try await put(sent(1...3, trace: trace), behind: [.create()], in: store)
      try await store.put([.dismiss(club, at: 9)]).get()
      #expect(try await all(store).map(\.trace) == [trace, trace, trace])
    }
  }

  @Test(arguments: Backing.allCases)
  func otherEventsOfTheGroupKeepTheirPlaceBetweenThem(_ backing: Backing) async throws {
    try await backing.withStore { (store) async throws in
      let messages = sent(1...4)
      let others = [WebhookEntry.sample("a"), .sample("b")]
      let made = [messages[0].1, messages[1].1, others[0], messages[2].1, others[1], messages[3].1]
      let last = sent(6...6)
      // A tip has a place in the history and no after-event.
      let tip = StoreChange.append(.sample(5, .tips("{}")))
      let stored = try await store.store(
        [.create()] + changes(Array(messages[..<2])) + [.appendWebhook(others[0])] + changes([messages[2]])
          + [.appendWebhook(others[1])] + changes([messages[3]]) + [tip] + changes(last))
      #expect(stored == made + [last[0].1])
      expect(try await all(store), are: stored)
    }
  }

  @Test(arguments: Backing.allCases)
  func someOfThoseThatShareARowCanBeRemovedAndGivenUp(_ backing: Backing) async throws {
    try await backing.withStore { (store) async throws in
      let made = try await put(sent(1...20), behind: [.create()], in: store)
      var left = made
      for removed in [[4, 5], [0], [19], [2, 3, 6], [10]] {
        try await store.put([.removeWebhooks(removed.map { made[$0].storedNumber })]).get()
        left.removeAll { entry in removed.contains { made[$0] == entry } }
        expect(try await all(store), are: left)
      }
      try await store.put([.giveUpWebhook(made[8], attempts: 1, lastError: "e")]).get()
      left.removeAll { $0 == made[8] }
      expect(try await all(store, in: .group(club)), are: left)
      #expect(try await store.webhookCounts() == WebhookCounts(pending: left.count, failures: 1))
      #expect(try await store.webhookFailures(after: 0, limit: 9, bytes: .max).map(\.entry.data) == [made[8].data])
      try await store.put([.removeWebhooks(made.map(\.storedNumber))]).get()
      #expect(try await all(store).isEmpty)
    }
  }

  @Test func aMessageIsShownAsItIsWhenItIsRead() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { (store) async throws in
        let made = sent(1...2)
        try await store.put([.create()] + changes(made)).get()
        var recalled = made[0].0
        recalled.isRevoked = true
        recalled.content = .text("")
        let info = UserInfo(userID: alice, nickName: "Al")
        try await store.put([.revise(recalled), .putUserInfo(info)]).get()
        let data = try await all(store).map { try JSON($0.data) }
        #expect(data.map { $0["message"]["text"].string } == [nil, "text 2"])
        #expect(data.map { $0["message"]["isRevoked"].bool } == [true, nil])
        #expect(data.map { $0["message"]["nickName"].string } == ["Al", "Al"])
        #expect(try await all(store).map(\.id) == made.map(\.1.id))
      }
    }
  }

  /// "What is durable has its entry durable with it": the group's end takes its messages away.
  @Test(arguments: [false, true])
  func theyOutliveTheirGroup(inOneTransaction: Bool) async throws {
    try await withDirectory { directory in
      try await withSQLite(directory, { $0.cleanupRows = 7 }) { (store) async throws in
        let (made, later) = (sent(1...20), sent(1...3))
        let end: [StoreChange] = [.dismiss(club, at: 9), .create(epoch: "e2")] + changes(later)
        var left: [WebhookEntry]
        if inOneTransaction {
          left = try await store.store([.create()] + changes(made) + end)
        } else {
          left = try await put(made, behind: [.create()], in: store)
          try await index(store)
          try await store.put([.removeWebhooks([left.removeFirst().storedNumber])]).get()
          left += try await store.store(end)
        }
        #expect(left == (made.dropFirst(inOneTransaction ? 0 : 1) + later).map(\.1))
        await store.waitForWriter()
        #expect(try await store.pool.read { try $0.count("SELECT count(*) FROM message", []) } == 3)
        expect(try await all(store), are: left)
        expect(try await all(store, in: .group(club)), are: left)
      }
    }
  }

  /// Indexes all rows there are.
  private func index(_ store: SQLiteStore) async throws {
    for _ in 0..<2 { await store.tick() }
    await store.waitForWriter()
    #expect(try await store.pool.read { try $0.count("SELECT count(*) FROM webhook WHERE isIndexed = 0", []) } == 0)
  }

  @Test func thoseThatWaitForASecondAreIndexedAndALaneComesInOrderAllTheSame() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory, { $0.cleanupRows = 2 }) { (store) async throws in
        let messages = sent(1...120)
        var made = try await store.store([.create()] + changes(Array(messages[..<100])) + [.appendWebhook(.sample("a"))])
        await store.tick()
        #expect(try await store.pool.read { try WebhookIndexing.through(in: $0) } == 0, "they came a moment ago")
        try await index(store)
        made += try await store.store(changes(Array(messages[100...])) + [.appendWebhook(.sample("b"))])
        let others = [made.remove(at: 100), made.removeLast()]
        #expect(made == messages.map(\.1))
        // Both rows of a divided one are indexed as it was.
        let removed = [30, 64, 110]
        try await store.put([.removeWebhooks(removed.map { made[$0].storedNumber })]).get()
        let left = made.filter { entry in !removed.contains { made[$0] == entry } }
        let split = left.count { $0.storedNumber < others[0].storedNumber }
        let expected = left[..<split] + [others[0]] + left[split...] + [others[1]]
        expect(try await all(store, in: .group(club)), are: Array(expected))
        for start in stride(from: 0, to: expected.count - 1, by: 9) {
          let read = try await all(store, in: .group(club), after: expected[start].storedNumber, limit: 20)
          expect(read, are: Array(expected.dropFirst(start + 1).prefix(20)))
        }
      }
    }
  }

  @Test func afterARestartNothingIsTakenForIndexedThatIsNot() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { (store) async throws in
        let made = try await put(sent(1...100), behind: [.create()], in: store)
        try await index(store)
        try await store.put([.removeWebhooks(made.map(\.storedNumber))]).get()
      }
      try await withSQLite(directory) { (store) async throws in
        let later = try await put(sent(101...102), behind: [], in: store)
        expect(try await all(store, in: .group(club)), are: later)
      }
    }
  }

  @Test func aCommitThatIsRefusedLeavesNoneAndThoseBesideItKeepTheirs() async throws {
    try await withDirectory { directory in
      let disk = FaultyDisk(directory: directory)
      try await withSQLite(directory) { (store) async throws in
        try await store.put([.create(), .create(team)]).get()
        let (good, bad, other) = (sent(1...3), sent(4...5), sent(1...2, in: team))
        // The three wait together, so that they share a transaction.
        disk.holdSync()
        let answers = Answers(expected: 4)
        let commits = [[StoreChange.join(alice)], changes(good), changes(bad) + [.append(.sample(77))], changes(other)]
        for (index, changes) in commits.enumerated() {
          store.commit(Commit(changes: changes, generation: CommitGeneration()) { answers.came($0, index) })
          if index == 0 { await disk.writerIsHeld() }
        }
        disk.release()
        let all = await answers.all()
        #expect(all.map { $0.failure == nil } == [true, true, false, true])
        let stored = try all[1].get() + all[3].get()
        #expect(stored == (good + other).map(\.1))
        expect(try await self.all(store), are: stored)
      }
    }
  }

  @Test func afterARestartNumbersGoOnBehindThoseThatWait() async throws {
    try await withDirectory { directory in
      var made: [WebhookEntry] = []
      try await withSQLite(directory) { (store) async throws in
        made = try await put(sent(1...3), behind: [.create()], in: store)
      }
      try await withSQLite(directory) { (store) async throws in
        let later = try await store.store([.appendWebhook(.sample("later"))])
        #expect(later.map(\.storedNumber) == [made[2].storedNumber + 1])
        expect(try await all(store), are: made + later)
      }
    }
  }

  /// A damaged table holds up nothing.
  @Test func aMessageThatIsLostIsToldOfByItsPlace() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { (store) async throws in
        let made = try await put(sent(1...3), behind: [.create()], in: store)
        try await store.pool.writeWithoutTransaction { try $0.execute(sql: "DELETE FROM message WHERE seq = 2") }
        let read = try await all(store)
        #expect(read.map(\.storedNumber) == made.map(\.storedNumber))
        #expect(String(decoding: read[1].data, as: UTF8.self) == #"{"groupID":"club","message":{"seq":2}}"#)
        #expect(read[2].data == made[2].data)
      }
    }
  }
}
