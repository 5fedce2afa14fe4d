import Foundation
import GroupModel
import GroupRuntime
import Logging
import Synchronization
import Testing
import ThrongTestKit

@testable import OutgoingHTTP
@testable import Webhooks

/// All lanes are another process's, until they are gained at once.
private final class Ownership: LaneOwnership {
  private let number = Mutex<Int64>(0)
  func gain() { number.withLock { $0 += 1 } }
  func gain(of _: WebhookEntry.Lane) -> Int64? { number.withLock { $0 > 0 ? $0 : nil } }
  var lastGain: Int64 { number.withLock { $0 } }
}

/// Keeps the spans of attempts.
private final class Spans: SpanRecorder {
  private let kept = Mutex<[Span]>([])
  var spans: [Span] { kept.withLock { $0 } }
  func record(_ span: Span) { kept.withLock { $0.append(span) } }
}

/// The outbox over a real receiver and the store for tests.
@Suite struct WebhookOutboxTests {
  private let store = InMemoryStore()
  private let clocks = ManualClocks()
  private let alarms = ManualAlarms()

  private func outbox(
    of receiver: Receiver, retention: Duration = .seconds(3600), maxPending: Int = 1000, ownership: Ownership? = nil,
    spans: Spans? = nil
  ) async throws -> WebhookOutbox {
    let secret = try WebhookSecret("whsec_" + String(repeating: "A", count: 44))
    var configuration = HTTPClient.Configuration()
    // A request without an answer is in flight until the end of its test.
    configuration.timeout = .seconds(600)
    let client = WebhookClient(try HTTPClient(configuration), url: receiver.url, secret: secret, clocks: clocks, spans: spans)
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    return try await WebhookOutbox(
      WebhookOutbox.Configuration(retention: retention, maxPending: maxPending, maxInFlight: 4), client: client, store: store,
      groups: store, ownership: ownership, alarms: alarms, logger: logger)
  }

  private func entry(_ id: String, _ group: String = "g", trace: TraceContext? = nil) throws -> WebhookEntry {
    let now = clocks.wall
    return WebhookEntry(
      id: id, .messageSent, data: Array("{}".utf8), in: .group(try #require(GroupID(group))), at: now, since: now, number: 0,
      trace: trace)
  }

  /// Stores entries and posts them, as groups do.
  private func post(_ entries: [WebhookEntry], to outbox: WebhookOutbox) async throws {
    for entry in try await commit(entries.map(StoreChange.appendWebhook)) { outbox.post(entry) }
  }

  /// - Returns: the entries as they are stored.
  @discardableResult
  private func commit(_ changes: [StoreChange]) async throws -> [WebhookEntry] {
    let result = await withCheckedContinuation { continuation in
      store.commit(Commit(changes: changes, generation: CommitGeneration()) { continuation.resume(returning: $0) })
    }
    return try result.get()
  }

  /// Lets time pass, after which an outbox does what it has put off.
  private func pass(_ milliseconds: Int64 = 250) {
    clocks.advance(by: milliseconds)
    alarms.ring(upTo: clocks.monotonic)
  }

  /// Lets time pass until nothing waits in the store.
  private func waitUntilEmpty() async throws {
    try await waitUntil("the store is empty") {
      pass()
      return try await store.webhookCounts().pending == 0
    }
  }

  private func ids(_ log: Receiver.Log) -> [String?] { log.requests.map { $0.headers["webhook-id"] } }

  @Test func whatWasDeliveredLeavesTheStore() async throws {
    try await Receiver.run { receiver in
      let outbox = try await outbox(of: receiver)
      try await post((0..<20).map { try entry("\($0)") }, to: outbox)
      await receiver.wait { $0.requests.count == 20 }
      #expect(ids(receiver.log) == (0..<20).map { "\($0)" })
      try await waitUntil("all are delivered") { outbox.pendingCount == 0 }
      #expect(try await store.webhookCounts().pending == 20, "they are removed together")
      try await waitUntilEmpty()
      #expect(outbox.pendingCount == 0)
      await outbox.stop()
    }
  }

  /// A group that comes from another node may have entries in the store, of which this process hears
  /// only by its first new one.
  @Test func aNewOwnerBeginsWithWhatTheStoreHas() async throws {
    let ownership = Ownership()
    try await Receiver.run { receiver in
      let outbox = try await outbox(of: receiver, ownership: ownership)
      try await commit((0..<600).map { .appendWebhook(try entry("old\($0)")) })
      ownership.gain()
      try await post((0..<3).map { try entry("new\($0)") }, to: outbox)
      await receiver.wait { $0.requests.count == 603 }
      #expect(ids(receiver.log) == (0..<600).map { "old\($0)" } + (0..<3).map { "new\($0)" })
      try await waitUntilEmpty()
      await outbox.stop()
    }
  }

  /// What another process has stored for a lane of this one, with a number before its own newest.
  @Test func anEntryOfAnotherProcessIsPostedBesideABusyLane() async throws {
    let ownership = Ownership()
    ownership.gain()
    let isGood = Mutex(false)
    try await Receiver.run(reply: { _ in isGood.withLock { $0 } ? .answer() : .answer(status: "500 No") }) { receiver in
      let outbox = try await outbox(of: receiver, ownership: ownership)
      let stored = try await commit(["first", "other", "last"].map { .appendWebhook(try entry($0)) })
      outbox.post(stored[0])
      outbox.post(stored[2])
      await receiver.wait { $0.requests.count == 1 }
      outbox.searchStore()
      isGood.withLock { $0 = true }
      try await waitUntilEmpty()
      #expect(Set(ids(receiver.log)) == ["first", "other", "last"])
      await outbox.stop()
    }
  }

  /// What nobody has told of is found within a minute, whatever was counted.
  @Test func aStoreThatOthersFillIsLookedAtNowAndThen() async throws {
    let ownership = Ownership()
    ownership.gain()
    try await Receiver.run { receiver in
      let outbox = try await outbox(of: receiver, ownership: ownership)
      try await post([try entry("own")], to: outbox)
      try await waitUntilEmpty()
      try await commit([.appendWebhook(try entry("other"))])
      try await waitUntil("it is posted") {
        pass(60_000)
        return receiver.log.requests.count == 2
      }
      try await waitUntilEmpty()
      await outbox.stop()
    }
  }

  /// Entries of an earlier run are posted before new ones of their group.
  @Test func anOutboxGoesOnWithWhatTheStoreHas() async throws {
    try await commit((0..<600).map { .appendWebhook(try entry("old\($0)", $0.isMultiple(of: 2) ? "g" : "h")) })
    try await Receiver.run { receiver in
      let outbox = try await outbox(of: receiver)
      try await post([try entry("new")], to: outbox)
      await receiver.wait { $0.requests.count == 601 }
      let ids = ids(receiver.log).compactMap { $0 }
      #expect(
        ids.filter { $0 == "new" || Int($0.dropFirst(3))?.isMultiple(of: 2) == true } == (0..<300).map { "old\($0 * 2)" } + [
          "new"
        ])
      try await waitUntilEmpty()
      await outbox.stop()
    }
  }

