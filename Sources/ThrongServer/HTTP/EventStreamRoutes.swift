import Gateway
import GroupModel
import ServerConfiguration
import WebSocketTransport

/// Where event streams and their requests are: in the directory of the WebSocket's path.
struct EventStreamPaths: Sendable, Equatable {
  /// The longest body of a request, in bytes; that of a WebSocket's message.
  static let maxBodyBytes = TransportConfiguration().maxMessageBytes

  let events: String
  let rpc: String

  /// - Parameter path: of the WebSocket.
  init(besides path: String) {
    let directory = DemoPage.directory(of: path)
    events = directory + "events"
    rpc = directory + "rpc"
  }

  /// Nil where they are off.
  init?(_ settings: Settings) {
    guard settings.eventStream else { return nil }
    self.init(besides: settings.path)
  }
}

/// The routes of event streams on the public listener (Protocol.md, "Event streams"). Refusals are
/// checked in this order: path 404, method 405, what refuses an upgrade (a new stream 503, 429, 403; a
/// request of one 403), key 401, body over 65,536 bytes 413, too many requests 429.
struct EventStreamRoutes: Sendable {
  private enum Route {
    case events, rpc

    var methods: [String] {
      switch self {
      case .events: ["GET", "OPTIONS"]
      case .rpc: ["POST", "OPTIONS"]
      }
    }
  }

  private let paths: EventStreamPaths
  private let streams: EventStreams
  private let proxies: TrustedProxies
  private let refusals: RefusalLog

  init(_ paths: EventStreamPaths, _ streams: EventStreams, proxies: TrustedProxies, refusals: RefusalLog) {
    self.paths = paths
    self.streams = streams
    self.proxies = proxies
    self.refusals = refusals
  }

  private func route(at path: String) -> Route? {
    switch path {
    case paths.events: .events
    case paths.rpc: .rpc
    default: nil
    }
  }

  /// Answers a request to one of the paths, now or later.
  /// - Returns: false where it is to another path.
  func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) -> Bool {
    guard let route = route(at: request.head.path) else { return false }
    let headers = streams.originHeaders(for: request.head)
    guard route.methods.contains(request.head.method) else {
      refuse(request, exchange, .method(route.methods), headers)
      return true
    }
    switch (route, request.head.method) {
    case (_, "OPTIONS"): allow(request, exchange, route, headers)
    case (.events, _): open(request, exchange, headers)
    case (.rpc, _): post(request, exchange, headers)
    }
    return true
  }

  /// A browser asks before it sends the request of another origin's page with these headers.
  private func allow(
    _ request: HTTPRequest, _ exchange: HTTPExchange, _ route: Route, _ headers: [(String, String)]
  ) {
    if let refusal = streams.refusal(ofOrigin: request.head) { return exchange.refuse(HTTPRefusal(refusal), headers) }
    let methods = route.methods.joined(separator: ", ")
    let allowed = [
      ("Allow", methods), ("Access-Control-Allow-Methods", methods),
      ("Access-Control-Allow-Headers", "Authorization, Cache-Control, Content-Type, Last-Event-ID, traceparent, tracestate"),
      ("Access-Control-Max-Age", "7200"),
    ]
    exchange.respond(status: 204, contentType: nil, headers: headers + allowed, body: [])
  }

  private func open(_ request: HTTPRequest, _ exchange: HTTPExchange, _ headers: [(String, String)]) {
    if let refusal = streams.refusal(ofStream: request.head) { return exchange.refuse(HTTPRefusal(refusal), headers) }
    exchange.openEventStream(headers: headers)
  }

  private func post(_ request: HTTPRequest, _ exchange: HTTPExchange, _ headers: [(String, String)]) {
    if let refusal = streams.refusal(ofOrigin: request.head) { return exchange.refuse(HTTPRefusal(refusal), headers) }
    guard let key = BearerCredential.token(request.head.authorization), streams.mayHave(key) else {
      return refuse(request, exchange, .streamGone, headers)
    }
    guard !request.bodyTooLarge else { return refuse(request, exchange, .postTooLarge, headers) }
    let trace = request.head.traceparent.flatMap { TraceContext(traceparent: $0) }
    switch streams.post(request.body, key: key, in: trace, exchange, headers: headers) {
    case .accepted: break
    case .unknownKey: refuse(request, exchange, .streamGone, headers)
    case .tooMany: refuse(request, exchange, .tooManyPosts, headers)
    }
  }

  private func refuse(
    _ request: HTTPRequest, _ exchange: HTTPExchange, _ refusal: HTTPRefusal, _ headers: [(String, String)]
  ) {
    let address = proxies.clientAddress(of: request.head)
    refusals.httpRequest(refusal.status, refusal.sentence, request.head, from: address)
    exchange.refuse(refusal, headers)
  }
}

extension HTTPRefusal {
  /// What refuses an upgrade, too.
  fileprivate init(_ refusal: (status: Int, sentence: String)) {
    self.init(status: refusal.status, sentence: refusal.sentence)
  }

  fileprivate static let streamGone = HTTPRefusal(
    status: 401, sentence: EventStreams.goneSentence, headers: EventStreams.challenge)
  fileprivate static let postTooLarge = HTTPRefusal(
    status: 413, sentence: "the body is over \(EventStreamPaths.maxBodyBytes) bytes")
  fileprivate static let tooManyPosts = HTTPRefusal(
    status: 429, sentence: "too many requests of this event stream wait; send fewer at a time",
    headers: [("Retry-After", "1")])
}
