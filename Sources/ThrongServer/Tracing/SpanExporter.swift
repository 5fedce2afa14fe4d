import Dispatch
import Foundation
import GroupModel
import Logging
import OutgoingHTTP
import ServerConfiguration
import Synchronization
import WireProtocol

/// Sends spans to the collector of `tracing.otlpEndpoint` (Operations.md, "Tracing"). `SpanQueue` decides
/// when. A collector that is away costs spans, and nothing else.
final class SpanExporter: SpanRecorder {
  /// The counts since the start.
  struct Counts: Sendable {
    var sent = 0
    /// They found no place.
    var overflowed = 0
    /// The collector did not take them.
    var refused = 0
    /// On their way.
    var waiting = 0
  }

  /// The limit of a request.
  static let timeout = Duration.seconds(5)
  /// How long the end of the process waits for the last spans.
  static let lastPatience = Duration.seconds(2)

  private struct State {
    var queue = SpanQueue()
    var origin = SpanOrigin()
    /// Whether the log has told that the collector takes nothing.
    var isDown = false
    var isStopped = false
    /// Called when the request under way has ended.
    var atEnd: (@Sendable () -> Void)?
  }

  private let url: String
  private let shownURL: String
  private let http: HTTPClient
  private let encoding: OTLPEncoding
  private let clocks: any Clocks
  private let alarms: any Alarms
  private let logger: Logger
  private let state = Mutex(State())

  /// Nil where nothing is traced.
  init?(_ settings: Settings, clocks: any Clocks, alarms: any Alarms, logger: Logger) throws(StartError) {
    guard let endpoint = settings.tracing.otlpEndpoint else { return nil }
    url = SpanExporter.place(endpoint)
    shownURL = settings.tracing.shownEndpoint
    var configuration = HTTPClient.Configuration()
    configuration.connections = 1
    configuration.timeout = SpanExporter.timeout
    configuration.maxWait = SpanExporter.timeout
    // Spans can wait: where all cores are busy, their thread gives way.
    configuration.niceness = 10
    http = try StartError.translating { () throws(HTTPError) in try HTTPClient(configuration) }
    encoding = OTLPEncoding(settings)
    self.clocks = clocks
    self.alarms = alarms
    self.logger = logger
  }

  /// Where spans are posted to: the path of OpenTelemetry's own, where the endpoint has none.
  static func place(_ endpoint: String) -> String {
    guard let parts = URLComponents(string: endpoint), parts.path.isEmpty || parts.path == "/" else { return endpoint }
    var place = parts
    place.path = "/v1/traces"
    return place.string ?? endpoint
  }

  var counts: Counts {
    state.withLock { state in
      Counts(
        sent: state.queue.sent, overflowed: state.queue.overflowed, refused: state.queue.refused, waiting: state.queue.count)
    }
  }

  func record(_ span: Span) {
    let now = clocks.monotonic
    follow(state.withLock { $0.isStopped ? .nothing : $0.queue.add(span, at: now) })
  }

  // MARK: Steps

  private func follow(_ step: SpanQueue.Step) {
    switch step {
    case .nothing: break
    case .send: send()
    case .wait(let instant):
      alarms.schedule(at: instant, on: DispatchQueue.global()) { [weak self] in self?.timeHasCome() }
    }
  }

  private func timeHasCome() {
    let now = clocks.monotonic
    follow(state.withLock { $0.isStopped ? .nothing : $0.queue.timeHasCome(at: now) })
  }

  /// On a thread of Dispatch: loops must not encode.
  private func send() {
    DispatchQueue.global().async { [self] in
      let now = clocks.now
      let (spans, origin) = state.withLock { ($0.queue.batch, $0.origin.nanoseconds(at: now)) }
      let body = encoding.body(spans, since: origin)
      http.post(body, to: url, headers: [HTTPHeader("content-type", "application/json")]) { [self] in didEnd($0) }
    }
  }

  private func didEnd(_ result: Result<HTTPResponse, HTTPError>) {
    let outcome = Outcome(result)
    let now = clocks.monotonic
    let (step, change, atEnd) = state.withLock { state -> (SpanQueue.Step, Change, (@Sendable () -> Void)?) in
      let step: SpanQueue.Step
      switch outcome {
      case .taken(let rejected, _): step = state.queue.didSend(rejected: rejected, at: now)
      case .failed(_, let isTemporary): step = state.queue.didFail(isTemporary: isTemporary, at: now)
      }
      let change = Change(from: state.isDown, outcome)
      state.isDown = outcome.isFailure
      let atEnd = state.atEnd
      state.atEnd = nil
      return (state.isStopped ? .nothing : step, state.isStopped ? .none : change, atEnd)
    }
    tell(change)
    atEnd?()
    follow(step)
  }

  /// What has come of a request.
  private enum Outcome {
    /// - Parameter reason: why spans were rejected, as the collector says it.
    case taken(rejected: Int, reason: String)
    case failed(String, isTemporary: Bool)

    var isFailure: Bool {
      switch self {
      case .taken(let rejected, _): rejected > 0
      case .failed: true
      }
    }

    init(_ result: Result<HTTPResponse, HTTPError>) {
      switch result {
      case .success(let response) where response.isSuccess: self = Outcome(partialSuccess: response.body)
      // OTLP names those that may be repeated.
      case .success(let response):
        self = .failed("the status is \(response.status)", isTemporary: [429, 502, 503, 504].contains(response.status))
      case .failure(let error): self = .failed(error.description, isTemporary: error.code.isReceivers || error.code == .paused)
      }
    }

    /// `{"partialSuccess":{"rejectedSpans":"3","errorMessage":"…"}}`; anything else is a success.
    private init(partialSuccess body: [UInt8]) {
      let parser = JSONParser()
      // Values live as long as their parser.
      defer { withExtendedLifetime(parser) {} }
      let partial = parser.parse(body).flatMap { $0.kind == .object ? $0["partialSuccess"] : nil }
      let told = partial.flatMap { $0.kind == .object ? $0 : nil }
      let rejected = told?["rejectedSpans"].flatMap { $0.wholeNumber.map { Int(clamping: $0) } ?? $0.string.flatMap { Int($0) } }
      self = .taken(rejected: rejected ?? 0, reason: told?["errorMessage"]?.string ?? "")
    }
  }

  /// What the log tells of: a collector that takes nothing any more, and one that does again.
  private enum Change {
    case none
    case down(String)
    case back

    init(from wasDown: Bool, _ outcome: Outcome) {
      switch (wasDown, outcome) {
      case (false, .failed(let error, _)): self = .down(error)
      case (false, .taken(let rejected, let reason)) where rejected > 0: self = .down("it has rejected \(rejected): \(reason)")
      case (true, .taken(0, _)): self = .back
      default: self = .none
      }
    }
  }

  private func tell(_ change: Change) {
    switch change {
    case .none: break
    case .down(let error):
      let shown = String(error.unicodeScalars.prefix(200))
      logger.warning("the collector of traces does not take spans", metadata: ["url": "\(shownURL)", "error": "\(shown)"])
    case .back: logger.notice("the collector of traces takes spans again", metadata: ["url": "\(shownURL)"])
    }
  }

  // MARK: The end

  /// Sends what waits, once, and ends.
  func stop() async {
    await alarms.wait(until: clocks.monotonic + SpanExporter.lastPatience) { end in
      let step = state.withLock { state in
        let step = state.queue.flush()
        state.isStopped = true
        if state.queue.count > 0 { state.atEnd = end }
        return state.queue.count > 0 ? step : nil
      }
      if let step { follow(step) } else { end() }
    }
    await http.shutDown()
  }
}
