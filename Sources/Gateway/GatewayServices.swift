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

  /// The server as getServerInfo and the OpenRPC document describe it.
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
  /// The OpenRPC document, encoded.
  public let openRPC: [UInt8]
  let tokens: any TokenChecking
  let profiles: ProfileCache
  let groups: any GroupStore
  let users: any UserStore
  /// The clocks of the process.
  public let clocks: any Clocks
  private let offlineGrace: Duration
  let directory: SessionDirectory
  let connectionLimiter: ConnectionLimiter
  let upgrades: UpgradePolicy
  let budgets: UserBudgets
  let signInLimiter: SignInLimiter
  /// Gets every refusal.
  public let refusals: RefusalLog
  let absenceTimers: AbsenceTimers
  let observer: StoreObserver
  let metrics: RequestMetrics

  /// Services over the given stores. The registry gets its executors once the loops exist.
  public init(
    configuration: GatewayConfiguration, stores: Stores, tokens: any TokenChecking, clocks: any Clocks, rules: GroupRules,
    product: Product, logger: Logger, webhooks: WebhookServices? = nil
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
      stores.users.notePresence(of: user, offlineSince: isHere ? nil : clocks.wall)
      presence.note(user, on: platform, isHere: isHere)
    }
    methods = MethodTable(textLimits: configuration.textLimits)
    metrics = RequestMetrics(methods)
    observer = StoreObserver(logger: logger)
    budgets = UserBudgets(configuration)
    signInLimiter = SignInLimiter(configuration)
    refusals = RefusalLog(clocks: clocks, logger: logger)
    connectionLimiter = ConnectionLimiter(
      connections: configuration.connections, connectionsPerAddress: configuration.connectionsPerAddress)
    registry = GroupRegistry(
      services: GroupServices(
        groups: stores.groups, messages: stores.messages, profiles: profiles, broker: LocalBroker(directory: directory),
        clocks: clocks, alarms: TaskAlarms(clocks: clocks), rules: rules, observer: observer, webhooks: webhooks?.poster),
      executors: [])
    absenceTimers = AbsenceTimers(
      groups: stores.groups, registry: registry, directory: directory, observer: observer,
      grace: rules.limits.offlineGrace)
    openRPC = methods.openRPC(version: product.version)
    let serverInfo = ServerInfo(
      name: product.name, version: product.version, limits: product.limits,
      groupTypes: PermissionPage.describe(by: rules.permissions))
    dispatcher = Dispatcher(
      registry: registry, stores: stores, profiles: profiles, directory: directory, clocks: clocks,
      configuration: configuration, pageBytes: rules.limits.pageBytes,
      unreadLimit: rules.limits.unreadCount, observer: observer, product: product,
      serverInfo: serverInfo.reply(), openRPC: openRPC, webhooks: webhooks)
    administration = AdministratorRPC(
      methods: methods, dispatcher: dispatcher, users: stores.users, profiles: profiles, metrics: metrics, clocks: clocks,
      refusals: refusals,
      observer: observer, logger: logger)
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

  /// Drops the counts that are kept while a user has sessions. A sign-in at the same time counts
  /// again.
  func forgetIfAbsent(_ user: UserID) {
    if !directory.isPresent(user) { dispatcher.quotas.forget(user) }
  }

  /// How many sessions are signed in.
  public var sessionCount: Int { directory.sessionCount }
}
