import Cluster
import GroupModel
import GroupRuntime
import StoreEngine
import Synchronization
import Testing
import ThrongTestKit

@testable import PostgreSQLStore
@testable import SQLiteStore

/// A store whose retention a test runs step by step.
protocol RetainingStore: AnyStore, HistoryStore {
  /// Runs the maintenance of a second.
  func tick() async
}

extension SQLiteStore: RetainingStore {}

extension PostgreSQLStore: RetainingStore {
  func tick() async {
    maintenance.runRound()
    cleanup.runRound()
  }
}

/// The removals that a store tells.
final class Removals: Sendable {
  private let all = Mutex<[HistoryRemoval]>([])

  func append(_ removal: HistoryRemoval) { all.withLock { $0.append(removal) } }

  /// Those since the last call.
  func popAll() -> [HistoryRemoval] {
    all.withLock { all in
      defer { all = [] }
      return all
    }
  }
}

/// Retention of the stores that keep.
@Suite struct SharedRetentionTests {
  private static let start: WallInstant = 1_700_000_000_000
  private static let hour: Int64 = 3_600_000
  private static let stores: [Backing] = [.sqlite, .postgresql]

  /// A store with limits for Public groups, and the removals that it tells.
  private func withLimits(
    _ backing: Backing, _ limits: HistoryLimits, clocks: any Clocks = ManualClocks(at: start), rows: Int = 500,
    _ body: (any RetainingStore, Removals) async throws -> Void
  ) async throws {
    let removals = Removals()
    func run(_ store: any RetainingStore) async throws {
      store.onRemoval { removals.append($0) }
      try await body(store, removals)
    }
    if backing == .postgresql {
      let tune: (inout PostgreSQLOptions) -> Void = {
        ($0.clocks, $0.history, $0.cleanupRows) = (clocks, [.public: limits], rows)
      }
      try await withPostgreSQL(tune) { try await run($0) }
    } else {
      try await withDirectory { directory in
        try await withSQLite(directory, { ($0.clocks, $0.history) = (clocks, [.public: limits]) }) { try await run($0) }
      }
    }
  }

  private func seqs(_ store: any RetainingStore, of group: GroupID = club) async throws -> [Int64] {
    try await store.messages(of: group, in: 0...1_000_000, newestFirst: false, limit: 1_000_000).compactMap(\.seq)
  }

  private func messages(_ seqs: ClosedRange<Int64>, in group: GroupID = club, at time: WallInstant = start) -> [StoreChange] {
    seqs.map { .append(.sample($0, in: group, at: time)) }
  }

  @Test(arguments: stores)
  func theNewestMessagesOfAGroupStay(_ backing: Backing) async throws {
    let clocks = ManualClocks(at: Self.start)
    try await withLimits(backing, HistoryLimits(count: 3), clocks: clocks) { store, removals in
      try await store.put([.create(), .create(team, type: .work)]).get()
      try await store.put(messages(1...3) + messages(1...9, in: team)).get()
      await store.tick()
      #expect(try await seqs(store) == [1, 2, 3] && removals.popAll().isEmpty)
      try await store.put(messages(4...50)).get()
      clocks.advance(by: 5_000)
      await store.tick()
      #expect(try await seqs(store) == [48, 49, 50])
      #expect(try await seqs(store, of: team).count == 9, "another type")
      #expect(removals.popAll() == [HistoryRemoval(groupID: club, epoch: "e1", firstSeq: 48)])
      #expect(store.writerHolds.removedMessages == 47)
      #expect(try await store.group(club, sentSince: 0)?.firstSeq == 48)
      try await store.put(messages(51...51)).get()
    }
  }

