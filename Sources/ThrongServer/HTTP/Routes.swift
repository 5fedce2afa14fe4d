import Authentication
import Gateway
import GroupModel
import GroupRuntime
import Logging
import ServerConfiguration
import WebSocketTransport

/// Routes the HTTP requests of both listeners (Protocol.md, "Public listener" and "Internal
/// listener"). Refusals are checked in this order: path 404, method 405, host 421, credential 401,
/// body over 1 MiB 413.
struct Routes: HTTPHandling {
  private let administration: AdministratorRPC
  private let documents: InterfaceDocuments
  private let proxies: TrustedProxies
  private let upgrades: UpgradePolicy
  private let refusals: RefusalLog
  private let metrics: PrometheusRegistry
  private let readiness: Readiness
  private let credential: AdministratorCredential
  private let hosts: InternalHosts
  private let demo: DemoPage?
  private let eventStreams: EventStreamRoutes?
  private let cluster: ClusterRoute
  private let unauthorized: UnauthorizedCalls
  private let clocks: any Clocks
  private let logger: Logger

  /// `demo` is nil where the demo page is off, and `eventStreams` where these are.
  init(
    administration: AdministratorRPC, documents: InterfaceDocuments, proxies: TrustedProxies, upgrades: UpgradePolicy,
    refusals: RefusalLog, metrics: PrometheusRegistry, readiness: Readiness, credential: AdministratorCredential,
    hosts: InternalHosts, demo: DemoPage?, eventStreams: EventStreamRoutes?, cluster: ClusterRoute, clocks: any Clocks,
    logger: Logger
  ) {
    self.administration = administration
    self.documents = documents
    self.proxies = proxies
    self.upgrades = upgrades
    self.refusals = refusals
    self.metrics = metrics
    self.readiness = readiness
    self.credential = credential
    self.hosts = hosts
    self.demo = demo
    self.eventStreams = eventStreams
    self.cluster = cluster
    unauthorized = UnauthorizedCalls(metrics: metrics, clocks: clocks, logger: logger)
    self.clocks = clocks
    self.logger = logger
  }

  /// The paths of the internal listener.
  private enum Route: String {
    case health = "/healthz"
    case readiness = "/readyz"
    case metrics = "/metrics"
    case openRPC = "/openrpc.json"
    case asyncAPI = "/asyncapi.json"
    case console = "/console"
    case cluster = "/cluster"
    case rpc = "/rpc"

    var methods: [String] {
      switch self {
      case .rpc: ["POST"]
      case .cluster: ["GET", "HEAD", "POST"]
      default: ["GET", "HEAD"]
      }
    }

    /// Whether it tells more than `alive` or `ready` without a credential, so that a foreign web page
    /// must not reach it.
    func isForKnownHosts(_ method: String) -> Bool {
      switch self {
      case .health, .readiness, .rpc: false
      case .cluster: method != "POST"
      case .metrics, .openRPC, .asyncAPI, .console: true
      }
    }
  }

