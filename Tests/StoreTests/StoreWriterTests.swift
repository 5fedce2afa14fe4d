import GroupModel
import GroupRuntime
import Logging
import StoreEngine
import StoreTables
import Synchronization
import Testing
import ThrongTestKit

/// The writer of a store.
/// What the writers of all stores do alike, without a database.
@Suite struct StoreWriterTests {
  private static let contradicting = StoreChange.removeMember(bob, from: club, at: 1)
  private static let failing = StoreChange.forgetFormer(bob, in: club)

  private static func webhook(_ id: String) -> StoreChange {
    .appendWebhook(WebhookEntry(id: id, .groupFull, data: [123, 125], in: .group(club), at: 1, since: 1, number: 0))
  }

  /// Commits everything, then writes it, and answers as the store does.
  private func commit(
    _ commits: [([StoreChange], CommitGeneration)], to writer: ScriptedWriter
  ) -> [Commit.Answer] {
    let answers = Answers(expected: commits.count)
    for (index, commit) in commits.enumerated() {
      writer.commit(Commit(changes: commit.0, generation: commit.1) { answers.came($0, index) })
    }
    writer.drain()
    #expect(answers.order == Array(commits.indices))
    return answers.complete ?? []
  }

  @Test func pendingCommitsShareOneTransactionAndItsBoundHolds() {
    let writer = ScriptedWriter { $0.commitsPerTransaction = 2 }
    let answers = commit((0..<5).map { _ in ([.join(bob)], CommitGeneration()) }, to: writer)
    #expect(answers.allSatisfy { $0.failure == nil })
    #expect(writer.written == [["end", "put", "end", "put"], ["end", "put", "end", "put"], ["end", "put"]])
    #expect(writer.core.meter.counts.commits == 5 && writer.core.meter.counts.failures == 0)
  }

  @Test func aCommitThatContradictsTheRowsFailsAloneAndTakesItsGenerationWithIt() {
    let writer = ScriptedWriter()
    let broken = CommitGeneration()
    let answers = commit(
      [([.join(alice)], broken), ([.join(bob), Self.contradicting], broken), ([.join(bob)], broken), ([.join(carol)], .init())],
      to: writer)
    #expect(answers.map(\.failure) == [nil, .inconsistent, .abandoned, nil])
    // Together first, then each apart.
    #expect(writer.written == [["end", "put", "end", "put"]] && writer.attempts == 2)
    #expect(broken.isBroken && writer.core.canPersist)
    #expect(writer.core.meter.counts.failures == 2)
  }

  @Test func eachCommitIsToldOfItsOwnAfterEventsAsTheyAreStored() throws {
    let writer = ScriptedWriter()
    let answers = commit(
      [
        ([Self.webhook("a"), .join(alice), Self.webhook("b")], .init()), ([.join(bob)], .init()),
        ([Self.webhook("refused"), Self.contradicting, Self.webhook("never")], .init()), ([Self.webhook("c")], .init()),
      ], to: writer)
    #expect(answers.map(\.failure) == [nil, nil, .inconsistent, nil])
    let entries = answers.map { (try? $0.get()) ?? [] }
    #expect(entries.map { $0.map(\.id) } == [["a", "b"], [], [], ["c"]])
    // The number of the entry that was taken back is lost.
    #expect(entries.map { $0.map(\.storedNumber) } == [[1, 2], [], [], [4]])
  }

  @Test func aTransactionThatRunsTwiceAnswersOnce() throws {
    let writer = ScriptedWriter()
    writer.loseNextTransaction()
    let answers = commit([([Self.webhook("a")], .init()), ([Self.webhook("b")], .init())], to: writer)
    #expect(try answers.map { try $0.get().map(\.id) } == [["a"], ["b"]])
    #expect(writer.attempts == 2 && writer.written.count == 1)
  }

  @Test func aTransactionThatFailsFailsAllAndTheNextSuccessIsTold() {
    let writer = ScriptedWriter()
    let answers = commit([([.join(alice)], .init()), ([Self.failing], .init()), ([.join(bob)], .init())], to: writer)
    #expect(answers.map(\.failure) == [.unavailable, .unavailable, .unavailable])
    #expect(writer.written.isEmpty && !writer.core.canPersist)
    #expect(commit([([.join(alice)], .init())], to: writer).map(\.failure) == [nil])
    #expect(writer.core.canPersist)
  }

