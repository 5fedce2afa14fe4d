import Cluster
import GroupModel
import GroupPermissions
import GroupRuntime
import Logging
import WireProtocol

/// The services that sessions and the application's interface share, made once before any loop
/// runs.
public final class GatewayServices: Sendable {
  /// The stores of a process.
  public struct Stores: Sendable {
    public let groups: any GroupStore
    public let messages: any MessageStore
    public let users: any UserStore
    public let personal: any PersonalStore
    public let webhooks: any WebhookStore

    /// Stores with everything given.
    public init(
      groups: any GroupStore, messages: any MessageStore, users: any UserStore, personal: any PersonalStore,
      webhooks: any WebhookStore
    ) {
      self.groups = groups
      self.messages = messages
      self.users = users
      self.personal = personal
      self.webhooks = webhooks
    }
  }

  /// The server as getServerInfo and the documents of its interface describe it.
  public struct Product: Sendable {
    /// The server's name.
    public let name: String
    /// The release.
    public let version: String
    /// The limits by configuration key; durations in seconds.
    public let limits: [(key: String, value: Int64)]

    /// A product with everything given.
    public init(name: String, version: String, limits: [(key: String, value: Int64)]) {
      self.name = name
      self.version = version
      self.limits = limits
    }
  }

  /// The configuration of sessions.
  public let configuration: GatewayConfiguration
  /// All methods, for parsing.
  public let methods: MethodTable
  /// The groups in memory.
  public let registry: GroupRegistry
  /// Routes the requests of sessions and of the application.
  public let dispatcher: Dispatcher
  /// Serves `POST /rpc`.
  public let administration: AdministratorRPC
  /// The OpenRPC document.
  public let openRPC: LazyDocument
  /// The AsyncAPI document.
  public let asyncAPI: LazyDocument
  let tokens: any TokenChecking
  let profiles: ProfileCache
  let groups: any GroupStore
  let users: any UserStore
  /// The clocks of the process.
  public let clocks: any Clocks
  private let offlineGrace: Duration
  let directory: SessionDirectory
  let sessions: any UserDirectory
  /// This process as a node; nil = it is alone.
  public let cluster: ClusterNode?
  let connectionLimiter: ConnectionLimiter
  let upgrades: UpgradePolicy
  let budgets: UserBudgets
  let signInLimiter: SignInLimiter
  /// Gets every refusal.
  public let refusals: RefusalLog
  let absenceTimers: AbsenceTimers
  let observer: StoreObserver
  let metrics: RequestMetrics
  let tracer: Tracer
  let unknownParameters: UnknownParameterPolicy
  let logger: Logger
  /// Finds the busiest groups, once it has the loops.
  public let activeGroups = ActiveGroups()

