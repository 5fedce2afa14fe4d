import Cluster
import GroupModel
import GroupRuntime
import Synchronization
import WireProtocol

/// Performs what other nodes ask of this one.
package final class RemoteRequestHandler: Sendable {
  private let dispatcher: Dispatcher
  private let observation: Observation
  private let router: ShardRouter
  private let registry: GroupRegistry
  private let follows: FollowAnswerer
  private let users: ClusterUserDirectory
  private let directory: SessionDirectory
  private let budgets: UserBudgets
  private let streams: StreamDirectory
  private let methods: MethodTable
  private let clocks: any Clocks
  /// Reads the texts of requests. They come one at a time.
  private let parser = Mutex(JSONParser())
  private let metrics = Mutex<@Sendable () async -> [UInt8]>({ [] })

  /// A handler that has no metrics to tell of yet.
  package init(
    dispatcher: Dispatcher, observation: Observation, router: ShardRouter, registry: GroupRegistry, follows: FollowAnswerer,
    users: ClusterUserDirectory, directory: SessionDirectory, budgets: UserBudgets, streams: StreamDirectory,
    methods: MethodTable, clocks: any Clocks
  ) {
    self.dispatcher = dispatcher
    self.observation = observation
    self.router = router
    self.registry = registry
    self.follows = follows
    self.users = users
    self.directory = directory
    self.budgets = budgets
    self.streams = streams
    self.methods = methods
    self.clocks = clocks
  }

  /// Sets what this node answers to others that ask for its metrics.
  func onMetrics(_ body: @escaping @Sendable () async -> [UInt8]) { metrics.withLock { $0 = body } }

  /// A caller whose session is on another node, with this node's budget: the node that leads a
  /// group decides.
  private func charged(_ caller: Caller) -> Caller {
    guard caller.session != nil, let user = caller.userID else { return caller }
    let budget = budgets.budget(of: user, at: clocks.monotonic)
    return caller.with(fanOut: budget.fanOut, strangers: budget.strangers)
  }

  /// - Parameter reply: is told the reply, and whether it may wait for a frame of many.
  func perform(
    _ request: RemoteRequest, from node: NodeNumber,
    _ reply: @escaping @Sendable (RemoteReply, _ mayWait: Bool) -> Void
  ) {
    let answer: @Sendable (RemoteReply) -> Void = { reply($0, false) }
    switch request {
    case .call(let text, let caller, let shard):
      // Before it hears all nodes, a group would not find all sessions of its members.
      guard router.leads(shard) else { return answer(.moved) }
      switch parser.withLock({ text.request(methods, $0) }) {
      case .success(let request):
        let mayWait = request.mayWait
        dispatcher.dispatchHere(request, by: charged(caller)) { reply(.reply($0), mayWait) }
      case .failure(let error): answer(.reply(.failure(error)))
      }
    case .rows(let rows, let caller):
      Task { answer(.rows(await registry.rows(rows, by: caller, router, clocks))) }
    case .following(let request): follows.answer(request, of: node, answer)
    case .presence(let change, let memberships):
      guard users.hasOwnGroups(in: memberships) else { return answer(.reply(.empty)) }
      Task {
        await users.attachOwnGroups(change, in: memberships)
        answer(.reply(.empty))
      }
    case .userInfo(let user, let profile, let frame, let except):
      Task {
        await users.showHere(profile, of: user, frame, except: except)
        answer(.reply(.empty))
      }
    case .endSessions(let user, let ending):
      Task { answer(.count(Int64(await directory.endSessions(of: user, ending)))) }
    case .sessions(let user): answer(.sessions(directory.infos(of: user)))
    case .erase(let erasure, of: let user, in: let group):
      guard router.leads(group) else { return answer(.moved) }
      Task { answer(.reply(await dispatcher.deletions.eraseHere(erasure, of: user, in: group))) }
    case .recallRecent(let user):
      Task { answer(.count(await dispatcher.deletions.recallRecentHere(of: user))) }
    case .forgetUser(let user, let messages):
      Task {
        await users.forgetHere(user)
        dispatcher.forget(user, messages)
        answer(.reply(.empty))
      }
    case .beginTrace(let id, let subject, let duration):
      _ = observation.tracer.begin(subject, id: id, for: duration)
      answer(.reply(.empty))
    case .traceEntries(let id, let position): answer(.traceEntries(observation.tracer.batch(of: id, from: position)))
    case .readTrace(let id, let position, let count):
      Task { answer(.reply(await observation.readHere(id, from: position, count: count))) }
    case .endTrace(let id): answer(.count(observation.endHere(id) ? 1 : 0))
    case .activeGroups: Task { answer(.activeGroups(await observation.busiestHere())) }
    case .administratorActions(let count, let instant):
      answer(.administratorActions(observation.actionsHere(count, through: instant)))
    case .uptime: answer(.count(observation.uptimeHere))
    case .post(let body, let key, let trace):
      let session = streams.name(in: key).flatMap { streams.session(of: $0) }
      guard let session else { return answer(.posted(.gone)) }
      session.post(body, PostedCall(in: trace) { answer(.posted($0)) })
    case .metrics: Task { answer(.reply(.success(.encoded(await metrics.withLock { $0 }())))) }
    }
  }
}