  @Test func whatIsGivenUpIsAFailureAndCanBeRetried() async throws {
    let isGood = Mutex(false)
    try await Receiver.run(reply: { _ in isGood.withLock { $0 } ? .answer() : .answer(status: "500 No") }) { receiver in
      let outbox = try await outbox(of: receiver, retention: .zero)
      outbox.post(try entry("volatile", "h"))
      try await post([try entry("stored")], to: outbox)
      try await waitUntil("both are failures") { try await store.webhookCounts() == WebhookCounts(pending: 0, failures: 2) }
      let failures = try await store.webhookFailures(after: 0, limit: 9, bytes: .max)
      #expect(Set(failures.map(\.entry.id)) == ["volatile", "stored"])
      #expect(failures.allSatisfy { $0.attempts == 1 && $0.lastError == "the status is 500" })
      isGood.withLock { $0 = true }
      #expect(try await outbox.retryFailures() == 2)
      await receiver.wait { $0.requests.count == 4 }
      try await waitUntilEmpty()
      #expect(try await store.webhookCounts().failures == 0)
      #expect(try await outbox.retryFailures() == 0)
      await outbox.stop()
    }
  }

  // MARK: Traces

  private func traces(_ log: Receiver.Log) -> [String?] { log.requests.map { $0.headers["traceparent"] } }

  @Test func aRequestNamesTheTraceOfItsEntry() async throws {
    let trace = TraceContext.begin()
    try await Receiver.run { receiver in
      try await commit([.appendWebhook(try entry("old", trace: trace))])
      let outbox = try await outbox(of: receiver)
      try await post([try entry("new", trace: trace), try entry("none")], to: outbox)
      await receiver.wait { $0.requests.count == 3 }
      #expect(traces(receiver.log) == [trace.traceparent, trace.traceparent, nil])
      try await waitUntilEmpty()
      await outbox.stop()
    }
  }

  @Test func aFailureThatIsRetriedKeepsItsTrace() async throws {
    let trace = TraceContext.begin()
    let isGood = Mutex(false)
    try await Receiver.run(reply: { _ in isGood.withLock { $0 } ? .answer() : .answer(status: "500 No") }) { receiver in
      let outbox = try await outbox(of: receiver, retention: .zero)
      try await post([try entry("stored", trace: trace)], to: outbox)
      try await waitUntil("it is a failure") { try await store.webhookCounts().failures == 1 }
      isGood.withLock { $0 = true }
      #expect(try await outbox.retryFailures() == 1)
      await receiver.wait { $0.requests.count == 2 }
      #expect(traces(receiver.log) == [trace.traceparent, trace.traceparent])
      try await waitUntilEmpty()
      await outbox.stop()
    }
  }