  @Test(arguments: stores)
  func messagesGoWhenTheyAreTooOldTipsAndTheLastOneToo(_ backing: Backing) async throws {
    let clocks = ManualClocks(at: Self.start)
    try await withLimits(backing, HistoryLimits(age: .seconds(3600)), clocks: clocks) { store, removals in
      try await store.put([.create()]).get()
      for (seq, time) in [(1, 0), (2, 0), (3, 10), (4, 20)] as [(Int64, Int64)] {
        let message = Message.sample(seq, at: Self.start + time, seq == 2 ? .tips("{}") : .text("x"))
        try await store.put([.append(message)]).get()
      }
      func left(after milliseconds: Int64) async throws -> [Int64] {
        clocks.advance(by: (Self.start + milliseconds).milliseconds(since: clocks.wall))
        await store.tick()
        return try await seqs(store)
      }
      #expect(try await left(after: Self.hour) == [1, 2, 3, 4])
      #expect(try await left(after: Self.hour + 5_001) == [])
      let group = try #require(try await store.group(club, sentSince: 0))
      #expect(group.firstSeq == 5 && group.lastMessage == nil && group.removedTime == Self.start + 20)
      #expect(removals.popAll().map(\.firstSeq) == [5])
      // The next message is the oldest again.
      try await store.put(messages(5...5, at: clocks.wall)).get()
      #expect(try await left(after: 2 * Self.hour) == [5])
      #expect(try await left(after: 3 * Self.hour + 20_000) == [])
      #expect(await store.put(messages(6...6)).failure == nil)
      #expect(await store.put(messages(8...8)).failure == .inconsistent, "a gap is none of retention's")
    }
  }

  @Test(arguments: stores)
  func anOldGroupWhoseLastMessageWasRemovedKeepsItsPlaceAndItsTime(_ backing: Backing) async throws {
    let clocks = ManualClocks(at: Self.start)
    try await withLimits(backing, HistoryLimits(age: .seconds(1)), clocks: clocks) { store, _ in
      try await store.put([.create(), .join(bob)] + messages(1...2, at: Self.start)).get()
      clocks.advance(by: 10_000)
      await store.tick()
      func listed(since: WallInstant) async throws -> Int {
        try await store.listedMemberships(of: bob, type: nil, changedSince: since, after: 0, limit: 9).count
      }
      #expect(try await listed(since: Self.start) == 1)
      #expect(try await listed(since: Self.start + 1) == 0)
      #expect(try await store.firstSeq(of: club, notBefore: 0) == nil)
    }
  }

