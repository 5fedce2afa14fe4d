import Authentication
import Foundation
import Gateway
import GroupModel
import GroupPermissions
import GroupRuntime
import Logging
import ServerConfiguration
import Synchronization
import WebSocketTransport

/// A server assembled from its settings, for `throng serve` and for tests in one process.
public final class Server: Sendable {
  private let settings: Settings
  let logger: Logger
  let store: any ServerStore
  let clocks: any Clocks
  private let registry: GroupRegistry
  let directory: SessionDirectory
  let statuses: Statuses
  /// This process among others; nil = it is alone.
  let node: ClusterNode?
  private let gateway: Gateway
  let deletions: UserDeletions
  /// What is kept in memory besides the store's and the webhooks'.
  let tables: [MemoryTable]
  let transport: Transport
  private let tokens: CurrentTokenVerifier
  /// Nil = no keys are read from a URL.
  let keySet: RemoteKeySet?
  /// Nil = nothing is traced.
  let spans: SpanExporter?
  private let alarms: any Alarms
  /// Nil = webhooks are off.
  let webhooks: WebhookComposition?
  /// The words that users may not write; nil = there are none.
  let words: CurrentWords?
  /// What live rooms remember; nil = nothing.
  let recent: RecentMessages?
  /// Nil = the server is alone.
  let engines: ClusterEngines?
  private let openFiles: Int
  private let memory = ProcessMemory()
  private let certificateWarnings = Mutex(CertificateWarnings())
  let readiness: Readiness
  let metrics: PrometheusRegistry

  /// Opens the store, reads the keys and binds both listeners, without serving yet.
  public convenience init(
    _ settings: Settings, metrics: PrometheusRegistry, logger: Logger, time: ServerTime = .system
  ) async throws(StartError) {
    try await self.init(settings, metrics: metrics, logger: logger, time: time, end: ProcessEnd(logger: logger, log: nil))
  }

  /// - Parameter end: ends the process where the store cannot go on.
  init(
    _ settings: Settings, metrics: PrometheusRegistry, logger: Logger, time: ServerTime, end: ProcessEnd
  ) async throws(StartError) {
    self.settings = settings
    self.metrics = metrics
    self.logger = logger
    let library = LibraryLog(clocks: time.clocks, logger: logger)
    TransportLog.setSink { level, text in library.write(level, text) }
    alarms = time.alarms
    let store = try openStore(settings, time, end, logger)
    var isWhole = false
    // A store that nobody closes tells the next start of a crash.
    defer { if !isWhole { store.close() } }
    self.store = store
    let clocks = store.clocks
    self.clocks = clocks
    engines = try ClusterEngines(settings, store: store, clocks: clocks, logger: logger)
    let tokens = try await Server.tokens(settings, logger)
    self.tokens = tokens
    keySet = try RemoteKeySet(settings, of: tokens, clocks: clocks, alarms: alarms, logger: logger)
    spans = try SpanExporter(settings, clocks: clocks, alarms: alarms, logger: logger)
    webhooks = try await WebhookComposition(
      settings, store: store, membership: engines?.lease, alarms: alarms, spans: spans, logger: logger)
    words = try CurrentWords(settings)
    let recent = RecentMessages(settings)
    self.recent = recent
    let composed = GatewayComposition(
      GatewayConfiguration(settings),
      stores: GatewayStores(
        groups: store, messages: store, users: store, personal: store, webhooks: store, access: store, erasure: store,
        reports: store),
      tokens: TokenChecker(tokens), clocks: clocks, alarms: alarms,
      rules: GroupRules(
        permissions: GroupPermissions(settings), limits: GroupLimits(settings), webhooks: webhooks?.types ?? .none,
        words: words),
      product: Product(name: "Throng", version: Release.version, limits: settings.limits.flattened), logger: logger,
      webhooks: webhooks?.services, recent: recent, spans: spans, cluster: engines?.ports)
    let registry = composed.delivery.registry
    deletions = composed.deletions
    tables = composed.tables
    store.onRemoval { registry.note($0) }
    (self.registry, directory, node) = (registry, composed.delivery.directory, composed.node)
    statuses = composed.delivery.statuses
    readiness = Readiness(store: store, engines: engines, node: node, keySet: keySet)
    let routes = Routes(
      administration: composed.administration, documents: composed.documents, proxies: composed.proxies,
      upgrades: composed.upgrades, refusals: composed.telemetry.refusals, metrics: metrics, readiness: readiness,
      credential: AdministratorCredential(tokens: tokens, settings.admin), hosts: InternalHosts(settings),
      demo: try await Server.demoPage(settings, logger),
      eventStreams: EventStreamPaths(settings).map {
        EventStreamRoutes($0, composed.eventStreams, proxies: composed.proxies, refusals: composed.telemetry.refusals)
      }, cluster: ClusterRoute(engines: engines, node: node),
      clocks: clocks, logger: logger)
    gateway = composed.gateway(http: routes)
    let delegate = gateway
    openFiles = Transport.limitOpenFiles(to: settings.openFiles)
    transport = try StartError.translating { () throws(TransportError) in
      var configuration = TransportConfiguration(settings)
      configuration.clock = time.loopClock
      return try Transport(configuration, delegate: delegate)
    }
    composed.use(transport.loops)
    time.onAdvance(AdvancedServer(loops: transport.loops, store: store))
    isWhole = true
  }

