import Authentication
import CoreMetrics
import Dispatch
import Foundation
import GroupModel
import Logging
import OutgoingHTTP
import ServerConfiguration
import Synchronization

/// Reads the key set of `auth.jwksURL` (Protocol.md, "Keys at a URL"). `KeySetReadings` decides when. The
/// last good set stays while a reading fails.
final class RemoteKeySet: Sendable {
  /// The limits of a reading: a sign-in that waits for it has 10 s.
  static let timeout = Duration.seconds(5)
  static let maxBytes = 512 * 1024
  /// How long a start waits for the first set.
  static let startPatience = Duration.seconds(10)

  /// Takes a set for tokens that are checked from now on.
  /// - Returns: how many keys of it are in use.
  typealias Installation = @Sendable (Data) async throws(AuthenticationError) -> Int

  private struct State {
    var readings: KeySetReadings
    /// Resumed when the reading under way has ended.
    var waiting: [@Sendable () -> Void] = []
    /// Called when there is a set.
    var starting: [@Sendable () -> Void] = []
    var contents: Data?
    var keyCount = 0
    var isStopped = false
  }

  private let url: String
  /// Without what may be a secret.
  private let shownURL: String
  private let http: HTTPClient
  private let install: Installation
  private let clocks: any Clocks
  private let alarms: any Alarms
  private let logger: Logger
  private let state: Mutex<State>
  private let good = Counter(label: RemoteKeySet.readsName, dimensions: [("result", "good")])
  private let failed = Counter(label: RemoteKeySet.readsName, dimensions: [("result", "failed")])

  static let readsName = "throng_jwks_reads_total"

  /// - Parameters:
  ///   - shownURL: the URL as logs may have it.
  ///   - refresh: how often it is read.
  init(
    _ url: String, shownURL: String, refresh: Duration, http: HTTPClient, clocks: any Clocks, alarms: any Alarms,
    logger: Logger, install: @escaping Installation
  ) {
    self.url = url
    self.shownURL = shownURL
    self.http = http
    self.install = install
    self.clocks = clocks
    self.alarms = alarms
    self.logger = logger
    state = Mutex(State(readings: KeySetReadings(refresh: refresh)))
  }

  /// Nil where no keys are read from a URL.
  convenience init?(
    _ settings: Settings, of tokens: CurrentTokenVerifier, clocks: any Clocks, alarms: any Alarms, logger: Logger
  ) throws(StartError) {
    guard let url = settings.auth.jwksURL else { return nil }
    self.init(
      url, shownURL: settings.auth.shownJWKSURL, refresh: settings.auth.jwksRefresh, http: try RemoteKeySet.client(),
      clocks: clocks, alarms: alarms, logger: logger
    ) { (contents: Data) async throws(AuthenticationError) -> Int in
      try await tokens.replaceKeySet(contents)
      return tokens.current.setKeyCount
    }
    tokens.onUnknownKey { [weak self] in await self?.readForToken() ?? false }
  }

  /// The client of a reading.
  static func client() throws(StartError) -> HTTPClient {
    var configuration = HTTPClient.Configuration()
    configuration.connections = 1
    configuration.maxAnswerBytes = maxBytes
    configuration.timeout = timeout
    configuration.maxWait = timeout
    return try StartError.translating { () throws(HTTPError) in try HTTPClient(configuration) }
  }

  /// Whether there is a set.
  var hasKeys: Bool { state.withLock { $0.contents != nil } }

  /// How many keys of the set are in use.
  var keyCount: Int { state.withLock { $0.keyCount } }

  /// How old the set is; nil = there is none.
  var age: Duration? {
    let now = clocks.monotonic
    return state.withLock { $0.readings.lastSuccess }.map { now - $0 }
  }

  // MARK: Causes

  /// Begins to read, and returns when there is a set, or the start has waited long enough.
  func start() async {
    timeHasCome()
    await alarms.wait(until: clocks.monotonic + RemoteKeySet.startPatience) { end in
      let hasKeys = state.withLock { state in
        if state.contents == nil { state.starting.append(end) }
        return state.contents != nil
      }
      if hasKeys { end() }
    }
    guard !hasKeys else { return }
    logger.warning(
      "the server starts without the keys of auth.jwksURL",
      metadata: [
        "url": "\(shownURL)",
        "hint": "/readyz is 503 until they were read, and whoever signs in with one of them is told to come back later",
      ])
  }

  /// A token names an unknown key. See `TokenChecking.readKeys`.
  func readForToken() async -> Bool {
    let now = clocks.monotonic
    return await withCheckedContinuation { continuation in
      let verdict = state.withLock { state -> KeySetReadings.Verdict in
        guard !state.isStopped else { return .refuse }
        let verdict = state.readings.sawUnknownKey(at: now)
        if verdict != .refuse { state.waiting.append { continuation.resume(returning: true) } }
        return verdict
      }
      switch verdict {
      case .begin: read()
      case .join: break
      case .refuse: continuation.resume(returning: false)
      }
    }
  }

