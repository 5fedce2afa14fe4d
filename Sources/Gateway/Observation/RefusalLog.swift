import CoreMetrics
import GroupModel
import GroupRuntime
import Logging
import Synchronization
import WebSocketTransport
import WireProtocol

/// Logs and counts refusals for the operator: one line each, limited in rate (Operations.md,
/// "Refusals").
///
/// No line holds a token or a query, and texts of clients are shortened. Nothing here runs for a
/// request that succeeds.
public final class RefusalLog: Sendable {
  private let clocks: any Clocks
  private let logger: Logger
  private let upgrades: RefusalCounters
  private let signIns: RefusalCounters
  private let http: RefusalCounters
  private let arrivals: RefusalCounters
  private let upgradeLines = LogRateLimiter()
  private let originLines = RecentPairs(period: .seconds(60))
  private let hostLines = RecentPairs(period: .seconds(60))
  private let signInLines = LogRateLimiter()
  private let closeLines = LogRateLimiter()
  private let requestLines = LogRateLimiter()
  private let parameterLines = LogRateLimiter()
  private let instantLines = LogRateLimiter()
  private let httpLines = LogRateLimiter()
  private let arrivalLines = LogRateLimiter()
  private let crowds = CrowdLines<EarlyEnd>()
  private let oddTokens = CrowdLines<String>()

  /// The pairs of Origin and Host that were logged lately.
  var pairCount: Int { originLines.count + hostLines.count }

  /// A log in which nothing was refused yet.
  package init(clocks: any Clocks, logger: Logger) {
    self.clocks = clocks
    self.logger = logger
    upgrades = RefusalCounters("throng_upgrades_refused_total", by: "reason", UpgradeRefusal.Kind.allCases.map(\.rawValue))
    let codes: [ErrorCode] = [
      .tokenExpired, .tokenMalformed, .tokenWrongSignature, .tokenRevoked, .userBlocked, .badValue, .otherUserSignedIn,
      .temporary, .requestRate,
    ]
    signIns = RefusalCounters("throng_sign_ins_refused_total", by: "code", codes.map { "\($0.rawValue)" })
    let statuses = [400, 401, 403, 404, 405, 411, 413, 421, 426, 429, 431, 500, 503]
    arrivals = RefusalCounters("throng_connections_dropped_total", by: "reason", EarlyEnd.allCases.map(\.rawValue))
    http = RefusalCounters("throng_http_refused_total", by: "status", statuses.map { "\($0)" })
  }

  /// An upgrade, or a request for an event stream or of one, was answered with a status.
  func upgrade(
    _ refusal: UpgradeRefusal, _ head: borrowing RequestHead, from client: ForwardedClient
  ) {
    upgrades.increment(refusal.kind.rawValue)
    guard refusal.kind != .origin else { return origin(refusal, head, from: client) }
    let (path, address) = (RefusalLog.shortened(head.path), client.address)
    note("upgrade refused", .debug, upgradeLines) {
      [
        "status": .stringConvertible(refusal.status), "reason": "\(refusal.sentence)", "path": "\(path)", "address": "\(address)",
      ]
    }
  }

  /// Once a minute for each pair of Origin and the host that it was compared with.
  private func origin(
    _ refusal: UpgradeRefusal, _ head: borrowing RequestHead, from client: ForwardedClient
  ) {
    let pair = RecentPairs.Pair(
      origin: RefusalLog.shortened(head.origin ?? ""), host: RefusalLog.shortened(client.host ?? ""))
    guard let dropped = originLines.acquire(pair, at: clocks.monotonic) else { return }
    var fields: Logger.Metadata = [
      "status": .stringConvertible(refusal.status), "reason": "\(refusal.sentence)", "origin": "\(pair.origin)",
      "host": "\(pair.host)", "address": "\(client.address)",
    ]
    if let key = refusal.key { fields["key"] = "\(key)" }
    if dropped > 0 { fields["dropped"] = .stringConvertible(dropped) }
    logger.warning("upgrade refused", metadata: fields)
  }

  /// A sign-in or renewal was refused.
  /// - Parameters:
  ///   - user: nil where the token's signature was invalid.
  ///   - reason: what is wrong with the token; nil = the message of the error says all.
  func signIn(_ error: WireError, from address: String, user: UserID?, reason: String? = nil) {
    signIns.increment("\(error.code.rawValue)")
    note("sign-in refused", .info, signInLines) {
      var fields = RefusalLog.fields(error, from: address, user)
      if let reason { fields["reason"] = "\(reason)" }
      return fields
    }
  }

