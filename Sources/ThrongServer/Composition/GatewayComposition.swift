import Gateway
import GroupModel
import GroupPermissions
import GroupRuntime
import Logging
import WebSocketTransport
import WireProtocol

/// The gateway and the groups behind it: each object is made once, before any loop runs, and gets
/// what it uses. `Server` composes them over its store, and tests over one in memory.
struct GatewayComposition: Sendable {
  let telemetry: TelemetryComposition
  let limits: LimitComposition
  let delivery: DeliveryComposition
  /// Deletes users in the background, once it is started.
  let deletions: UserDeletions
  let dispatcher: Dispatcher
  let administration: AdministratorRPC
  let documents: InterfaceDocuments
  let proxies: TrustedProxies
  let upgrades: UpgradePolicy
  let signInPolicy: SignInPolicy
  let sessions: SessionFactory
  /// The event streams of this node.
  let streams: StreamDirectory
  let eventStreams: EventStreams
  /// This process as a node; nil = it is alone.
  let node: ClusterNode?
  /// What all of these keep in memory, for the metrics.
  let tables: [MemoryTable]
  /// Nil = this process is alone.
  private let links: ClusterLinks?
  private let clocks: any Clocks
  private let logger: Logger

  /// - Parameters:
  ///   - webhooks: nil = they are off.
  ///   - recent: what live rooms remember; nil = nothing.
  ///   - spans: gets those of traces; nil = nothing is traced.
  ///   - cluster: nil = this process is alone.
  init(
    _ configuration: GatewayConfiguration, stores: GatewayStores, tokens: any TokenChecking, clocks: any Clocks,
    alarms: any Alarms, rules: GroupRules, product: Product, logger: Logger, webhooks: WebhookServices? = nil,
    recent: RecentMessages? = nil, spans: (any SpanRecorder)? = nil, cluster: ClusterPorts? = nil
  ) {
    let network = cluster.map { ClusterNetwork($0, clocks: clocks, logger: logger) }
    let methods = MethodTable(textLimits: configuration.textLimits)
    telemetry = TelemetryComposition(
      configuration, methods, spans: spans, clocks: clocks, logger: logger, otherNodes: network?.otherNodes)
    limits = LimitComposition(configuration, groups: stores.groups, network: network)
    delivery = DeliveryComposition(
      configuration, stores, rules: rules, recent: recent, clocks: clocks, alarms: alarms, poster: webhooks?.poster,
      network: network, tracer: telemetry.tracer, observer: telemetry.stores, logger: logger, spans: spans)
    documents = InterfaceDocuments(methods, path: configuration.path, version: product.version)
    deletions = UserDeletions(
      stores: stores, registry: delivery.registry, sessions: delivery.sessions, network: network, clocks: clocks,
      alarms: alarms, observer: telemetry.stores, logger: logger)
    dispatcher = Dispatcher(
      registry: delivery.registry, stores: stores, profiles: delivery.profiles, sessions: delivery.sessions,
      statuses: delivery.statuses, quotas: limits.quotas, deletions: deletions, router: network?.router, clocks: clocks,
      configuration: configuration,
      pageBytes: rules.limits.pageBytes, unreadLimit: rules.limits.unreadCount, observer: telemetry.stores, product: product,
      serverInfo: ServerInfo(product, groupTypes: GroupTypeDescription.all(by: rules.permissions)).reply(),
      openRPC: documents.openRPC, webhooks: webhooks, words: rules.words, observation: telemetry.observation)
    administration = AdministratorRPC(
      methods: methods, dispatcher: dispatcher, users: stores.users, sessions: delivery.sessions, profiles: delivery.profiles,
      clocks: clocks, telemetry: telemetry.requests, observer: telemetry.stores, actions: telemetry.actions, logger: logger)
    proxies = TrustedProxies(configuration)
    upgrades = UpgradePolicy(configuration, proxies: proxies, connectionLimiter: limits.connections)
    signInPolicy = SignInPolicy(
      configuration, tokens: tokens, sessions: delivery.sessions, budgets: limits.budgets, limiter: limits.signIns,
      connectionLimiter: limits.connections, links: network?.links)
    streams = StreamDirectory(cluster)
    eventStreams = EventStreams(
      streams, upgrades: upgrades, proxies: proxies, refusals: telemetry.refusals, requests: network?.requests)
    sessions = SessionFactory(
      methods: methods, dispatcher: dispatcher, telemetry: telemetry.requests, signInPolicy: signInPolicy,
      registration: SessionRegistration(
        sessions: delivery.sessions, groups: stores.groups, users: stores.users, access: stores.access,
        profiles: delivery.profiles, quotas: limits.quotas, clocks: clocks, observer: telemetry.stores,
        grace: rules.limits.offlineGrace),
      connectionLimiter: limits.connections, streams: streams, readyReplyBytes: configuration.readyReplyBytes)
    node = network.flatMap { [telemetry, limits, delivery, dispatcher, streams] network in
      ClusterNode(
        network, dispatcher, methods, stores, delivery, limits, telemetry, streams, poster: webhooks?.poster, clocks: clocks,
        grace: rules.limits.offlineGrace, logger: logger)
    }
    let tables = MemoryTable.all(
      registry: delivery.registry, profiles: delivery.profiles, directory: delivery.directory,
      absenceTimers: delivery.absenceTimers, statuses: delivery.statuses, budgets: limits.budgets, quotas: limits.quotas,
      connections: limits.connections, dispatcher: dispatcher, streams: streams, eventStreams: eventStreams,
      refusals: telemetry.refusals, observation: telemetry.observation)
    self.tables = tables + (node?.tables ?? [])
    links = network?.links
    (self.clocks, self.logger) = (clocks, logger)
  }