  /// The verifier of tokens; creates the secret where there is none yet.
  private static func tokens(_ settings: Settings, _ logger: Logger) async throws(StartError) -> CurrentTokenVerifier {
    do {
      return try await CurrentTokenVerifier(
        settings.tokenConfiguration { logger.info("a secret for tokens was made", metadata: ["path": "\($0)"]) })
    } catch {
      throw StartError("\(error)")
    }
  }

  private static func demoPage(_ settings: Settings, _ logger: Logger) async throws(StartError) -> DemoPage? {
    do {
      guard let page = try await DemoPage(settings) else { return nil }
      logger.warning("the demo page is on: whoever can open it can sign in as a guest")
      return page
    } catch {
      throw StartError("\(error)")
    }
  }

  /// The bound ports.
  public var ports: (public: Int?, internal: Int?) { (transport.publicPort, transport.internalPort) }

  /// Reads the keys of `auth.jwksURL`, and joins the cluster, where there are these; before `start`.
  public func join() async throws(StartError) {
    await keySet?.start()
    guard let engines else { return }
    try engines.join(at: "\(settings.internalListen.bound(to: transport.internalPort))")
    // It returns when this node hears all others, and is heard.
    await node?.start()
  }

  /// Begins to serve, and logs the addresses.
  public func start() {
    collectMetrics()
    transport.start()
    deletions.start()
    readiness.set(.serving)
    logger.info(
      "listening",
      metadata: [
        "listen": "\(settings.listen.bound(to: transport.publicPort))",
        "internalListen": "\(settings.internalListen.bound(to: transport.internalPort))",
        "version": "\(Release.version)", "dataDir": "\(settings.dataDir)", "loops": .stringConvertible(transport.loops.count),
        "openFiles": .stringConvertible(openFiles),
      ])
    let connections = StartWarnings.connections(settings.limits.connections, openFiles: openFiles)
    let everybody = StartWarnings.internalListener(settings.internalListen.bound(to: transport.internalPort))
    if let words { tellWords(words.list) }
    let warnings = [nextCertificateWarning(), connections, everybody].compactMap { $0 } + StartWarnings.keys(settings)
    for warning in warnings { logger.warning("\(warning)") }
  }

  private func nextCertificateWarning() -> String? {
    guard let expiry = transport.certificateExpiry else { return nil }
    return certificateWarnings.withLock { $0.next(expiring: expiry, now: clocks.wall) }
  }

  /// Reads the certificate, its key and the JWKS file or URL again, for new connections and sign-ins, and the
  /// list of words, for every text from here on (Operations.md, "Reloading"). A bad file changes
  /// nothing, and no session ends.
  public func reload() async {
    reloadCertificate()
    await reloadKeySet()
    reloadWords()
  }

  private func reloadCertificate() {
    let outcome = transport.reloadTLS()
    if let fault = outcome.fault { logger.error("a file was not reloaded", metadata: ["error": "\(fault)"]) }
    guard outcome.isReplaced else { return }
    logger.info("a file was reloaded", metadata: ["file": "\(settings.tls.certificateFile ?? "")"])
    if let warning = nextCertificateWarning() { logger.warning("\(warning)") }
  }

  private func reloadKeySet() async {
    // It logs what has come of it.
    await keySet?.reload()
    guard let path = settings.auth.jwksFile else { return }
    do {
      try await tokens.replaceKeySet(try Data(contentsOf: URL(fileURLWithPath: path)))
      logger.info("a file was reloaded", metadata: ["file": "\(path)"])
    } catch {
      logger.error("a file was not reloaded", metadata: ["error": "\(path): \(error)"])
    }
  }