  @Test func usersAreDurableWithTheNextTransactionAndStayWhereItFails() {
    let writer = ScriptedWriter()
    writer.core.queue.setPresence(.online, of: alice)
    _ = commit([([Self.failing], .init())], to: writer)
    #expect(writer.core.queue.pendingUpdate(of: alice) == .online)
    _ = commit([([.join(bob)], .init())], to: writer)
    #expect(writer.core.queue.pendingUpdates.isEmpty)
  }

  @Test func beyondTheBoundACommitFailsInItsTurnWithoutBeingTried() {
    let writer = ScriptedWriter { $0.pendingCommits = 2 }
    let late = CommitGeneration()
    let answers = commit([([.join(alice)], .init()), ([.join(bob)], .init()), ([.join(carol)], late)], to: writer)
    #expect(answers.map(\.failure) == [nil, nil, .abandoned] && late.isBroken)
    #expect(writer.written == [["end", "put", "end", "put"]])
  }

  /// What a deletion writes anew is as long as what it erases from.
  @Test(arguments: longErasures) func rowsOfADeletionCountForTheBytesThatWait(rows: [ErasedRow]) {
    let writer = ScriptedWriter { $0.pendingBytes = 2000 }
    let late = CommitGeneration()
    let answers = commit([([.erase(rows)], .init()), ([.erase(rows)], .init()), ([.erase(rows)], late)], to: writer)
    #expect(answers.map(\.failure) == [nil, nil, .abandoned] && late.isBroken)
  }

  private static let longErasures: [[ErasedRow]] = {
    let users = (10..<60).compactMap { UserID("somebody-with-a-name-\($0)") }
    let bytes = [UInt8](repeating: 97, count: 1000)
    return [
      [.tips(number: 1, seq: 1, content: String(repeating: "a", count: 1000))], [.receiptList(number: 1, seq: 1, users)],
      [.targets(number: 1, seq: 1, users)], [.reportedMessage(number: 1, message: bytes)], [.webhook(number: 1, data: bytes)],
      [.failure(number: 1, data: bytes)], (1...20).map { ErasedRow.nameCard(number: 1, seq: $0, sender: bob) },
    ]
  }()

  @Test func whatWasLetThroughUnderALeaseThatIsLostFails() {
    let writer = ScriptedWriter()
    let generation = CommitGeneration()
    let answers = Answers(expected: 1)
    writer.commit(Commit(changes: [.join(bob)], generation: generation) { answers.came($0, 0) })
    writer.core.queue.breakAll()
    writer.drain()
    #expect(generation.isBroken && answers.order == [0] && writer.written == [[]])
  }

  @Test func onceAnswersHaveEndedNoCommitHasOne() {
    let writer = ScriptedWriter()
    let answers = Answers(expected: 3)
    func commit(_ change: StoreChange, _ index: Int) {
      writer.commit(Commit(changes: [change], generation: CommitGeneration()) { answers.came($0, index) })
    }
    commit(.join(alice), 0)
    commit(Self.failing, 1)
    #expect(writer.core.halt() && !writer.core.halt())
    writer.drain()
    commit(.join(bob), 2)
    writer.drain()
    #expect(answers.order.isEmpty && writer.core.hasHalted && !writer.core.canPersist)
  }

  @Test func whatDependsOnNoCommitOfAGenerationIsTakenOutPastItInItsOrder() {
    let writer = ScriptedWriter()
    let (doubtful, other, third) = (CommitGeneration(), CommitGeneration(), CommitGeneration())
    let answers = Answers(expected: 5)
    for (index, generation) in [other, doubtful, third, doubtful, other].enumerated() {
      writer.commit(Commit(changes: [.join(bob)], generation: generation) { answers.came($0, index) })
    }
    let taken = writer.core.queue.popCommits(except: [ObjectIdentifier(doubtful)])
    #expect(taken.map { ObjectIdentifier($0.generation) } == [other, third, other].map(ObjectIdentifier.init))
    #expect(writer.core.queue.pendingCommits == 2)
    writer.drain()
    #expect(answers.order == [1, 3])
  }