  /// The operator wants it read; returns when that was done.
  func reload() async {
    await withCheckedContinuation { continuation in
      let (begins, isStopped) = state.withLock { state in
        if !state.isStopped { state.waiting.append { continuation.resume() } }
        return (!state.isStopped && state.readings.isWanted(), state.isStopped)
      }
      if begins { read() }
      if isStopped { continuation.resume() }
    }
  }

  /// Ends the reading under way, and begins none any more.
  func stop() async {
    state.withLock { $0.isStopped = true }
    await http.shutDown()
  }

  private func timeHasCome() {
    let now = clocks.monotonic
    if state.withLock({ !$0.isStopped && $0.readings.timeHasCome(at: now) }) { read() }
  }

  // MARK: A reading

  private enum Outcome {
    case good(Data, keyCount: Int, isNew: Bool)
    case failed(String)
  }

  /// One at a time, as `KeySetReadings` has it.
  private func read() { Task { end(await outcome()) } }

  private func outcome() async -> Outcome {
    let data: Data
    do throws(StartError) { data = try await RemoteKeySet.contents(of: url, by: http) } catch {
      return .failed(error.description)
    }
    let (known, keyCount) = state.withLock { ($0.contents, $0.keyCount) }
    if known == data { return .good(data, keyCount: keyCount, isNew: false) }
    do throws(AuthenticationError) {
      return .good(data, keyCount: try await install(data), isNew: true)
    } catch {
      return .failed(error.description)
    }
  }

  /// Reads a set once, for commands beside a server.
  static func contents(of url: String) async throws(StartError) -> Data {
    let http = try client()
    do throws(StartError) {
      let data = try await contents(of: url, by: http)
      await http.shutDown()
      return data
    } catch {
      await http.shutDown()
      throw StartError("auth.jwksURL could not be read: \(error)")
    }
  }

  /// No redirect is followed: whoever could place one would choose the keys.
  private static func contents(of url: String, by http: HTTPClient) async throws(StartError) -> Data {
    switch await http.get(url, headers: [HTTPHeader("accept", "application/jwk-set+json, application/json")]) {
    case .success(let response) where response.status == 200: return Data(response.body)
    case .success(let response) where 300..<400 ~= response.status:
      throw StartError(
        "the status is \(response.status), and no redirect is followed: auth.jwksURL has to name the place itself")
    case .success(let response): throw StartError("the status is \(response.status)")
    case .failure(let error): throw StartError(error.description)
    }
  }

  /// What follows the end of a reading.
  private struct Sequel {
    var failuresBefore = 0
    var failures = 0
    var begins = false
    var isStopped = false
    var due: MonotonicInstant?
    var resumptions: [@Sendable () -> Void] = []
  }

  private func end(_ outcome: Outcome) {
    let now = clocks.monotonic
    let sequel = state.withLock { state in
      var sequel = Sequel(failuresBefore: state.readings.failures, isStopped: state.isStopped, resumptions: state.waiting)
      state.waiting = []
      switch outcome {
      case .good(let contents, let keyCount, _):
        (state.contents, state.keyCount) = (contents, keyCount)
        sequel.resumptions += state.starting
        state.starting = []
        sequel.begins = state.readings.didEnd(isGood: true, at: now)
      case .failed: sequel.begins = state.readings.didEnd(isGood: false, at: now)
      }
      (sequel.failures, sequel.due) = (state.readings.failures, state.readings.due)
      return sequel
    }
    if !sequel.isStopped { tell(outcome, sequel) }
    for resume in sequel.resumptions { resume() }
    guard !sequel.isStopped else { return }
    if sequel.begins { read() }
    if let due = sequel.due {
      alarms.schedule(at: due, on: DispatchQueue.global()) { [weak self] in self?.timeHasCome() }
    }
  }

  private func tell(_ outcome: Outcome, _ sequel: Sequel) {
    switch outcome {
    case .good(_, let keyCount, let isNew):
      good.increment()
      logger.log(
        level: isNew || sequel.failuresBefore > 0 ? .info : .debug, "the keys of auth.jwksURL were read",
        metadata: ["url": "\(shownURL)", "keys": .stringConvertible(keyCount)])
    case .failed(let error):
      failed.increment()
      var metadata: Logger.Metadata = [
        "url": "\(shownURL)", "error": "\(error)", "failures": .stringConvertible(sequel.failures),
      ]
      if let age { metadata["age"] = "\(age.components.seconds)s" }
      logger.warning("the keys of auth.jwksURL could not be read", metadata: metadata)
    }
  }
}