  /// It is made here, off all loops: until it is there, texts are compared with the old one.
  private func reloadWords() {
    guard let words, let path = settings.moderation.wordsFile else { return }
    do throws(StartError) {
      let list = try WordFile.read(path)
      words.replace(with: list)
      tellWords(list)
    } catch {
      logger.error("the list of words was not read again", metadata: ["error": "\(error)"])
    }
  }

  private func tellWords(_ list: WordList) {
    logger.info(
      "the list of words was read",
      metadata: [
        "file": "\(settings.moderation.wordsFile ?? "")", "words": .stringConvertible(list.count),
        "action": "\(settings.moderation.action.rawValue)", "bytes": .stringConvertible(list.byteCount),
      ])
  }

  /// Keeps the memory small until the task is cancelled: every ten seconds it removes groups whose
  /// owner has too many in memory, and returns what is free to the system; every minute it removes
  /// groups that were not used for ten.
  public func runMaintenance() async {
    var rounds = 0
    while !Task.isCancelled {
      await alarms.sleep(until: clocks.monotonic + Server.maintenanceInterval)
      registry.retireExcess()
      memory.trimAfterFall()
      rounds += 1
      if rounds % 6 == 0 { registry.retireGroups(unusedFor: Server.idleTime) }
    }
  }

  private static let maintenanceInterval = Duration.seconds(10)
  /// How long an unused group stays in memory: longer than a clientMsgID is remembered (5 minutes).
  private static let idleTime = Duration.seconds(600)

  /// Ends gracefully (Protocol.md, "Draining"): refuses upgrades at once, closes sessions one after
  /// the other while requests are served, and keeps the internal listener to the end.
  public func drain() async {
    readiness.set(.draining)
    let duration = settings.drain.duration
    logger.info(
      "draining",
      metadata: [
        "sessions": .stringConvertible(directory.sessionCount), "duration": .stringConvertible(duration.wholeMilliseconds),
        "hint": "a second signal ends it at once",
      ])
    gateway.drain(over: duration, on: transport.loops)
    let end = clocks.monotonic + duration + Server.closingTime
    // Shards move while their groups' other sessions are served.
    async let released: Void? = engines?.drain(within: duration)
    await waitUntilEmpty(until: end)
    _ = await released
    await stop(at: max(end, clocks.monotonic + Server.leastAnsweringTime))
    logger.info("stopped")
  }

  /// The time beyond the drain's duration for the last closes and, behind them, for HTTP answers.
  private static let closingTime = Duration.seconds(2)
  /// The time for HTTP answers where the closes have taken all of it.
  private static let leastAnsweringTime = Duration.milliseconds(500)

  private func waitUntilEmpty(until end: MonotonicInstant) async {
    await withTaskGroup { group in
      group.addTask { await self.gateway.waitUntilEmpty() }
      group.addTask { await self.alarms.sleep(until: end) }
      await group.next()
      group.cancelAll()
    }
  }

  /// Ends at once: closes all connections and the store. HTTP answers in flight are sent first.
  public func stop() async { await stop(at: clocks.monotonic + Server.closingTime) }

  /// - Parameter end: the instant up to which HTTP answers are waited for.
  private func stop(at end: MonotonicInstant) async {
    deletions.end()
    await alarms.wait(until: end) { transport.finishAnswers(then: $0) }
    await transport.stop()
    await keySet?.stop()
    await webhooks?.stop()
    await spans?.stop()
    node?.stop()
    store.close()
    await engines?.leave()
  }
}

/// Whether the server accepts work, as `/readyz` tells load balancers (Protocol.md, "Internal
/// listener").
final class Readiness: Sendable {
  enum Phase: Sendable { case starting, serving, draining }

  private let phase = Mutex(Phase.starting)
  private let store: any StoreHealth
  private let engines: ClusterEngines?
  private let node: ClusterNode?
  private let keySet: RemoteKeySet?

  init(
    store: any StoreHealth, engines: ClusterEngines? = nil, node: ClusterNode? = nil, keySet: RemoteKeySet? = nil
  ) {
    self.store = store
    self.engines = engines
    self.node = node
    self.keySet = keySet
  }

  func set(_ phase: Phase) { self.phase.withLock { $0 = phase } }

  /// The reason why the server is not ready; nil = ready.
  var obstacle: String? {
    switch phase.withLock({ $0 }) {
    case .starting: "starting"
    case .draining: "draining"
    case .serving: store.canPersist ? engines?.obstacle ?? node?.obstacle ?? missingKeys : "cannot write to the store"
    }
  }

  private var missingKeys: String? {
    guard let keySet, !keySet.hasKeys else { return nil }
    return "the keys of auth.jwksURL were not read yet"
  }
}
