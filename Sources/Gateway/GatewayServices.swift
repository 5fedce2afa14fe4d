import GroupModel
import GroupPermissions
import GroupRuntime
import Logging
import WireProtocol

/// What sessions and the application's interface share: made once at the start, before any loop runs.
public final class GatewayServices: Sendable {
  /// The stores of a process.
  public struct Stores: Sendable {
    public let groups: any GroupStore
    public let messages: any MessageStore
    public let users: any UserStore
    public let personal: any PersonalStore

    /// Stores with everything given.
    public init(groups: any GroupStore, messages: any MessageStore, users: any UserStore, personal: any PersonalStore) {
      self.groups = groups
      self.messages = messages
      self.users = users
      self.personal = personal
    }
  }

  /// What getServerInfo and the OpenRPC document say of this server.
  public struct Product: Sendable {
    public let name: String
    public let version: String
    /// By configuration key.
    public let limits: [(key: String, value: Int64)]

    /// A product with everything given.
    public init(name: String, version: String, limits: [(key: String, value: Int64)]) {
      self.name = name
      self.version = version
      self.limits = limits
    }
  }

  public let configuration: GatewayConfiguration
  public let methods: MethodTable
  public let registry: GroupRegistry
  public let dispatcher: Dispatcher
  public let administration: AdministratorRPC
  public let openRPC: [UInt8]
  let tokens: any TokenChecking
  let groups: any GroupStore
  let users: any UserStore
  let clock: any WallClock
  private let offlineGrace: Instant
  let directory: SessionDirectory
  let admissions: Admissions
  let budgets: UserBudgets
  let signIns: SignInAdmission
  /// Where every refusal is told.
  public let refusals: RefusalLog
  let observer: StoreObserver
  let metrics: RequestMetrics

  /// Services over some stores. The registry is given its executors when the loops are there; the uptime is the system's where it is
  /// not given.
  public init(
    configuration: GatewayConfiguration, stores: Stores, tokens: any TokenChecking, clock: any WallClock,
    uptime: any Uptime = SystemUptime(), rules: GroupRules, product: Product, logger: Logger
  ) {
    self.configuration = configuration
    self.tokens = tokens
    self.clock = clock
    offlineGrace = rules.limits.offlineGrace
    groups = stores.groups
    users = stores.users
    directory = SessionDirectory { user, isHere in
      stores.users.notePresence(of: user, offlineSince: isHere ? nil : clock.now())
    }
    methods = MethodTable()
    metrics = RequestMetrics(methods)
    observer = StoreObserver(logger: logger)
    budgets = UserBudgets(configuration)
    signIns = SignInAdmission(configuration)
    refusals = RefusalLog(logger: logger)
    admissions = Admissions(connections: configuration.connections, connectionsPerAddress: configuration.connectionsPerAddress)
    registry = GroupRegistry(
      services: GroupServices(
        groups: stores.groups, messages: stores.messages, broker: LocalBroker(directory: directory), clock: clock,
        uptime: uptime, alarms: TaskAlarms(clock: clock), rules: rules, observer: observer),
      executors: [])
    openRPC = methods.openRPC(version: product.version)
    let serverInfo = ServerInfo(
      name: product.name, version: product.version, limits: product.limits,
      groupTypes: PermissionPage.describe(by: rules.permissions))
    dispatcher = Dispatcher(
      registry: registry, stores: stores, directory: directory, clock: clock, uptime: uptime,
      configuration: configuration, pageBytes: rules.limits.pageBytes,
      unreadLimit: rules.limits.unreadCount, observer: observer, product: product,
      serverInfo: serverInfo.reply(), openRPC: openRPC)
    administration = AdministratorRPC(
      methods: methods, dispatcher: dispatcher, users: stores.users, metrics: metrics, refusals: refusals, logger: logger)
  }

  /// Whether somebody who was away since an instant has lost the memberships that a lost connection ends (contract section 3, AVChatRoom).
  func isTooLong(_ awaySince: Instant) -> Bool { clock.now() - awaySince > offlineGrace }

  /// How many sessions are signed in.
  public var sessionCount: Int { directory.sessionCount }
}