  /// Services over the given stores. The registry gets its executors once the loops exist.
  public init(
    configuration: GatewayConfiguration, stores: Stores, tokens: any TokenChecking, clocks: any Clocks, alarms: any Alarms,
    rules: GroupRules, product: Product, logger: Logger, webhooks: WebhookServices? = nil, cluster: ClusterPorts? = nil
  ) {
    self.configuration = configuration
    upgrades = UpgradePolicy(configuration)
    self.tokens = tokens
    self.clocks = clocks
    offlineGrace = rules.limits.offlineGrace
    groups = stores.groups
    users = stores.users
    profiles = ProfileCache(store: stores.users)
    let presence = PresenceWebhooks(rules.webhooks, groups: stores.groups, clocks: clocks, poster: webhooks?.poster)
    directory = SessionDirectory { user, platform, isHere in
      // On several nodes, the owner of the user's shard does it.
      if cluster != nil { return }
      stores.users.notePresence(of: user, offlineSince: isHere ? nil : clocks.wall)
      presence.note(user, on: platform, isHere: isHere)
    }
    methods = MethodTable(textLimits: configuration.textLimits)
    metrics = RequestMetrics(methods)
    observer = StoreObserver(logger: logger)
    tracer = Tracer(clocks: clocks)
    unknownParameters = UnknownParameterPolicy(isStrict: configuration.refusesUnknownParameters, logger: logger, tracer: tracer)
    self.logger = logger
    let actions = AdministratorActions()
    let links = cluster.map { ClusterNetwork($0, clocks: clocks, logger: logger) }
    budgets = UserBudgets(configuration, reporter: links?.links)
    signInLimiter = SignInLimiter(configuration)
    refusals = RefusalLog(clocks: clocks, logger: logger)
    connectionLimiter = ConnectionLimiter(
      connections: configuration.connections, connectionsPerAddress: configuration.connectionsPerAddress,
      ipv6PrefixLength: configuration.ipv6PrefixLength)
    let broker: any Broker =
      if let links {
        ClusterBroker(directory: directory, presence: links.presence, links: links.links, tracer: tracer)
      } else {
        LocalBroker(directory: directory, tracer: tracer)
      }
    registry = GroupRegistry(
      services: GroupServices(
        groups: stores.groups, messages: stores.messages, profiles: profiles, broker: broker,
        clocks: clocks, alarms: alarms, rules: rules, observer: observer, webhooks: webhooks?.poster,
        ownership: links?.router),
      executors: [])
    let (directory, registry, profiles) = (directory, registry, profiles)
    let otherNodes = links.map { OtherNodes($0.requests, $0.ports.membership, logger: logger) }
    let clusterUsers = links.flatMap { links in
      otherNodes.map {
        ClusterUserDirectory(directory: directory, registry: registry, profiles: profiles, network: links, otherNodes: $0)
      }
    }
    absenceTimers = AbsenceTimers(
      groups: stores.groups, observer: observer, grace: rules.limits.offlineGrace,
      isPresent: { clusterUsers?.isPresent($0) ?? directory.isPresent($0) },
      notify: { presence, rooms in
        if let clusterUsers { return await clusterUsers.endGrace(presence, in: rooms) }
        await registry.presenceChanged(presence, in: rooms)
        return true
      })
    sessions =
      clusterUsers
      ?? LocalUserDirectory(
        directory: directory, registry: registry, profiles: profiles, absenceTimers: absenceTimers, clocks: clocks)
    openRPC = LazyDocument { [methods] in methods.openRPC(version: product.version) }
    asyncAPI = LazyDocument { AsyncAPIDocument.text(version: product.version, path: configuration.path) }
    let serverInfo = ServerInfo(
      name: product.name, version: product.version, limits: product.limits,
      groupTypes: GroupTypeDescription.all(by: rules.permissions))
    dispatcher = Dispatcher(
      registry: registry, stores: stores, profiles: profiles, sessions: sessions, router: links?.router, clocks: clocks,
      configuration: configuration, pageBytes: rules.limits.pageBytes,
      unreadLimit: rules.limits.unreadCount, observer: observer, product: product,
      serverInfo: serverInfo.reply(), openRPC: openRPC, webhooks: webhooks,
      observation: Observation(
        tracer: tracer, activeGroups: activeGroups, actions: actions, nodes: otherNodes, clocks: clocks))
    self.cluster = links.flatMap { [absenceTimers, budgets, connectionLimiter, dispatcher, methods, observer] links in
      clusterUsers.map { users in
        let topics = RemoteTopics(directory: directory)
        let requests = PeerRequestHandler(
          dispatcher: dispatcher, observation: dispatcher.observation, router: links.router, registry: registry, users: users,
          directory: directory, budgets: budgets, methods: methods, clocks: clocks)
        return ClusterNode(
          links, users: users, topics: topics, directory: directory, registry: registry,
          observation: dispatcher.observation,
          presence: PresenceKeeper(
            links.presence, store: links.ports.presence, userStore: stores.users, webhooks: presence, timers: absenceTimers,
            clocks: clocks, grace: rules.limits.offlineGrace, observer: observer),
          peerRequests: requests,
          peerEntries: PeerEntryHandler(
            links, handler: requests, users: users, topics: topics, directory: directory, budgets: budgets,
            connectionLimiter: connectionLimiter, poster: webhooks?.poster, clocks: clocks),
          poster: webhooks?.poster, clocks: clocks, logger: logger)
      }
    }
    administration = AdministratorRPC(
      methods: methods, dispatcher: dispatcher, users: stores.users, profiles: profiles, metrics: metrics, clocks: clocks,
      refusals: refusals,
      observer: observer, tracer: tracer, unknownParameters: unknownParameters, actions: actions, logger: logger)
  }

  /// Whether a user who is offline since an instant has lost the memberships of AVChatRooms
  /// (Protocol.md, "AVChatRoom").
  func isPastGrace(offlineSince awaySince: WallInstant) -> Bool { clocks.wall - awaySince > offlineGrace }

  /// The stored data of a user who signs in, whose profile memory keeps from then on.
  func signInRecord(of user: UserID) async throws(StoreError) -> SignInRecord {
    let reading = profiles.begin([user])
    do throws(StoreError) {
      let record = try await groups.signInRecord(of: user)
      profiles.end(reading, record.profile.map { [user: $0] } ?? [:])
      return record
    } catch {
      profiles.cancel(reading)
      throw error
    }
  }

  /// Notes a bad token, on all nodes.
  /// - Returns: true where the answer has to wait.
  func noteBadToken(from address: String, at now: MonotonicInstant) -> Bool {
    let mustWait = connectionLimiter.noteBadToken(from: address, at: now)
    guard configuration.failureDelay > .zero else { return false }
    cluster?.reportBadToken(from: address)
    return mustWait
  }

  /// Drops the counts that are kept while a user has sessions. A sign-in at the same time counts
  /// again.
  func forgetIfAbsent(_ user: UserID) {
    if !sessions.isPresent(user) { dispatcher.quotas.forget(user) }
  }

  /// How many sessions are signed in.
  public var sessionCount: Int { directory.sessionCount }
}
