import CoreMetrics
import GroupModel
import GroupRuntime
import OutgoingHTTP
import Synchronization

/// Posts signed requests to the application's receiver.
public final class WebhookClient: Sendable {
  private let http: HTTPClient
  private let url: String
  private let secret: WebhookSecret
  let clocks: any Clocks
  private let telemetry: Telemetry

  /// Where an attempt is noted.
  private struct Telemetry: Sendable {
    let duration = Timer(label: "throng_webhook_duration_seconds")
    let spans: (any SpanRecorder)?
    let clocks: any Clocks
  }

  /// A client of one receiver.
  /// - Parameter spans: gets those of requests that belong to a sampled trace; nil = nothing is traced.
  public init(
    _ http: HTTPClient, url: String, secret: WebhookSecret, clocks: any Clocks, spans: (any SpanRecorder)? = nil
  ) {
    self.http = http
    self.url = url
    self.secret = secret
    self.clocks = clocks
    telemetry = Telemetry(spans: spans, clocks: clocks)
  }

  /// Posts a request once, when it is the user's turn. Each attempt has a time and a signature of its
  /// own.
  func post(_ request: WebhookRequest, for user: UserID) async -> Result<HTTPResponse, HTTPError> {
    let attempt = Attempt(request, telemetry)
    let result = await http.post(request.body, to: url, headers: headers(of: request, attempt), for: user)
    attempt.end(result)
    return result
  }

  /// Posts a request once.
  /// - Parameter completion: called once with the answer, on the client's thread or at once.
  func post(_ request: WebhookRequest, completion: @escaping @Sendable (Result<HTTPResponse, HTTPError>) -> Void) {
    let attempt = Attempt(request, telemetry)
    http.post(request.body, to: url, headers: headers(of: request, attempt)) {
      attempt.end($0)
      completion($0)
    }
  }

  private func headers(of request: WebhookRequest, _ attempt: Attempt) -> [HTTPHeader] {
    let headers = request.headers(at: clocks.wall, signedWith: secret)
    guard let context = attempt.context else { return headers }
    return headers + [HTTPHeader("traceparent", context.traceparent)]
  }

  /// A request on its way. The receiver gets the trace of the request that has caused it, and the
  /// attempt as the span before its own, where that is recorded.
  private struct Attempt: Sendable {
    private let type: WebhookType
    private let cause: TraceContext?
    /// What the receiver is told; nil = nothing.
    let context: TraceContext?
    private let start: MonotonicInstant
    private let telemetry: Telemetry

    init(_ request: WebhookRequest, _ telemetry: Telemetry) {
      type = request.type
      cause = request.trace
      let isRecorded = telemetry.spans != nil && request.trace?.isSampled == true
      context = isRecorded ? request.trace?.child() : request.trace
      start = telemetry.clocks.monotonic
      self.telemetry = telemetry
    }

    func end(_ result: Result<HTTPResponse, HTTPError>) {
      let end = telemetry.clocks.monotonic
      let status: Int?
      let error: HTTPError?
      switch result {
      case .success(let response): (status, error) = (response.status, nil)
      case .failure(let failure): (status, error) = (nil, failure)
      }
      if error?.code.isReceivers != false { telemetry.duration.recordNanoseconds(end.nanoseconds(since: start)) }
      // The process ends: the entry is posted once more by the next one.
      guard let spans = telemetry.spans, let cause, cause.isSampled, let context, error?.code != .shutDown else { return }
      spans.record(
        Span(
          .webhook(type, status: status, failure: error?.code.rawValue), in: context, parentID: cause.spanID, from: start,
          to: end))
    }
  }

  /// Performs `work` on the client's thread, unless the client is shut down.
  /// - Parameter isDeferrable: it can wait for a millisecond.
  func perform(isDeferrable: Bool = false, _ work: @escaping @Sendable () -> Void) {
    http.perform(isDeferrable: isDeferrable, work)
  }

  /// Ends all requests.
  func shutDown() async { await http.shutDown() }
}

/// `throng_webhooks_total` by type and result.
final class WebhookCounter: Sendable {
  /// The results of requests.
  enum Result: String, CaseIterable {
    /// An after-event that the application has.
    case delivered
    /// A failed attempt; another follows.
    case failed
    /// An after-event that is kept for listWebhookFailures.
    case givenUp
    /// An after-event that was in memory only, or a failure beyond those that are kept.
    case lost
    /// The answers to a before-event.
    case allowed, refused, dropped
    /// A refusal with a code that the application may not give.
    case unknownCode
    /// A before-event without a useful answer.
    case unanswered
    /// A request that has not reached the receiver, because others were before it or the server
    /// ends; or whose answer was not read, because the server stood still.
    case notSent
  }

  private struct Key: Hashable {
    let type: WebhookType
    let result: Result
  }

  // Finding a counter by its labels takes 2 µs.
  private let counters = Mutex<[Key: Counter]>([:])

  func count(_ type: WebhookType, _ result: Result) {
    let counter = counters.withLock { counters in
      let key = Key(type: type, result: result)
      if let counter = counters[key] { return counter }
      let counter = Counter(label: "throng_webhooks_total", dimensions: [("type", type.rawValue), ("result", result.rawValue)])
      counters[key] = counter
      return counter
    }
    counter.increment()
  }
}

/// The metrics of this module, for their exposition.
public enum WebhookMetrics {
  /// The counter of requests.
  public static let total = (name: "throng_webhooks_total", help: "Webhooks by type and result.")
  /// The histogram of requests.
  public static let duration = (
    name: "throng_webhook_duration_seconds", help: "From the posting of a webhook to its answer, by attempt."
  )
  /// The gauge of those that wait.
  public static let pending = (name: "throng_webhooks_pending", help: "After-events that the application does not have yet.")
}
