import Authentication
import CoreMetrics
import Foundation
import Gateway
import GroupModel
import GroupPermissions
import GroupRuntime
import Logging
import SQLiteStore
import ServerConfiguration
import WebSocketTransport

/// A server put together from its settings: what `throng serve` runs, and what tests start in their own process.
public final class Server: Sendable {
  private let settings: Settings
  private let logger: Logger
  private let store: SQLiteStore
  private let services: GatewayServices
  private let gateway: Gateway
  private let transport: Transport
  private let openFiles: Int
  private let readiness: Readiness
  private let metrics: PrometheusRegistry

  /// Opens the store, reads the keys and binds both listeners; nothing is served yet.
  /// - Throws: a sentence for the operator, as `StartError`.
  public init(_ settings: Settings, metrics: PrometheusRegistry, logger: Logger) async throws(StartError) {
    self.settings = settings
    self.metrics = metrics
    self.logger = logger
    let library = LibraryLog(logger)
    TransportLog.setSink { level, text in library.write(level, text) }
    store = try StartError.translating { () throws(StoreOpenError) in
      try SQLiteStore.open(
        directory: settings.dataDir, database: settings.store.databasePath,
        sync: settings.store.sync == .full ? .full : .normal, logger: logger)
    }
    let tokens = try await Server.tokens(settings, logger)
    services = GatewayServices(
      configuration: GatewayConfiguration(settings),
      stores: GatewayServices.Stores(groups: store, messages: store, users: store, personal: store), tokens: TokenChecker(tokens),
      clock: SystemClock(),
      rules: GroupRules(permissions: GroupPermissions(settings), limits: GroupLimits(settings)),
      product: GatewayServices.Product(name: "Throng", version: Release.version, limits: settings.limits.flattened),
      logger: logger)
    readiness = Readiness(store: store)
    let routes = Routes(
      services: services, metrics: metrics, readiness: readiness,
      credential: AdministratorCredential(tokens: tokens, apiKey: settings.admin.apiKey),
      demo: try await Server.demoPage(settings, logger), logger: logger)
    gateway = Gateway(services, http: routes)
    let delegate = gateway
    openFiles = Transport.limitOpenFiles(to: settings.openFiles)
    transport = try StartError.translating { () throws(TransportError) in
      try Transport(TransportConfiguration(settings), delegate: delegate)
    }
    services.registry.use(transport.loops.map(\.executor))
  }

  /// The keys that tokens are checked with; makes the secret where there is none yet.
  private static func tokens(_ settings: Settings, _ logger: Logger) async throws(StartError) -> TokenVerifier {
    do {
      return try await TokenVerifier(
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

  /// The ports that were bound.
  public var ports: (public: Int?, internal: Int?) { (transport.publicPort, transport.internalPort) }

  /// Begins to serve. When this returns, the log has said where.
  public func start() {
    collectMetrics()
    transport.start()
    readiness.set(.serving)
    logger.info(
      "listening",
      metadata: [
        "listen": "\(address(settings.listen, transport.publicPort))",
        "internalListen": "\(address(settings.internalListen, transport.internalPort))",
        "version": "\(Release.version)", "dataDir": "\(settings.dataDir)", "loops": .stringConvertible(transport.loops.count),
        "openFiles": .stringConvertible(openFiles),
      ])
    let certificate = transport.certificateExpiry.flatMap {
      StartWarnings.certificate(expiring: $0, now: SystemClock().now() / 1000)
    }
    let connections = StartWarnings.connections(settings.limits.connections, openFiles: openFiles)
    for warning in [certificate, connections].compactMap({ $0 }) { logger.warning("\(warning)") }
  }

  private func address(_ address: ListenAddress, _ port: Int?) -> String {
    let host = address.host.contains(":") ? "[\(address.host)]" : address.host
    return "\(host):\(port ?? Int(address.port))"
  }

  /// Gives up the memory of groups that nobody has used for a while; called now and then.
  public func retireIdleGroups() { services.registry.retireGroups(unusedFor: Server.idleTime) }

  /// How long a group stays in memory without being used. More than the 5 minutes that a clientMsgID is
  /// remembered.
  private static let idleTime = Duration.seconds(600)

  /// Ends gracefully (contract section 9): not ready and no new upgrades at once, requests served while sessions are closed one
  /// after the other, the internal listener up to the end.
  public func drain() async {
    readiness.set(.draining)
    let duration = settings.drain.duration.wholeMilliseconds
    logger.info(
      "draining",
      metadata: ["sessions": .stringConvertible(services.sessionCount), "duration": .stringConvertible(duration)])
    gateway.drain(over: duration, on: transport.loops)
    await waitUntilEmpty(atMost: .milliseconds(duration + Server.closingTime))
    await stop()
    logger.info("stopped")
  }

  /// How long the last closes may take beyond the drain's duration, in milliseconds.
  private static let closingTime: Int64 = 2000

  private func waitUntilEmpty(atMost duration: Duration) async {
    await withTaskGroup { group in
      group.addTask { await self.gateway.waitUntilEmpty() }
      // Cancelled when the last connection has gone, which is as good an end as any.
      group.addTask { try? await Task.sleep(for: duration) }
      await group.next()
      group.cancelAll()
    }
  }

  /// Ends at once: cuts what is open and closes the store.
  public func stop() async {
    await transport.stop()
    store.close()
  }

  // MARK: Metrics

  /// Values that are looked up when somebody scrapes.
  private func collectMetrics() {
    for one in MetricDescription.all {
      metrics.describe(one.name, help: one.help, type: one.kind == .counter ? .counter : .histogram)
    }
    ProcessMetrics.collect(in: metrics)
    metrics.collect("throng_sessions", help: "Signed-in sessions.", type: .gauge) { [services] in
      [(labels: [], value: Double(services.sessionCount))]
    }
    metrics.collect("throng_groups", help: "Groups by type.", type: .gauge) { [store, logger] in
      do throws(StoreError) {
        let counts = try await store.groupCounts()
        return GroupType.allCases.map { (labels: [("groupType", $0.rawValue)], value: Double(counts[$0] ?? 0)) }
      } catch {
        logger.error("groups cannot be counted", metadata: ["error": "\(error)"])
        return []
      }
    }
    if let expiry = transport.certificateExpiry {
      metrics.collect(
        "throng_tls_certificate_expiry_timestamp_seconds",
        help: "When the first certificate of the chain expires, in Unix seconds.", type: .gauge
      ) { [(labels: [], value: Double(expiry))] }
    }
    collectTransport("throng_connections", "Open WebSocket connections.", .gauge) { [([], Double($0.connections))] }
    collectTransport("throng_fanout_deliveries_total", "Frames handed to the system, times recipients.", .counter) {
      [([], Double($0.deliveries))]
    }
    collectTransport("throng_fanout_skipped_total", "Live chat that slow connections did not get.", .counter) {
      [([], Double($0.skippedEntries))]
    }
    collectTransport("throng_connections_closed_total", "Closed connections by close code.", .counter) {
      CloseCounts.byLabel($0.closes)
    }
  }

  private func collectTransport(
    _ name: String, _ help: String, _ type: ScrapedType,
    _ read: @escaping @Sendable (TransportCounters) -> [(labels: [(String, String)], value: Double)]
  ) {
    metrics.collect(name, help: help, type: type) { [transport] in
      var sum = TransportCounters()
      for loop in transport.loops {
        sum =
          sum
          + (await withCheckedContinuation { continuation in
            loop.perform { continuation.resume(returning: loop.counters()) }
          })
      }
      return read(sum)
    }
  }
}