  func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
    guard request.isInternal else { return handlePublic(request, exchange) }
    guard let route = Route(rawValue: request.head.path) else { return refuse(request, exchange, .noSuchInternalPath) }
    guard route.methods.contains(request.head.method) else {
      return refuse(request, exchange, .method(route.methods))
    }
    if route.isForKnownHosts(request.head.method), let host = foreignHost(of: request.head) {
      return refuse(request, exchange, .foreignHost, host: host)
    }
    switch route {
    case .health: exchange.text(200, "alive\n")
    case .readiness:
      if let obstacle = readiness.obstacle { exchange.text(503, obstacle + "\n") } else { exchange.text(200, "ready\n") }
    case .metrics:
      let isOfAllNodes = request.head.query == "nodes=all"
      Task {
        let body = isOfAllNodes ? await metricsOfNodes() : await metrics.renderAll()
        exchange.respond(status: 200, contentType: "text/plain; version=0.0.4; charset=utf-8", body: body)
      }
    case .openRPC: exchange.respond(status: 200, contentType: "application/json", body: documents.openRPC.bytes)
    case .asyncAPI: exchange.respond(status: 200, contentType: "application/json", body: documents.asyncAPI.bytes)
    case .console: exchange.page(ConsolePage.load())
    case .cluster where request.head.method != "POST": cluster.status(exchange)
    case .cluster: Task { if await mayCommand(request, exchange) != nil { cluster.command(request.body, exchange) } }
    case .rpc: Task { await call(request, exchange) }
    }
  }

  /// The host that a request names and may not, be it its own or the one that a proxy tells.
  private func foreignHost(of head: borrowing RequestHead) -> String? {
    if !hosts.admit(head.host) { return head.host }
    let told = proxies.clientHost(of: head)
    return hosts.admit(told) ? nil : told
  }

  /// A server that is alone answers its own metrics as they are.
  private func metricsOfNodes() async -> [UInt8] {
    let own = await metrics.renderAll()
    guard let node = cluster.node, let number = node.number else { return own }
    return MetricsOfNodes.text([(number, own)] + (await node.metricsOfOthers()).map { ($0.node, $0.text) })
  }

  /// The public listener has the path of the WebSocket, the client library and event streams beside it,
  /// and the demo page where that is on.
  private func handlePublic(_ request: HTTPRequest, _ exchange: HTTPExchange) {
    if let demo, request.head.path == demo.path { return show(demo, request, exchange) }
    let path = upgrades.path
    if let file = ClientFile(at: request.head.path, besides: path) { return serve(file, request, exchange) }
    if let eventStreams, eventStreams.handle(request, exchange) { return }
    guard request.head.path == path else { return refuse(request, exchange, .noSuchPath(besides: path)) }
    if let obstacle = upgrades.obstacle(of: request.head) {
      return refuse(request, exchange, HTTPRefusal(status: obstacle.status, sentence: obstacle.sentence))
    }
    guard request.head.method == "GET" else { return refuse(request, exchange, .method(["GET"])) }
    refuse(request, exchange, .upgradeRequired)
  }

  private func show(_ demo: DemoPage, _ request: HTTPRequest, _ exchange: HTTPExchange) {
    let methods = ["GET", "HEAD"]
    guard methods.contains(request.head.method) else { return refuse(request, exchange, .method(methods)) }
    do throws(AuthenticationError) {
      exchange.page(try demo.load(now: clocks.wall))
    } catch {
      logger.error("no token for a guest of the demo page", metadata: ["error": "\(error)"])
      refuse(request, exchange, .fault)
    }
  }

  private func serve(_ file: ClientFile, _ request: HTTPRequest, _ exchange: HTTPExchange) {
    let methods = ["GET", "HEAD"]
    guard methods.contains(request.head.method) else { return refuse(request, exchange, .method(methods)) }
    exchange.respond(status: 200, contentType: file.contentType, headers: ClientFile.headers, body: file.body)
  }

  /// The administrator behind a request; nil where it was refused.
  private func mayCommand(_ request: HTTPRequest, _ exchange: HTTPExchange) async -> String? {
    let administrator: String
    do throws(HTTPRefusal) {
      administrator = try await credential.holder(request.head.authorization, clocks)
    } catch {
      unauthorized.log(from: proxies.clientAddress(of: request.head), error.loggedSentence ?? error.sentence, user: error.user)
      refuse(request, exchange, error)
      return nil
    }
    guard request.bodyTooLarge else { return administrator }
    refuse(request, exchange, .bodyTooLarge)
    return nil
  }

  private func call(_ request: HTTPRequest, _ exchange: HTTPExchange) async {
    guard let administrator = await mayCommand(request, exchange) else { return }
    let trace = request.head.traceparent.flatMap { TraceContext(traceparent: $0) }
    guard let answer = await administration.answer(request.body, from: administrator, in: trace) else {
      return exchange.respond(status: 204, contentType: nil, body: [])
    }
    exchange.respond(status: 200, contentType: "application/json", body: answer)
  }

  /// - Parameter host: the one that is refused, for the log.
  private func refuse(
    _ request: HTTPRequest, _ exchange: HTTPExchange, _ refusal: HTTPRefusal, host: String? = nil
  ) {
    let address = proxies.clientAddress(of: request.head)
    if let host {
      refusals.foreignHost(
        host, refusal.status, refusal.sentence, key: "internalHosts", request.head, from: address)
    } else {
      // `UnauthorizedCalls` logs calls without a credential.
      refusals.httpRequest(
        refusal.status, refusal.sentence, request.head, from: address, isToldElsewhere: refusal.status == 401)
    }
    exchange.refuse(refusal)
  }
}

/// Accepts `Authorization: Bearer` with the API key or a token with `adm:true` (Protocol.md,
/// "Application interface").
struct AdministratorCredential: Sendable {
  let tokens: CurrentTokenVerifier
  /// The keys with the names under which the log shows their holders.
  let apiKeys: [(holder: String, key: APIKey)]

  /// Without a key in the settings only tokens are credentials.
  init(tokens: CurrentTokenVerifier, _ settings: Settings.Admin) {
    self.tokens = tokens
    apiKeys = [("API key", settings.apiKey), ("previous API key", settings.previousAPIKey)].compactMap { holder, text in
      text.map { (holder, APIKey($0)) }
    }
  }

