import DequeModule
import GroupModel
import WireProtocol

/// One group at work. It asks `GroupState` what to do, makes that durable, and then does it: nothing is answered, and nobody hears of anything,
/// before it is in the store, and everything leaves in the order in which it was decided.
///
/// The next request is decided while earlier ones are still on their way to the disk, so that many share a transaction. When a commit fails,
/// all that was decided since is answered 10002, the state is thrown away, and the group loads itself again.
public actor Group {
  /// Gets the answer, once, on the group's executor.
  public typealias Completion = @Sendable (Reply) -> Void

  /// What the group is, and what may follow.
  enum Phase {
    /// Nothing is known yet. → loading
    case unloaded
    /// The store is being asked; the backlog waits. → live, absent, unloaded (when the store fails)
    case loading
    /// There is such a group. → absent (disbanded), loading (a commit failed), retired
    case live(Live)
    /// The store knows no such group. → live (created), retired
    case absent
    /// The registry has forgotten this actor; whoever still holds it is sent to its successor.
    case retired
  }

  /// The state of a live group, in one place in memory: as what an enumeration's case holds it would be copied out and back for each request.
  final class Live {
    var state: GroupState

    init(_ state: GroupState) { self.state = state }
  }

  /// Something that waits for the group to be loaded.
  enum Work: Sendable {
    case request(GroupRequest, Caller, Completion)
    case presence(Presence, @Sendable () -> Void)

    /// Whose it is; nil = an application administrator's.
    var userID: UserID? {
      switch self {
      case .request(_, let caller, _): caller.userID
      case .presence(let presence, _): presence.user
      }
    }
  }

  /// The sessions of a user have come or gone.
  public struct Presence: Sendable {
    public let user: UserID
    /// Since when the user had been away who comes back with this; nil = was not away, or has gone.
    public let awaySince: Instant?

    /// What has happened to a user.
    public init(of user: UserID, awaySince: Instant? = nil) {
      self.user = user
      self.awaySince = awaySince
    }
  }

  public nonisolated let id: GroupID
  public nonisolated let executor: any GroupExecutor
  let services: GroupServices
  /// The registry made this actor. It is gone where a server has ended while this group still had something to do.
  weak var registry: GroupRegistry?
  var phase = Phase.unloaded
  /// What waits for the group to be loaded, and then for its turn. The first is being done, unless the group is loading.
  var backlog: Deque<Work> = []
  var pipeline = Pipeline()
  var generation = CommitGeneration()
  var topic: (any GroupTopic)?
  /// By the uptime.
  var lastUse: Duration
  /// Nothing but reading has been asked for since the group was loaded.
  var isOnlyRead = false
  nonisolated let footprint = ResidentGroups.Footprint()
  /// When the group has asked to be woken; nil = it has not.
  var alarm: Instant?
  /// While nothing is begun by itself, because the store has just failed: what is due would only fail again, at once and for ever.
  /// A clock that is set back leaves it.
  var rest: Range<Instant> = 0..<0
  /// The instants at which alarms ring, so that none is asked for twice.
  var alarmsSet: Set<Instant> = []
  /// The members are to hear of the group's attributes again when it has been loaded.
  var attributesUntold = false
  /// How many requests wait for a message to be read.
  var lookUps = 0

  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(_ id: GroupID, executor: any GroupExecutor, services: GroupServices, registry: GroupRegistry) {
    self.id = id
    self.executor = executor
    self.services = services
    self.registry = registry
    lastUse = services.uptime.now()
  }

  // MARK: Being asked

  /// Asks the group, from any thread. Requests of one thread are taken in the order of the calls.
  public nonisolated func ask(_ request: GroupRequest, by caller: Caller, _ completion: @escaping Completion) {
    takeHere(.request(request, caller, completion))
  }

  /// Asks the group and waits for the answer.
  public nonisolated func ask(_ request: GroupRequest, by caller: Caller) async -> Reply {
    await withCheckedContinuation { continuation in
      ask(request, by: caller) { continuation.resume(returning: $0) }
    }
  }

  /// Tells the group that sessions of a user came or went. A group that is not loaded looks for itself when it is; it is loaded for a user
  /// who had been away.
  public nonisolated func presenceChanged(_ presence: Presence, _ completion: @escaping @Sendable () -> Void = {}) {
    takeHere(.presence(presence, completion))
  }

  private nonisolated func takeHere(_ work: Work) {
    if executor.isCurrent { executor.isolated(self, work) { $0.take($1) } } else { executor.enqueue { self.takeHere(work) } }
  }

  /// A completion may ask again at once, and that stands behind what waited before.
  func take(_ work: Work) {
    if backlog.isEmpty { takeNow(work) } else { backlog.append(work) }
  }

  func takeNow(_ work: Work) {
    switch phase {
    case .live: act(on: work)
    case .absent: actWhileAbsent(on: work)
    case .loading: backlog.append(work)
    case .unloaded:
      if case .presence(let presence, let completion) = work, presence.awaySince == nil {
        // It was in memory a moment ago, and may be a live room.
        services.broker.noteSuspendedRoom(of: [presence.user])
        return completion()
      }
      load(for: work)
      backlog.append(work)
    case .retired: forward(work)
    }
  }

  func act(on work: Work) {
    switch work {
    case .request(let request, let caller, let completion): decide(request, by: caller, completion)
    case .presence(let presence, let completion):
      if let since = presence.awaySince { endGrace(of: presence.user, awaySince: since) }
      refreshPresence(of: presence.user)
      completion()
    }
  }

  func forward(_ work: Work) {
    guard let successor = registry?.group(id) else { return refuse(work) }
    switch work {
    case .request(let request, let caller, let completion): successor.ask(request, by: caller, completion)
    case .presence(let presence, let completion): successor.presenceChanged(presence, completion)
    }
  }

  /// Nothing can be done now: 10002.
  func refuse(_ work: Work) {
    switch work {
    case .request(_, _, let completion): completion(.error(.temporary))
    case .presence(_, let completion): completion()
    }
  }
}
