import GroupModel
import ServerConfiguration
import Testing
import ThrongTestKit

@testable import ThrongServer

/// The body of a request to the collector (OTLP/HTTP in JSON).
@Suite struct OTLPEncodingTests {
  // Well-formed.
  private static let parent = TraceContext(traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")!
  private let group = GroupID("g")!  // A plain word.
  private static let begin = MonotonicInstant(nanoseconds: 5_000_000_123)
  private static let end = MonotonicInstant(nanoseconds: 6_000_000_456)
  private static let origin: Int64 = 1_700_000_000_000_000_000

  private func encoded(_ operations: [Span.Operation], _ flags: [(String, String)] = []) throws -> JSON {
    let settings = try Settings.load(flags: flags.map { (key: $0.0, value: $0.1) })
    let spans = operations.map { Span($0, causedBy: Self.parent, from: Self.begin, to: Self.end) }
    return try JSON(OTLPEncoding(settings).body(spans, since: Self.origin))
  }

  private func span(_ operation: Span.Operation, _ flags: [(String, String)] = []) throws -> JSON {
    try encoded([operation], flags)["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
  }

  /// Attributes by their names; numbers as OTLP has them, which is texts.
  private func attributes(_ value: JSON) -> [String: String] {
    let pairs = value["attributes"].elements.map { attribute in
      (attribute["key"].string ?? "", attribute["value"]["stringValue"].string ?? attribute["value"]["intValue"].string ?? "")
    }
    return Dictionary(pairs) { _, _ in "twice" }
  }

  @Test func whatABodyConsistsOf() throws {
    let body = try encoded([.decide(group: group), .decide(group: group)])
    #expect(body["resourceSpans"].elements.count == 1)
    let resource = attributes(body["resourceSpans"][0]["resource"])
    #expect(resource["service.name"] == "throng" && resource["service.instance.id"]?.isEmpty == false)
    #expect(resource["service.version"] == Release.version)
    let scope = body["resourceSpans"][0]["scopeSpans"][0]
    #expect(scope["scope"]["name"] == "throng" && scope["spans"].elements.count == 2)
  }

  @Test func idsAndTimes() throws {
    let span = try span(.decide(group: group))
    #expect(span["traceId"] == "4bf92f3577b34da6a3ce929d0e0e4736" && span["parentSpanId"] == "00f067aa0ba902b7")
    let id = try #require(span["spanId"].string)
    #expect(id.utf8.count == 16 && id != "00f067aa0ba902b7")
    // 64 bits are texts in this encoding.
    #expect(span["endTimeUnixNano"] == "1700000006000000456" && span["startTimeUnixNano"] == "1700000005000000123")
  }

  /// The wall clock is read in milliseconds, and the order of spans is finer.
  @Test func theTimeOfDayFollowsTheWallClockInSteps() {
    func reading(_ milliseconds: Int64, _ nanoseconds: Int64) -> ClockReading {
      ClockReading(wall: WallInstant(milliseconds: milliseconds), monotonic: MonotonicInstant(nanoseconds: nanoseconds))
    }
    var origin = SpanOrigin()
    #expect(origin.nanoseconds(at: reading(1000, 400_000_000)) == 600_000_000)
    #expect(origin.nanoseconds(at: reading(1000, 400_999_999)) == 600_000_000)
    #expect(origin.nanoseconds(at: reading(1002, 400_000_000)) == 600_000_000)
    #expect(origin.nanoseconds(at: reading(1002, 399_999_999)) == 602_000_001, "somebody has set the clock")
    #expect(origin.nanoseconds(at: reading(1000, 399_999_999)) == 602_000_001)
    #expect(origin.nanoseconds(at: reading(0, 400_000_000)) == -400_000_000)
  }

  @Test func aSpanThatBeginsATraceHasNoParent() throws {
    let settings = try Settings.load(flags: [])
    let span = Span(.decide(group: group), in: .begin(), parentID: nil, from: Self.begin, to: Self.end)
    let body = try JSON(OTLPEncoding(settings).body([span], since: Self.origin))
    #expect(body["resourceSpans"][0]["scopeSpans"][0]["spans"][0].names.contains("parentSpanId") == false)
  }

  @Test func aRequest() throws {
    let good = try span(.request(method: "sendGroupTextMessage", code: 0, group: group, transport: .http))
    #expect(good["name"] == "sendGroupTextMessage" && good["kind"] == 2 && good["status"].names.isEmpty)
    #expect(
      attributes(good) == [
        "rpc.system": "jsonrpc", "rpc.service": "throng", "rpc.method": "sendGroupTextMessage", "rpc.jsonrpc.version": "2.0",
        "network.protocol.name": "http", "throng.group.id": "g",
      ])
    let refused = try span(.request(method: "ping", code: 10007, group: nil, transport: .webSocket))
    let values = attributes(refused)
    #expect(values["rpc.jsonrpc.error_code"] == "10007" && values["error.type"] == "10007")
    #expect(values["network.protocol.name"] == "websocket" && values["throng.group.id"] == nil)
    #expect(refused["status"].names.isEmpty, "a refusal is no failure of the server")
    let failed = try span(.request(method: "ping", code: 10002, group: nil, transport: .webSocket))
    #expect(failed["status"]["code"] == 2 && failed["status"]["message"] != nil)
  }

  @Test func aCommit() throws {
    let good = try span(.commit(group: group, changes: 3, isStored: true))
    #expect(good["name"] == "commit" && good["kind"] == 3 && good["status"].names.isEmpty)
    #expect(attributes(good)["db.system.name"] == "sqlite" && attributes(good)["db.operation.batch.size"] == "3")
    let failed = try span(.commit(group: group, changes: 3, isStored: false))
    #expect(failed["status"]["code"] == 2 && attributes(failed)["error.type"] == "store")
  }

  @Test func aWebhook() throws {
    let secret = "whsec_" + String(repeating: "A", count: 44)
    let flags = [("webhook.url", "https://user:hush@app.example/hook?key=hush"), ("webhook.secret", secret)]
    let good = try span(.webhook(.messageSent, status: 204, failure: nil), flags)
    #expect(good["name"] == "POST" && good["kind"] == 3 && good["status"].names.isEmpty)
    let values = attributes(good)
    #expect(values["http.request.method"] == "POST" && values["http.response.status_code"] == "204")
    #expect(values["throng.webhook.type"] == WebhookType.messageSent.rawValue)
    #expect(values["server.address"] == "app.example" && values["server.port"] == "443")
    #expect(values.values.allSatisfy { !$0.contains("hush") })
    let bad = try span(.webhook(.messageSent, status: 500, failure: nil), flags)
    #expect(bad["status"]["code"] == 2 && attributes(bad)["error.type"] == "500")
    let failed = try span(.webhook(.messageSent, status: nil, failure: "timeout"), flags)
    #expect(failed["status"]["message"] == "timeout" && attributes(failed)["error.type"] == "timeout")
  }

  @Test(arguments: [
    ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"), ("http://127.0.0.1:4318/", "http://127.0.0.1:4318/v1/traces"),
    ("https://c.example/otlp/v1/traces", "https://c.example/otlp/v1/traces"),
    ("https://c.example?k=v", "https://c.example/v1/traces?k=v"),
  ])
  func wherePostsGo(endpoint: String, place: String) { #expect(SpanExporter.place(endpoint) == place) }
}