  @Test func eachAttemptIsASpanToWhichItsRequestBelongs() async throws {
    let (trace, spans) = (TraceContext.begin(), Spans())
    let isGood = Mutex(false)
    try await Receiver.run(reply: { _ in isGood.withLock { $0 } ? .answer() : .answer(status: "500 No") }) { receiver in
      let outbox = try await outbox(of: receiver, spans: spans)
      try await post([try entry("a", trace: trace)], to: outbox)
      await receiver.wait { $0.requests.count == 1 }
      isGood.withLock { $0 = true }
      try await waitUntilEmpty()
      let recorded = spans.spans
      #expect(
        recorded.map(\.operation) == [
          .webhook(.messageSent, status: 500, failure: nil), .webhook(.messageSent, status: 200, failure: nil),
        ])
      #expect(recorded.allSatisfy { $0.parentID == trace.spanID && $0.context.traceID == trace.traceID })
      #expect(traces(receiver.log) == recorded.map(\.context.traceparent) && recorded[0].context != recorded[1].context)
      await outbox.stop()
    }
  }

  @Test func whatIsNotSampledIsPassedOnAndIsNoSpan() async throws {
    let trace = try #require(TraceContext(traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"))
    let spans = Spans()
    try await Receiver.run { receiver in
      let outbox = try await outbox(of: receiver, spans: spans)
      try await post([try entry("a", trace: trace), try entry("b")], to: outbox)
      try await waitUntilEmpty()
      #expect(traces(receiver.log) == [trace.traceparent, nil] && spans.spans.isEmpty)
      await outbox.stop()
    }
  }

  @Test func theEndStoresWhatIsInMemoryOnly() async throws {
    try await Receiver.run(reply: { _ in .nothing }) { receiver in
      let outbox = try await outbox(of: receiver)
      for number in 0..<3 { outbox.post(try entry("v\(number)")) }
      await receiver.wait { $0.requests.count == 1 }
      await outbox.stop()
      #expect(try await store.webhooks(in: nil, after: 0, limit: 9, bytes: .max).map(\.id) == ["v0", "v1", "v2"])
    }
  }

  @Test func theOldestAreGivenUpBeyondTheBound() async throws {
    try await Receiver.run(reply: { _ in .nothing }) { receiver in
      let outbox = try await outbox(of: receiver, maxPending: 5)
      try await post((0..<20).map { try entry("\($0)") }, to: outbox)
      try await waitUntil("five are left") {
        pass()
        return try await store.webhookCounts().pending == 5
      }
      let left = try await store.webhooks(in: nil, after: 0, limit: 9, bytes: .max).map(\.id)
      #expect(left == ["0", "16", "17", "18", "19"], "the first is being posted")
      // As many failures are kept.
      try await waitUntil("five failures") { try await store.webhookCounts().failures <= 5 }
      await outbox.stop()
    }
  }

  /// The bound holds while the receiver takes some, too, but not as many as come.
  @Test func theOldestAreGivenUpWhileOthersAreDelivered() async throws {
    let gate = DispatchSemaphore(value: 0)
    try await Receiver.run(reply: { _ in
      gate.wait()
      return .answer()
    }) { receiver in
      let outbox = try await outbox(of: receiver, maxPending: 50)
      for page in 0..<20 { try await post((0..<50).map { try entry("\(page)-\($0)", "g\($0 % 8)") }, to: outbox) }
      // Deliveries go on as long as the bound is exceeded.
      try await waitUntil("no more than the bound wait") {
        for _ in 0..<10 { gate.signal() }
        pass()
        return outbox.pendingCount <= 50
      }
      try await waitUntil("as many are stored") {
        pass()
        return try await store.webhookCounts().pending <= 50
      }
      for _ in 0..<1000 { gate.signal() }
      try await waitUntilEmpty()
      #expect(ids(receiver.log).contains("19-49"), "the newest are not given up")
      #expect(Set(ids(receiver.log)).count == receiver.log.requests.count)
      await outbox.stop()
    }
  }

  /// A store that fails loses nothing: what was delivered is removed later.
  @Test func aStoreThatCannotWriteIsTriedAgain() async throws {
    try await Receiver.run { receiver in
      let outbox = try await outbox(of: receiver)
      let made = try await commit([.appendWebhook(try entry("a"))])
      store.fail(with: StoreError(.unavailable, "full"))
      outbox.post(made[0])
      await receiver.wait { $0.requests.count == 1 }
      try await waitUntil("the removal is put off") { alarms.instants == [250] }
      pass(250)
      // No alarm is set while the store is at it.
      try await waitUntil("the removal has failed") { !alarms.instants.isEmpty }
      store.fail(with: nil)
      #expect(try await store.webhookCounts().pending == 1)
      try await waitUntilEmpty()
      #expect(receiver.log.requests.count == 1)
      await outbox.stop()
    }
  }
}