  /// The name of the credential's holder in the log. A token that names an unknown key waits for a
  /// reading of `auth.jwksURL`, as a sign-in does.
  func holder(_ authorization: String?, _ clocks: any Clocks) async throws(HTTPRefusal) -> String {
    guard let token = BearerCredential.token(authorization), !token.isEmpty else { throw .unauthorized }
    if let own = apiKeys.first(where: { $0.key.matches(token) }) { return own.holder }
    var result = tokens.current.verify(token, now: clocks.wall)
    for _ in 0..<2 {
      guard case .failure(let fault) = result, fault.namesUnknownKey, await tokens.readKeys() else { break }
      result = tokens.current.verify(token, now: clocks.wall)
    }
    switch result {
    case .success(let verified):
      guard verified.isAdministrator else { throw .notAnAdministrator(verified.userID) }
      return verified.userID.rawValue
    case .failure(let fault): throw .badToken(fault)
    }
  }
}

extension HTTPExchange {
  /// - Parameter headers: beside those of the refusal.
  func refuse(_ refusal: HTTPRefusal, _ headers: [(String, String)] = []) {
    respond(
      status: refusal.status, contentType: "text/plain; charset=utf-8", headers: refusal.headers + headers,
      body: Array("\(refusal.status): \(refusal.sentence)\n".utf8))
  }

  fileprivate func text(_ status: Int, _ text: String) {
    respond(status: status, contentType: "text/plain; charset=utf-8", body: Array(text.utf8))
  }

  fileprivate func page(_ page: Page) {
    respond(status: 200, contentType: "text/html; charset=utf-8", headers: page.headers, body: Array(page.html.utf8))
  }
}

/// The refusal of an HTTP request: a status and a sentence.
struct HTTPRefusal: Error {
  let status: Int
  let sentence: String
  var headers: [(String, String)] = []
  /// What the log says where the client is told less; nil = the sentence.
  var loggedSentence: String?
  /// The user of a token that a configured key has signed, for the log, also of a good one.
  var user: UserID?

  static func noSuchPath(besides path: String) -> HTTPRefusal {
    HTTPRefusal(status: 404, sentence: "there is nothing at this path; the WebSocket is at \(path)")
  }
  static let noSuchInternalPath = HTTPRefusal(
    status: 404,
    sentence: "there is nothing at this path; there are /healthz, /readyz, /metrics, /openrpc.json, /asyncapi.json, /console, "
      + "/cluster and POST /rpc")
  static let foreignHost = HTTPRefusal(
    status: 421,
    sentence: "this listener does not answer under the host that the request names; internalHosts allows names besides addresses "
      + "and private ones")
  static let upgradeRequired = HTTPRefusal(
    status: 426, sentence: "this path takes WebSocket upgrades only", headers: [("Upgrade", "websocket")])
  static let unauthorized = HTTPRefusal(
    status: 401, sentence: "send Authorization: Bearer with an administrator's token or the API key",
    headers: [("WWW-Authenticate", "Bearer")])
  // RFC 6750, 3.1 names the errors.

  static func badToken(_ fault: TokenFault) -> HTTPRefusal {
    let sentence =
      switch fault.code {
      case .expired: "the token has expired; throng token NAME --admin --ttl 12h makes another one"
      case .malformed where fault.isSigned: "the token is not accepted: \(fault.reason)"
      case .malformed: "this is neither the API key nor a token that is accepted: its form, algorithm or claims are wrong"
      case .wrongSignature: "the token is signed with another key than this server's"
      }
    let logged =
      switch fault.code {
      case .expired: "the token has expired: \(fault.reason)"
      case .malformed where fault.isSigned: sentence
      case .malformed: "neither the API key nor an accepted token: \(fault.reason)"
      case .wrongSignature: "\(sentence): \(fault.reason)"
      }
    return HTTPRefusal(
      status: 401, sentence: sentence, headers: [("WWW-Authenticate", "Bearer error=\"invalid_token\"")], loggedSentence: logged,
      user: fault.userID)
  }
  static func notAnAdministrator(_ user: UserID) -> HTTPRefusal {
    HTTPRefusal(
      status: 401, sentence: "this token is a user's; send one with adm:true (throng token NAME --admin) or the API key",
      headers: [("WWW-Authenticate", "Bearer error=\"insufficient_scope\"")], user: user)
  }
  static let bodyTooLarge = HTTPRefusal(status: 413, sentence: "the body is over 1 MiB")
  static let fault = HTTPRefusal(status: 500, sentence: "a fault of the server; its log says more")

  static func method(_ allowed: [String]) -> HTTPRefusal {
    let list = allowed.joined(separator: ", ")
    return HTTPRefusal(status: 405, sentence: "this path takes \(list) only", headers: [("Allow", list)])
  }
}
