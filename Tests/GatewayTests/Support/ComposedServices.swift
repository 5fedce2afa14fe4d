import GroupRuntime
import WebSocketTransport

@testable import Gateway
@testable import ThrongServer

/// What tests look at of a composed gateway, by its name alone.
struct ComposedServices {
  private let composition: GatewayComposition

  init(_ composition: GatewayComposition) { self.composition = composition }

  func gateway(http: any HTTPHandling) -> Gateway { composition.gateway(http: http) }

  /// The routes of event streams beside /ws.
  var eventStreamRoutes: EventStreamRoutes {
    EventStreamRoutes(
      EventStreamPaths(besides: "/ws"), composition.eventStreams, proxies: composition.proxies,
      refusals: composition.telemetry.refusals)
  }

  var eventStreams: EventStreams { composition.eventStreams }
  var streams: StreamDirectory { composition.streams }

  func use(_ loops: [EventLoop]) { composition.use(loops) }

  func session(on connection: Connection, address: String, _ context: LoopContext) -> Session {
    composition.sessions.session(on: connection, address: address, context)
  }

  var registry: GroupRegistry { composition.delivery.registry }
  var directory: SessionDirectory { composition.delivery.directory }
  /// The sessions of all nodes.
  var sessions: any UserDirectory { composition.delivery.sessions }
  /// How many sessions are signed in on this node.
  var sessionCount: Int { directory.sessionCount }
  var absenceTimers: AbsenceTimers { composition.delivery.absenceTimers }
  var dispatcher: Dispatcher { composition.dispatcher }
  var deletions: UserDeletions { composition.deletions }
  var administration: AdministratorRPC { composition.administration }
  var budgets: UserBudgets { composition.limits.budgets }
  var connectionLimiter: ConnectionLimiter { composition.limits.connections }
  var signInPolicy: SignInPolicy { composition.signInPolicy }
  /// The statuses that sessions of this node watch.
  var statuses: Statuses { composition.delivery.statuses }
  var tracer: Tracer { composition.telemetry.tracer }
  var unknownParameters: UnknownParameterPolicy { composition.telemetry.requests.unknownParameters }
  /// This process as a node; nil = it is alone.
  var cluster: ClusterNode? { composition.node }
}