  /// A sign-in or renewal was accepted, and its token looks wrong: a line at most once a minute,
  /// because a backend makes all its tokens alike.
  func acceptedToken(_ warning: String, of user: UserID, from address: String) {
    guard let count = oddTokens.acquire("exp", at: clocks.monotonic) else { return }
    logger.warning(
      "a token ends too far ahead",
      metadata: [
        "reason": "\(warning)", "userID": "\(user)", "address": "\(address)", "count": .stringConvertible(count),
      ])
  }

  /// A request was answered with an error.
  /// - Parameters:
  ///   - method: nil where it does not exist.
  ///   - sent: its name then.
  ///   - trace: to which it belongs; nil = to none.
  func request(
    _ error: WireError, _ method: String?, sent: SentMethodName? = nil, from address: String? = nil, user: UserID?,
    in trace: TraceContext? = nil
  ) {
    note("request refused", .debug, requestLines) {
      var fields = RefusalLog.fields(error, from: address, user)
      fields.add(trace)
      fields["method"] = "\(method ?? "unknown")"
      if let sent { fields["sentMethod"] = "\(sent.text)" }
      return fields
    }
  }

  /// A request has parameters that its method does not have. It goes on without them.
  /// - Parameter trace: to which it belongs; nil = to none.
  func unknownParameters(
    _ unknown: [UnknownParameter], of method: String, from address: String? = nil, user: UserID?, in trace: TraceContext? = nil
  ) {
    note("unknown parameters", .debug, parameterLines) {
      var fields: Logger.Metadata = ["method": "\(method)", "parameters": "\(unknown.text)"]
      fields.add(trace)
      if let address { fields["address"] = "\(address)" }
      if let user { fields["userID"] = "\(user)" }
      return fields
    }
  }

  /// An import has instants that are most likely in seconds. It goes on: some may be as old.
  /// - Parameter trace: to which it belongs; nil = to none.
  func instantsInSeconds(_ field: String, of method: String, group: String?, in trace: TraceContext? = nil) {
    note("an import has very old instants", .warning, instantLines) {
      var fields: Logger.Metadata = [
        "method": "\(method)", "field": "\(field)",
        "reason": "\(field) is before March 1973: seconds? Instants are milliseconds since 1970",
      ]
      if let group { fields["groupID"] = "\(group)" }
      fields.add(trace)
      return fields
    }
  }

  /// A connection was closed before it had a request, or while that was served. Of crowds the line
  /// comes at most once a minute, and says what to do.
  func arrival(_ reason: EarlyEnd, from address: String) {
    arrivals.increment(reason.rawValue)
    guard let hint = RefusalLog.hint(for: reason) else {
      return note("connection dropped", .debug, arrivalLines) { ["reason": "\(reason.rawValue)", "address": "\(address)"] }
    }
    guard let count = crowds.acquire(reason, at: clocks.monotonic) else { return }
    logger.warning(
      "connections without a request were dropped",
      metadata: [
        "reason": "\(reason.rawValue)", "address": "\(address)", "count": .stringConvertible(count), "hint": "\(hint)",
      ])
  }

  private static func hint(for reason: EarlyEnd) -> String? {
    switch reason {
    case .address:
      "one address opens more connections than it uses: bound it before the server, or by limits.connectionsPerAddress; "
        + "if it is a proxy, name it in trustedProxies"
    case .total:
      "more connections wait without a request than the server holds: bound them before the server, or let it open more files"
    case .timeout, .proxyHeader: nil
    }
  }

  /// The server has closed a connection.
  func close(_ code: Int, _ reason: String, from address: String, user: UserID?) {
    note("connection closed", .debug, closeLines) {
      var fields: Logger.Metadata = ["code": .stringConvertible(code), "reason": "\(reason)", "address": "\(address)"]
      if let user { fields["userID"] = "\(user)" }
      return fields
    }
  }

  /// An HTTP request was refused.
  /// - Parameters:
  ///   - address: the client's, behind proxies too.
  ///   - isToldElsewhere: another log has a line for it (401); it is only counted here.
  public func httpRequest(
    _ status: Int, _ reason: String, _ head: borrowing RequestHead, from address: String, isToldElsewhere: Bool = false
  ) {
    http.increment("\(status)")
    guard !isToldElsewhere else { return }
    let (path, method) = (RefusalLog.shortened(head.path), head.method)
    note("HTTP request refused", .debug, httpLines) {
      [
        "status": .stringConvertible(status), "reason": "\(reason)", "method": "\(method)", "path": "\(path)",
        "address": "\(address)",
      ]
    }
  }