  @Test func afterTheEndACommitIsRefused() async {
    let writer = ScriptedWriter()
    #expect(writer.core.queue.close() && !writer.core.queue.close())
    #expect(await writer.refusal(of: [.join(bob)]) == .unavailable)
    #expect(writer.attempts == 0)
  }

  @Test func whereAnotherNodeDecidesACommitIsRefused() {
    let writer = ScriptedWriter()
    writer.core.queue.use(NobodyMayWrite())
    let generation = CommitGeneration()
    let answers = commit([([.join(bob)], generation), ([.join(carol)], .init())], to: writer)
    #expect(answers.map(\.failure) == [.abandoned, .abandoned] && generation.isBroken)
    #expect(writer.written == [[]] && writer.attempts == 1)
  }

  @Test func aCommitThatIsRefusedOvertakesNoneBeforeIt() {
    let writer = ScriptedWriter()
    let (other, generation) = (CommitGeneration(), CommitGeneration())
    let answers = Answers(expected: 3)
    func commit(_ user: UserID, _ generation: CommitGeneration, _ index: Int) {
      writer.commit(Commit(changes: [.join(user)], generation: generation) { answers.came($0, index) })
    }
    commit(alice, other, 0)
    commit(bob, generation, 1)
    writer.core.queue.use(NobodyMayWrite())
    commit(carol, generation, 2)
    #expect(writer.core.queue.pendingCommits == 3)
    writer.drain()
    #expect(answers.order == [0, 1, 2])
    // The second was not attempted: what it was decided upon is void.
    #expect(answers.complete?.map(\.failure) == [nil, .abandoned, .abandoned])
    #expect(writer.written == [["end", "put"]])
  }
}

/// Another node decides for all groups.
struct NobodyMayWrite: CommitAdmission {
  func admit(_ commit: Commit) -> Commit? { nil }
}

/// Writes into a list. Its thread is the test's: `drain` does what waits.
private final class ScriptedWriter: StoreWriter {
  private struct State {
    var written: [[String]] = []
    var attempts = 0
    var losesTransaction = false
  }

  let core: WriterCore
  private let state = Mutex(State())

  init(_ change: (inout EngineOptions) -> Void = { _ in }) {
    var options = EngineOptions(maintenanceInterval: .seconds(1))
    change(&options)
    core = WriterCore(options, clocks: SystemClocks(), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }

  /// The changes of each transaction that became durable.
  var written: [[String]] { state.withLock { $0.written } }
  /// How many transactions were begun.
  var attempts: Int { state.withLock { $0.attempts } }

  /// The next transaction is lost with its connection, and done again.
  func loseNextTransaction() { state.withLock { $0.losesTransaction = true } }

  func wake() {}

  func drain() { while let batch = core.queue.nextBatch() { perform(batch, ()) } }

  func write(
    _ batch: CommitQueue.Batch, _ access: Void, _ body: (ScriptedTransaction) throws -> Void
  ) throws(StoreError) -> [WebhookEntry] {
    do {
      let isLost = state.withLock { state in
        defer { state.losesTransaction = false }
        return state.losesTransaction
      }
      if isLost { _ = try run(body) }
      let transaction = try run(body)
      core.noteSuccess()
      state.withLock { $0.written.append(transaction.changes) }
      return transaction.entries.enumerated().map { index, entry in entry.stored(as: Int64(index) + 1) }
    } catch {
      throw error as? StoreError ?? StoreError(.unavailable, "\(error)")
    }
  }

  private func run(_ body: (ScriptedTransaction) throws -> Void) throws -> ScriptedTransaction {
    state.withLock { $0.attempts += 1 }
    let transaction = ScriptedTransaction()
    try body(transaction)
    return transaction
  }

  func didWrite(_ commits: [Commit]) {}

  /// The answer of a commit that never reaches the writer's thread.
  func refusal(of changes: [StoreChange]) async -> StoreError.Kind? {
    await withCheckedContinuation { continuation in
      commit(Commit(changes: changes, generation: CommitGeneration()) { continuation.resume(returning: $0.failure) })
    }
  }
}

/// Notes the names of changes. To remove a member contradicts the rows; to forget a former one fails.
private final class ScriptedTransaction: ChangeWriter {
  private(set) var changes: [String] = []
  private(set) var entries: [WebhookEntry] = []

