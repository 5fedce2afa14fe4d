import GroupModel
import GroupRuntime
import Synchronization
import Testing
import ThrongTestKit
import WireProtocol

@testable import Gateway

/// An application that allows everything, and hears of everything.
private final class Application: WebhookAsking, WebhookPoster {
  private let questions = Mutex<[WebhookQuestion]>([])
  private let entries = Mutex<[WebhookEntry]>([])

  var asked: [TraceContext?] { questions.withLock { $0.map(\.trace) } }
  /// The traces of the after-events of a type.
  func told(_ type: WebhookType) -> [TraceContext?] { entries.withLock { $0.filter { $0.type == type }.map(\.trace) } }

  func asks(_ type: WebhookType) -> Bool { [.beforeSendMessage, .beforeCreateGroup].contains(type) }

  func verdict(on question: WebhookQuestion) async -> WebhookVerdict {
    questions.withLock { $0.append(question) }
    return .allow(replacement: nil)
  }

  func searchStore() {}
  var pendingCount: Int { 0 }
  func post(_ entry: WebhookEntry) { entries.withLock { $0.append(entry) } }
  func retryFailures() async throws(StoreError) -> Int { 0 }
}

/// The trace of a request in what the request causes (Protocol.md, "Trace context").
@Suite struct TraceparentTests {
  private let application = Application()
  private let log = RecordingLog()
  private let spans = RecordingSpans()
  // Well-formed.
  private let parent = TraceContext(traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")!
  private let unsampled = TraceContext(traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4737-00f067aa0ba902b7-00")!

  private static let types = WebhookTypes([.messageSent, .groupCreated, .memberJoined])

  private func backend(tracing: Bool = false, sampling: Double = 0) -> Backend {
    Backend(
      rules: GroupRules(webhooks: Self.types), logger: log.logger,
      webhooks: WebhookServices(poster: application, asking: application), spans: tracing ? spans : nil
    ) { $0.traceSampling = sampling }
  }

  private func call(_ method: String, _ params: String) -> String {
    #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#
  }

  private func post(_ method: String, _ params: String, in parent: TraceContext?, to backend: Backend) async throws -> JSON {
    let reply = try #require(try await backend.post(call(method, params), in: parent))
    try #require(reply["error"] == .null, "\(reply)")
    return reply["result"]
  }

  /// The traces of the after-events of a type, when there are so many. They are posted beside the reply.
  private func told(_ type: WebhookType, _ count: Int = 1) async throws -> [TraceContext?] {
    try await waitUntil("\(count) of \(type)") { application.told(type).count >= count }
    return application.told(type)
  }

  private let creation = #"{"groupType":"Work","groupName":"g","groupID":"g","asUser":"olga"}"#
  private let text = #"{"groupID":"g","text":"x","asUser":"olga"}"#

  // MARK: Without tracing of our own

  @Test func webhooksBelongToTheRequestThatCausedThem() async throws {
    let backend = backend()
    _ = try await post("createGroup", creation, in: unsampled, to: backend)
    _ = try await post("sendGroupTextMessage", text, in: parent, to: backend)
    _ = try await post("sendGroupTextMessage", text, in: nil, to: backend)
    #expect(application.asked == [unsampled, parent, nil], "they go on as they came")
    #expect(try await told(.groupCreated) == [unsampled])
    #expect(try await told(.messageSent, 2) == [parent, nil])
    let stored = try await backend.store.inner.webhooks(in: nil, after: 0, limit: 9, bytes: .max)
    #expect(stored.filter { $0.type == .messageSent }.map(\.trace) == [parent, nil], "and are stored so")
  }

  @Test func theRequestsOfABatchBelongToItsTrace() async throws {
    let backend = backend()
    let batch = [call("createGroup", creation), call("sendGroupTextMessage", text), call("sendGroupTextMessage", text)]
    _ = try await backend.post("[\(batch.joined(separator: ","))]", in: parent)
    #expect(try await told(.groupCreated) == [parent])
    #expect(try await told(.messageSent, 2) == [parent, parent])
  }

  @Test func logLinesOfARequestNameItsTrace() async throws {
    let backend = backend()
    _ = try await post("createGroup", creation, in: parent, to: backend)
    _ = try await backend.post(call("createGroup", #"{"groupType":"Work","groupName":"h","groupID":"h","asUser":"olga"}"#))
    let refused = try await backend.post(call("dismissGroup", #"{"groupID":"g","asUser":"eve"}"#), in: parent)
    #expect(refused?["error"]["code"] == 10007)
    let created = log.audit.filter { $0["method"] == "createGroup" }
    #expect(created.map { $0["traceID"] } == [parent.traceID, nil])
    #expect(log.audit.last?["method"] == "dismissGroup" && log.audit.last?["traceID"] == parent.traceID)
    let hidden = try await backend.post(call("getGroupMemberList", #"{"groupID":"g","asUser":"eve"}"#), in: parent)
    #expect(hidden?["error"] != .null)
    let refusals = log.lines.filter { $0.message == "request refused" }
    #expect(!refusals.isEmpty && refusals.allSatisfy { $0.metadata["traceID"] == parent.traceID })
  }

  // MARK: With it

  @Test func aSampledParentIsRecordedAndItsSpansAreOfOneTree() async throws {
    let backend = backend(tracing: true)
    _ = try await post("createGroup", creation, in: parent, to: backend)
    _ = try await post("sendGroupTextMessage", text, in: parent, to: backend)
    let request = try #require(spans.spans.first { $0.method == "sendGroupTextMessage" })
    #expect(request.parentID == parent.spanID && request.context.traceID == parent.traceID)
    #expect(
      request.operation == .request(method: "sendGroupTextMessage", code: 0, group: "g", transport: .http))
    #expect(spans.spans.allSatisfy { $0.context.traceID == parent.traceID && $0.start <= $0.end })
    let children = spans.spans.filter { $0.parentID == request.context.spanID }
    #expect(children.count { $0.isDecision } == 1 && children.count { $0.isCommit } == 1)
    #expect(Set(spans.spans.map(\.context.spanID)).count == spans.spans.count)
    // Webhooks hang on the request that caused them.
    #expect(try await told(.messageSent) == [request.context])
    #expect(application.asked.last == request.context)
  }

  @Test func aParentThatIsNotSampledIsPassedOnOnly() async throws {
    let backend = backend(tracing: true, sampling: 1)
    _ = try await post("createGroup", creation, in: unsampled, to: backend)
    #expect(try await told(.groupCreated) == [unsampled])
    #expect(spans.spans.isEmpty)
  }

  @Test func aRequestWithoutAParentBeginsATrace() async throws {
    let backend = backend(tracing: true, sampling: 1)
    _ = try await post("createGroup", creation, in: nil, to: backend)
    let request = try #require(spans.spans.first { $0.method == "createGroup" })
    #expect(request.parentID == nil)
    #expect(try await told(.groupCreated) == [request.context])
  }

  @Test func nothingIsSampledAtAShareOfZero() async throws {
    let backend = backend(tracing: true, sampling: 0)
    _ = try await post("createGroup", creation, in: nil, to: backend)
    #expect(try await told(.groupCreated) == [nil])
    #expect(spans.spans.isEmpty)
  }

  @Test func aRefusedRequestHasItsCode() async throws {
    let backend = backend(tracing: true)
    _ = try await backend.post(call("dismissGroup", #"{"groupID":"none","asUser":"eve"}"#), in: parent)
    _ = try await backend.post(call("noSuchMethod", "{}"), in: parent)
    #expect(spans.spans.map(\.method) == ["dismissGroup", "unknown"], "whatever a client calls it")
    let codes = spans.spans.map { span -> Int in if case .request(_, let code, _, _) = span.operation { code } else { 0 } }
    #expect(codes == [10010, -32601])
  }

  /// Shares of many requests, which none decides for another.
  @Test(arguments: [0.0, 0.01, 0.25, 0.5, 1.0])
  func aShareIsSampled(share: Double) {
    let tracing = RequestTracing(recorder: spans, sampling: share)
    let count = (0..<100_000).count { _ in tracing.begin(nil, group: nil) != nil }
    // Five deviations on either side.
    let deviation = (100_000 * share * (1 - share)).squareRoot()
    #expect(abs(Double(count) - 100_000 * share) <= 5 * deviation)
  }

  // MARK: Over a WebSocket

  @Test func aSessionsRequestBeginsATraceWhereItIsSampled() async throws {
    try await LiveGateway.with(spans: spans, { $0.traceSampling = 1 }) { live in
      let olga = try await live.signIn("olga")
      let made = try await olga.call("createGroup", #"{"groupType":"Work","groupName":"g","groupID":"g"}"#)
      #expect(made["error"] == .null)
      _ = try await olga.call("sendGroupTextMessage", #"{"groupID":"g","text":"x"}"#)
      try await waitUntil("it has ended") { spans.spans.contains { $0.method == "sendGroupTextMessage" } }
      let request = try #require(spans.spans.first { $0.method == "sendGroupTextMessage" })
      #expect(
        request.operation == .request(method: "sendGroupTextMessage", code: 0, group: "g", transport: .webSocket))
      #expect(request.parentID == nil)
      let others = spans.spans.filter { $0.context.traceID == request.context.traceID && $0.method == nil }
      #expect(others.count { $0.isDecision } == 1 && others.count { $0.isCommit } == 1)
    }
  }

  @Test func aRequestOfAnEventStreamBelongsToTheTraceThatItTells() async throws {
    try await LiveGateway.with(spans: spans, { $0.traceSampling = 0 }) { live in
      let (_, key) = try await live.openStream("olga")
      let made = call("createGroup", #"{"groupType":"Work","groupName":"g","groupID":"g"}"#)
      let pings = "[\(call("ping", "{}")),\(call("ping", "{}"))]"
      let (sampled, others) = (parent.traceparent, [unsampled.traceparent, "00-0-0-01"])
      for (body, header) in [(made, sampled), (pings, sampled)] + others.map({ (pings, $0) }) {
        #expect(try await live.post(body, key: key, headers: ["traceparent: \(header)"]).status == 200)
      }
      let requests = spans.spans.filter { $0.method != nil }
      #expect(requests.map(\.method) == ["createGroup", "ping", "ping"])
      for request in requests {
        #expect(request.context.traceID == parent.traceID && request.parentID == parent.spanID)
        guard case .request(_, 0, _, .http) = request.operation else {
          Issue.record("\(request.operation)")
          continue
        }
      }
    }
  }

  @Test func aSessionIsNotTracedByDefault() async throws {
    try await LiveGateway.with(spans: spans, { $0.traceSampling = 0 }) { live in
      let olga = try await live.signIn("olga")
      _ = try await olga.call("createGroup", #"{"groupType":"Work","groupName":"g","groupID":"g"}"#)
      #expect(spans.spans.isEmpty)
    }
  }
}