  /// The delegate of the transport.
  /// - Parameter http: gets the HTTP requests of both listeners.
  func gateway(http: any HTTPHandling) -> Gateway {
    Gateway(
      sessions: sessions, proxies: proxies, upgrades: upgrades, connectionLimiter: limits.connections,
      budgets: limits.budgets, absenceTimers: delivery.absenceTimers, statuses: delivery.statuses,
      refusals: telemetry.refusals, clocks: clocks, logger: logger, http: http)
  }

  /// Distributes groups over loops, which are made after the gateway.
  func use(_ loops: [EventLoop]) {
    links?.use(loops)
    delivery.registry.use(loops.map(\.executor))
    telemetry.activeGroups.use(loops)
  }
}

/// What operators are told: counts, log lines and traces of requests, failures of stores, and the
/// methods by which the console looks at the server.
struct TelemetryComposition: Sendable {
  let tracer: Tracer
  let refusals: RefusalLog
  let requests: RequestTelemetry
  let stores: StoreObserver
  let activeGroups = ActiveGroups()
  let actions = AdministratorActions()
  let observation: Observation

  /// - Parameters:
  ///   - spans: nil = nothing is traced.
  ///   - otherNodes: nil = this process is alone.
  init(
    _ configuration: GatewayConfiguration, _ methods: MethodTable, spans: (any SpanRecorder)?, clocks: any Clocks,
    logger: Logger, otherNodes: OtherNodes?
  ) {
    tracer = Tracer(clocks: clocks)
    refusals = RefusalLog(clocks: clocks, logger: logger)
    requests = RequestTelemetry(
      metrics: RequestMetrics(methods), refusals: refusals, tracer: tracer,
      tracing: RequestTracing(recorder: spans, sampling: configuration.traceSampling),
      unknownParameters: UnknownParameterPolicy(
        isStrict: configuration.refusesUnknownParameters, logger: logger, tracer: tracer))
    stores = StoreObserver(logger: logger)
    observation = Observation(
      tracer: tracer, activeGroups: activeGroups, actions: actions, nodes: otherNodes, clocks: clocks)
  }
}

/// The limits that loops share: of users, of addresses, and of the server.
struct LimitComposition: Sendable {
  let budgets: UserBudgets
  let quotas: GroupQuotas
  let connections: ConnectionLimiter
  let signIns: SignInLimiter

  /// - Parameter network: nil = this process is alone.
  init(_ configuration: GatewayConfiguration, groups: any GroupStore, network: ClusterNetwork?) {
    budgets = UserBudgets(configuration, reporter: network?.links)
    quotas = GroupQuotas(groups: groups, configuration: configuration, countsAllGroups: network == nil)
    connections = ConnectionLimiter(
      connections: configuration.connections, connectionsPerAddress: configuration.connectionsPerAddress,
      ipv6PrefixLength: configuration.ipv6PrefixLength)
    signIns = SignInLimiter(configuration)
  }
}

extension ClusterNode {
  /// This process among others; nil where it is alone.
  fileprivate convenience init?(
    _ network: ClusterNetwork, _ dispatcher: Dispatcher, _ methods: MethodTable, _ stores: GatewayStores,
    _ delivery: DeliveryComposition, _ limits: LimitComposition, _ telemetry: TelemetryComposition, _ streams: StreamDirectory,
    poster: (any WebhookPoster)?, clocks: any Clocks, grace: Duration, logger: Logger
  ) {
    guard let users = delivery.clusterUsers, let topics = delivery.topics else { return nil }
    let (directory, registry) = (delivery.directory, delivery.registry)
    let follows = FollowAnswerer(
      router: network.router, registry: registry, store: stores.groups, topics: topics.own, observer: telemetry.stores)
    let requests = RemoteRequestHandler(
      dispatcher: dispatcher, observation: telemetry.observation, router: network.router, registry: registry,
      follows: follows, users: users, directory: directory, budgets: limits.budgets, streams: streams, methods: methods,
      clocks: clocks)
    let entries = ClusterEntryHandler(
      network, handler: requests, users: users, topics: topics.followed, directory: directory, statuses: delivery.statuses,
      budgets: limits.budgets, connectionLimiter: limits.connections, poster: poster, clocks: clocks)
    let presence = PresenceKeeper(
      network.presence, store: network.ports.presence, recorder: delivery.recorder, timers: delivery.absenceTimers,
      clocks: clocks, grace: grace, observer: telemetry.stores)
    let additions = RecentAdditions(
      network, store: stores.groups, directory: directory, topics: topics.followed, clocks: clocks,
      observer: telemetry.stores, logger: logger)
    self.init(
      network, users: users, topics: topics.followed, ownTopics: topics.own, follows: follows, additions: additions,
      directory: directory, registry: registry, observation: telemetry.observation, statuses: dispatcher.statusReader,
      presence: presence, requestHandler: requests, entryHandler: entries, poster: poster, deletions: dispatcher.deletions,
      clocks: clocks, logger: logger)
  }
}