  /// Of a message that may not be the last message no time is kept, however many of them go at once.
  @Test(arguments: stores)
  func theTimeOfWhatWasRemovedIsThatOfAMessageThatMayBeTheLast(_ backing: Backing) async throws {
    let clocks = ManualClocks(at: Self.start)
    try await withLimits(backing, HistoryLimits(count: 2), clocks: clocks) { store, _ in
      func append(_ seqs: ClosedRange<Int64>, _ extras: MessageExtras?) async throws {
        for seq in seqs {
          var message = Message.sample(seq, at: Self.start + seq)
          message.extras = extras
          try await store.put([.append(message)]).get()
        }
        clocks.advance(by: 5_000)
        await store.tick()
      }
      func loaded() async throws -> StoredGroup { try #require(try await store.group(club, sentSince: 0)) }
      try await store.put([.create()]).get()
      try await append(1...3, MessageExtras(extension: "e"))
      #expect(try await loaded().removedTime == Self.start + 1)
      try await append(4...30, MessageExtras(isExcludedFromLastMessage: true))
      try await append(31...60, MessageExtras(toUserIDList: [bob]))
      let group = try await loaded()
      #expect(group.firstSeq == 59 && group.removedTime == Self.start + 3 && group.lastTime == Self.start + 3)
      #expect(group.lastMessage == nil && group.lastSeq == 60 && group.newestTime == Self.start + 60)
      #expect(try await store.hiddenSeqs(of: club, from: carol, in: 1...99, newestFirst: false, limit: 99) == [59, 60])
    }
  }

  /// Whether a message was stored is not known of a time from which messages have gone.
  @Test(arguments: stores)
  func whatWasRemovedIsNotCalledAbsent(_ backing: Backing) async throws {
    let clocks = ManualClocks(at: Self.start)
    try await withLimits(backing, HistoryLimits(count: 3), clocks: clocks) { store, _ in
      func search(since: WallInstant) async throws -> SentSearch {
        try await store.sentMessage(of: club, epoch: "e1", from: alice, clientMsgID: "c", since: since, most: 100)
      }
      func append(_ seqs: ClosedRange<Int64>) -> [StoreChange] {
        seqs.map { .append(.sample($0, at: Self.start.advanced(byMilliseconds: $0 * 10))) }
      }
      try await store.put([.create()] + append(1...3)).get()
      await store.tick()
      #expect(try await search(since: Self.start) == .absent, "all are there")
      try await store.put(append(4...6)).get()
      clocks.advance(by: 5_000)
      await store.tick()
      #expect(try await seqs(store) == [4, 5, 6])
      #expect(try await search(since: Self.start + 30) == .removed)
      #expect(try await search(since: Self.start + 31) == .absent)
      // Where messages may never have been the last one, the time of the newest that has gone is not known.
      var record = GroupRecord.sample()
      record.messageFeatures = [.excluded]
      try await store.put([.putGroup(record, isNew: false)]).get()
      #expect(try await search(since: Self.start + 31) == .removed)
      #expect(try await search(since: Self.start + 40) == .removed, "from the oldest that is kept on")
      #expect(try await search(since: Self.start + 41) == .absent)
    }
  }

  @Test(arguments: stores)
  func aClockThatJumpsRemovesNothingForAnHour(_ backing: Backing) async throws {
    let clocks = ManualClocks(at: Self.start)
    try await withLimits(backing, HistoryLimits(age: .seconds(60), count: 3), clocks: clocks) { store, _ in
      try await store.put([.create()] + messages(1...2)).get()
      await store.tick()
      clocks.moveWall(by: 365 * 24 * Self.hour)
      clocks.advance(by: 6_000)
      await store.tick()
      #expect(try await seqs(store) == [1, 2])
      try await store.put(messages(3...5)).get()
      clocks.advance(by: 6_000)
      await store.tick()
      #expect(try await seqs(store) == [3, 4, 5], "the number does not depend on the clock")
      clocks.advance(by: Self.hour)
      await store.tick()
      #expect(try await seqs(store) == [])
    }
  }

  @Test(arguments: stores)
  func aClockThatIsPutRightAgainIsBelievedAtOnce(_ backing: Backing) async throws {
    let clocks = ManualClocks(at: Self.start)
    try await withLimits(backing, HistoryLimits(age: .seconds(60)), clocks: clocks) { store, _ in
      try await store.put([.create()] + messages(1...2)).get()
      await store.tick()
      for jump in [Self.hour, -Self.hour] {
        clocks.moveWall(by: jump)
        clocks.advance(by: 6_000)
        await store.tick()
        #expect(try await seqs(store) == [1, 2])
      }
      clocks.advance(by: 60_000)
      await store.tick()
      #expect(try await seqs(store) == [])
    }
  }

  @Test(arguments: stores)
  func aRecallOfWhatHasBeenRemovedIsNoContradiction(_ backing: Backing) async throws {
    try await withLimits(backing, HistoryLimits(count: 1)) { store, _ in
      try await store.put([.create()] + messages(1...5)).get()
      await store.tick()
      var recalled = Message.sample(2)
      recalled.isRevoked = true
      #expect(await store.put([.revise(recalled)]).failure == nil)
      recalled = Message.sample(9)
      #expect(await store.put([.revise(recalled)]).failure == .inconsistent)
    }
  }

  @Test func postgreSQLRemovesABoundedNumberOfRowsAtATimeAndGoesOnWithTheSameGroup() async throws {
    try await withLimits(.postgresql, HistoryLimits(count: 1), rows: 16) { store, removals in
      try await store.put([.create(), .create(team)] + messages(1...100) + messages(1...3, in: team)).get()
      await store.tick()
      let told = removals.popAll()
      #expect(told.filter { $0.groupID == club }.map(\.firstSeq).last == 100)
      #expect(told.map(\.firstSeq).max() == 100 && told.count >= 7, "\(told)")
      let (kept, others) = (try await seqs(store), try await seqs(store, of: team))
      #expect(kept == [100] && others == [3])
    }
  }

  private final class OddLeadership: Leadership {
    let leadsClub = Atomic(false)
    func leads(_ shard: Shard) -> Bool { shard != Shard(of: club) || leadsClub.load(ordering: .relaxed) }
  }

  @Test func aProcessWorksForTheGroupsThatItLeadsAloneAndForOthersAsSoonAsItLeadsThem() async throws {
    let (clocks, leadership) = (ManualClocks(at: Self.start), OddLeadership())
    let tune: (inout PostgreSQLOptions) -> Void = {
      ($0.clocks, $0.history, $0.leadership) = (clocks, [.public: HistoryLimits(count: 1)], leadership)
    }
    try await withPostgreSQL(tune) { store in
      try await store.put([.create(), .create(team)] + messages(1...5) + messages(1...5, in: team)).get()
      await store.tick()
      let (kept, others) = (try await seqs(store), try await seqs(store, of: team))
      #expect(kept == [1, 2, 3, 4, 5] && others == [5])
      leadership.leadsClub.store(true, ordering: .relaxed)
      clocks.advance(by: 5_000)
      await store.tick()
      #expect(try await seqs(store).count == 5, "nothing has told it of the group")
      store.didChangeLeadership()
      clocks.advance(by: 5_000)
      await store.tick()
      #expect(try await seqs(store) == [5])

      leadership.leadsClub.store(false, ordering: .relaxed)
      try await store.put([.dismiss(club, at: 100)]).get()
      await store.tick()
      #expect(try await store.groups(ofType: nil, after: 0, limit: 9).map(\.groupID) == [team])
      func rows() async throws -> Int { try await store.read { try $0.count("SELECT count(*) FROM dismissedGroup", []) } }
      #expect(try await rows() == 1)
      leadership.leadsClub.store(true, ordering: .relaxed)
      await store.tick()
      #expect(try await rows() == 0)
    }
  }

  @Test func aProcessPostsTheAfterEventsOfWhatItLeadsAlone() async throws {
    let leadership = OddLeadership()
    try await withPostgreSQL({ $0.leadership = leadership }) { store in
      try await store.put(
        [club, team, club].enumerated().map { index, group in
          .appendWebhook(
            WebhookEntry(id: "\(index)", .messageSent, data: [1], in: .group(group), at: 5, since: 6, number: 0))
        }
      ).get()
      func ids() async throws -> [String] {
        try await store.webhooks(in: nil, after: 0, limit: 9, bytes: .max).map(\.id)
      }
      #expect(try await ids() == ["1"])
      #expect(try await store.webhookCounts().pending == 1)
      #expect(try await store.webhooks(in: .group(club), after: 0, limit: 9, bytes: .max).map(\.id) == ["0", "2"])
      leadership.leadsClub.store(true, ordering: .relaxed)
      #expect(try await ids() == ["0", "1", "2"])
    }
  }

  @Test func aBacklogThatIsFullLooksAtAllGroupsInstead() {
    let backlog = GroupBacklog(capacity: 2)
    #expect(backlog.scanAfter == 0)
    backlog.continueScan(after: nil)
    backlog.insert([club, team])
    backlog.insert([club])
    #expect(backlog.popTouched(9).isEmpty && backlog.scanAfter == 0)
    backlog.continueScan(after: 7)
    backlog.scanAll()
    #expect(backlog.scanAfter == 7)
    backlog.continueScan(after: nil)
    #expect(backlog.scanAfter == 0, "once more for those that came meanwhile")
    backlog.continueScan(after: nil)
    #expect(backlog.scanAfter == nil)
  }
}