  /// A request to the internal listener named a host that it may not: a warning once a minute for each
  /// host and path, because a scraper that is refused shows nowhere else.
  /// - Parameter key: the key of the configuration that would allow it.
  public func foreignHost(
    _ host: String, _ status: Int, _ reason: String, key: String, _ head: borrowing RequestHead, from address: String
  ) {
    http.increment("\(status)")
    let pair = RecentPairs.Pair(origin: RefusalLog.shortened(head.path), host: RefusalLog.shortened(host))
    guard let dropped = hostLines.acquire(pair, at: clocks.monotonic) else { return }
    var fields: Logger.Metadata = [
      "status": .stringConvertible(status), "reason": "\(reason)", "method": "\(head.method)", "path": "\(pair.origin)",
      "host": "\(pair.host)", "address": "\(address)", "key": "\(key)",
    ]
    if dropped > 0 { fields["dropped"] = .stringConvertible(dropped) }
    logger.warning("HTTP request refused", metadata: fields)
  }

  /// A line below the log level does not count for the limit.
  private func note(
    _ message: Logger.Message, _ level: Logger.Level, _ limit: LogRateLimiter, _ fields: () -> Logger.Metadata
  ) {
    guard logger.logLevel <= level, let dropped = limit.acquire(at: clocks.monotonic) else { return }
    var fields = fields()
    if dropped > 0 { fields["dropped"] = .stringConvertible(dropped) }
    logger.log(level: level, message, metadata: fields)
  }

  private static func fields(_ error: WireError, from address: String?, _ user: UserID?) -> Logger.Metadata {
    var fields: Logger.Metadata = ["code": .stringConvertible(error.code.rawValue), "reason": "\(error.message)"]
    if let field = error.field { fields["field"] = "\(field)" }
    if let address { fields["address"] = "\(address)" }
    if let user { fields["userID"] = "\(user)" }
    return fields
  }

  /// By scalars: a character can have any length.
  private static func shortened(_ text: String) -> String { String(text.unicodeScalars.prefix(200)) }
}

extension Logger.Metadata {
  /// Adds the trace-id by which other services' lines about the same request are found.
  mutating func add(_ trace: TraceContext?) {
    if let trace { self["traceID"] = "\(trace.traceID)" }
  }
}

/// A line a minute for each reason, which tells how many events it stands for.
private final class CrowdLines<Reason: Hashable & Sendable>: Sendable {
  private struct Line {
    var next = MonotonicInstant.distantPast
    var count = 0
  }

  private let lines = Mutex<[Reason: Line]>([:])

  /// - Returns: nil = no line now; else the events since the last one.
  func acquire(_ reason: Reason, at now: MonotonicInstant) -> Int? {
    lines.withLock { lines in
      var line = lines[reason] ?? Line()
      line.count += 1
      defer { lines[reason] = line }
      guard line.next <= now else { return nil }
      line.next = now + .seconds(60)
      defer { line.count = 0 }
      return line.count
    }
  }
}

/// The counters of one name. A label's value comes from a table, never from a client.
private final class RefusalCounters: Sendable {
  private let name: String
  private let label: String
  private let counters: Mutex<[String: Counter]>

  /// - Parameter values: show as 0 until something is counted.
  init(_ name: String, by label: String, _ values: [String]) {
    self.name = name
    self.label = label
    counters = Mutex(
      Dictionary(uniqueKeysWithValues: values.map { ($0, Counter(label: name, dimensions: [(label, $0)])) }))
  }

  func increment(_ value: String) {
    counters.withLock { counters in
      let counter = counters[value] ?? Counter(label: name, dimensions: [(label, value)])
      counters[value] = counter
      counter.increment()
    }
  }
}

/// The pairs of Origin and Host, or of path and Host, that were logged lately. The rate of lines bounds its memory.
private final class RecentPairs: Sendable {
  struct Pair: Hashable {
    /// The Origin, or a path.
    let origin: String
    let host: String
  }

  private static let sweepAt = 1024
  private let period: Duration
  private let limit = LogRateLimiter()
  private let logged = Mutex<[Pair: MonotonicInstant]>([:])

  init(period: Duration) { self.period = period }

  /// How many are remembered.
  var count: Int { logged.withLock { $0.count } }

  /// - Returns: nil = drop the line: the pair was logged lately, or the rate is reached; else how
  ///   many lines were dropped before it.
  func acquire(_ pair: Pair, at now: MonotonicInstant) -> Int? {
    logged.withLock { logged in
      if let last = logged[pair], now - last < period { return nil }
      guard let dropped = limit.acquire(at: now) else { return nil }
      if logged.count >= RecentPairs.sweepAt { logged = logged.filter { now - $0.value < period } }
      logged[pair] = now
      return dropped
    }
  }
}
