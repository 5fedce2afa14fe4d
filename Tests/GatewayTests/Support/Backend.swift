import GroupModel
import GroupPermissions
import GroupRuntime
import Logging
import Synchronization
import ThrongTestKit
import WireProtocol

@testable import Gateway
@testable import ThrongServer

/// The stores and clocks that outlive a server.
struct World {
  let store = GatedStore()
  let users: GatedUsers
  let clocks: ManualClocks
  /// Nil = the monotonic clock runs, and the system's timers ring.
  let alarms: ManualAlarms?

  /// Its time stands still, but for what a test lets pass.
  init() {
    users = GatedUsers(store.inner)
    clocks = ManualClocks()
    alarms = ManualAlarms()
  }

  /// - Parameter slowness: how many times slower than the system's clock the monotonic one runs.
  init(slowness: Int64) {
    users = GatedUsers(store.inner)
    clocks = ManualClocks(isMonotonicRunning: true, slowness: slowness)
    alarms = nil
  }
}

/// The services of a server over a store in memory, with groups on a queue: everything but
/// connections.
struct Backend {
  let store: GatedStore
  let users: GatedUsers
  let clocks: ManualClocks
  /// Nil = the system's timers ring.
  let alarms: ManualAlarms?
  let services: ComposedServices
  /// Groups rely on their registry, and one may still be at work when the test that asked it has
  /// ended.
  private static let registries = Mutex<[GroupRegistry]>([])

  init(
    world: World = World(), rules: GroupRules = GroupRules(),
    executors: [any GroupExecutor] = [SerialTestExecutor()],
    logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, webhooks: WebhookServices? = nil,
    cluster: ClusterPorts? = nil, tokens: any TokenChecking = NamedTokens(), spans: (any SpanRecorder)? = nil,
    _ configure: (inout GatewayConfiguration) -> Void = { _ in }
  ) {
    store = world.store
    users = world.users
    clocks = world.clocks
    alarms = world.alarms
    var configuration = GatewayConfiguration()
    configure(&configuration)
    // Where live rooms have recalls, they remember messages.
    let remembers = rules.permissions.requirement(for: .recallOthers, in: .avChatRoom) != .nobody
    let ringing: any Alarms = if let alarms = world.alarms { alarms } else { SystemAlarms(clocks: world.clocks) }
    services = ComposedServices(
      GatewayComposition(
        configuration,
        stores: GatewayStores(
          groups: store, messages: store.inner, users: users, personal: store.inner, webhooks: store.inner,
          access: store, erasure: store.inner, reports: store.inner),
        tokens: tokens, clocks: clocks, alarms: ringing, rules: rules,
        product: Product(name: "Throng", version: "0", limits: []), logger: logger, webhooks: webhooks,
        recent: remembers ? RecentMessages(messages: 100, bytes: 1 << 20, duration: nil) : nil, spans: spans, cluster: cluster))
    services.registry.use(executors)
    Backend.registries.withLock { [registry = services.registry] in $0.append(registry) }
  }

  /// Returns when no group is in memory.
  func waitUntilUnloaded() async throws {
    try await waitUntil("no group is in memory") { services.registry.residentCount == 0 }
  }

  /// The answer of `POST /rpc` to a body.
  /// - Parameter parent: what its `traceparent` says; nil = it has none.
  func post(_ body: String, in parent: TraceContext? = nil) async throws -> JSON? {
    try await services.administration.answer(Array(body.utf8), from: "test", in: parent).map { try JSON($0) }
  }

  /// One call on the application's own interface.
  func rpc(_ method: String, _ params: String = "{}") async throws -> JSON {
    try await post(#"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#) ?? .null
  }

  /// One call of a user without a session.
  func ask(_ request: Request, by user: UserID) async throws -> JSON {
    let reply: Reply = await withCheckedContinuation { continuation in
      services.dispatcher.dispatch(request, by: .user(user, platform: .unknown, session: nil)) {
        continuation.resume(returning: $0)
      }
    }
    return try JSON(reply.text(id: .number(1)))
  }
}