  var appendedCount: Int { entries.count }

  func apart(_ body: () throws -> Void) throws -> StoreError? {
    let kept = changes
    do {
      try body()
      return nil
    } catch let failure as StoreError where failure.kind != .unavailable {
      changes = kept
      return failure
    }
  }

  func append(_ entry: WebhookEntry) throws { entries.append(entry) }
  func removeMember(_ user: UserID, from group: GroupID, at time: WallInstant) throws {
    throw StoreError(.inconsistent, "no member")
  }
  func forgetFormer(_ user: UserID, in group: GroupID) throws { throw StoreError(.unavailable, "the disk is full") }

  private func note(_ name: String) { changes.append(name) }

  func insert(_ record: GroupRecord) throws { note("insert") }
  func update(_ record: GroupRecord) throws { note("update") }
  func endDepartures(of user: UserID, from group: GroupID) throws { note("end") }
  func put(_ member: Member, in group: GroupID) throws { note("put") }
  func endHidden(of users: [UserID], at time: WallInstant, in group: GroupID) throws { note("shown") }
  func put(_ former: FormerMember, in group: GroupID) throws { note("former") }
  func put(lastShown seq: Int64, at time: WallInstant, in group: GroupID) throws { note("lastShown") }
  func put(_ attributes: GroupAttributes, in group: GroupID) throws { note("attributes") }
  func put(_ counters: [GroupCounters.Entry], in group: GroupID) throws { note("counters") }
  func insert(_ application: GroupApplication) throws { note("application") }
  func update(_ application: GroupApplication) throws { note("application") }
  func put(_ notification: SystemNotification, for recipients: NotificationRecipients) throws { note("notification") }
  func put(_ info: UserInfo) throws { note("info") }
  func put(status: String, of user: UserID) throws { note("status") }
  func put(_ block: UserAccess.Block?, of user: UserID, at time: WallInstant) throws { note("block") }
  func raiseTokens(of user: UserID, before instant: WallInstant, at time: WallInstant) throws { note("tokens") }
  func put(_ report: MessageReport) throws { note("report") }
  func closeReport(_ id: String, note: String?) throws { self.note("report") }
  func runShared(_ sql: String, _ values: [StoredValue]) throws { note("shared") }
  func advance(_ kind: ReadMark, of user: UserID, to mark: Int64) throws { note("mark") }
  func append(_ message: Message) throws { note("append") }
  func revise(_ message: Message) throws { note("revise") }
  func noteChange(of message: Message) throws { note("change") }
  func put(changeSeq: Int64, at time: WallInstant, in group: GroupID) throws { note("changeSeq") }
  func put(revision: Int64, board: Int64, in group: GroupID) throws { note("stamp") }
  func put(_ origin: ChangeOrigin, of seq: Int64, changeSeq: Int64, in group: GroupID) throws { note("origin") }
  func putReceiptMembers(_ members: [UserID], from seq: Int64, in group: GroupID) throws { note("receiptMembers") }
  func confirm(_ seqs: [Int64], by reader: UserID, in group: GroupID) throws { note("confirm") }
  func update(_ reaction: ReactionUpdate) throws { note("reaction") }
  func removeReactions(of seq: Int64, in group: GroupID) throws { note("reactions") }
  func dismiss(_ group: GroupID, at time: WallInstant, notifying notification: SystemNotification?) throws { note("dismiss") }
  func removeWebhooks(_ numbers: [Int64]) throws { note("webhooks") }
  func giveUp(_ entry: WebhookEntry, attempts: Int, _ error: String) throws { note("giveUp") }
  func removeWebhookFailures(_ numbers: [Int64]) throws { note("failures") }
  func trimWebhookFailures(keeping count: Int) throws { note("failures") }
}
