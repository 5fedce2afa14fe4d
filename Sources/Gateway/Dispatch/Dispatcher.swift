import CoreMetrics
import GroupModel
import GroupRuntime
import Synchronization
import WireProtocol

/// Routes each request to its group, or to an extension beside this file. Sessions and the
/// application's interface share it: they authorize the caller and send the replies.
public final class Dispatcher: Sendable {
  let registry: GroupRegistry
  let stores: GatewayStores
  let sessions: any UserDirectory
  let clocks: any Clocks
  let quotas: GroupQuotas
  let userInfos: UserInfoEditor
  let access: UserAccessEditor
  let statuses: Statuses
  package let statusReader: StatusReader
  /// Deletes users in the background.
  package let deletions: UserDeletions
  let requiresKnownUsers: Bool
  let searchesMessages: Bool
  let profiles: ProfileCache
  /// Unread applications are counted up to this number.
  let unreadLimit: Int
  /// The most bytes of groups and messages in a reply.
  let pageBytes: Int
  let product: Product
  /// Nil = webhooks are off.
  let webhooks: WebhookServices?
  /// The words with which the names of users are compared, and what the application is asked about; nil =
  /// nothing is.
  let words: CurrentWords?
  /// Brings requests to other nodes; nil = there are none.
  let router: ShardRouter?
  /// Whether `webhooks` asks anything, without a copy of it.
  private let asksFirst: Bool
  let observation: Observation
  let requestOrder = RequestOrder()
  /// The reports of each user, one after the other.
  let reportTurns = TurnQueue<UserID>()
  let reportLimiter = Mutex(KeyedRateLimiter<UserID>(limit: Dispatcher.reportsPerMinute, windowMilliseconds: 60_000))
  let reportsTotal = Counter(label: "throng_reports_total")
  private let observer: StoreObserver
  private let serverInfo: Reply
  private let openRPC: LazyDocument

  /// Called once with the reply, on any thread.
  public typealias Completion = @Sendable (Reply) -> Void

  /// - Parameters:
  ///   - router: nil = this node is alone.
  ///   - pageBytes: the most bytes of groups and messages in a reply.
  ///   - unreadLimit: unread applications are counted up to this number.
  ///   - webhooks: nil = they are off.
  ///   - words: nil = no text is compared with any.
  package init(
    registry: GroupRegistry, stores: GatewayStores, profiles: ProfileCache, sessions: any UserDirectory, statuses: Statuses,
    quotas: GroupQuotas, deletions: UserDeletions, router: ShardRouter?, clocks: any Clocks, configuration: GatewayConfiguration,
    pageBytes: Int, unreadLimit: Int, observer: StoreObserver, product: Product, serverInfo: Reply, openRPC: LazyDocument,
    webhooks: WebhookServices?, words: CurrentWords?, observation: Observation
  ) {
    self.registry = registry
    self.stores = stores
    self.sessions = sessions
    self.deletions = deletions
    self.router = router
    self.clocks = clocks
    self.quotas = quotas
    userInfos = UserInfoEditor(users: stores.users, sessions: sessions, clocks: clocks)
    access = UserAccessEditor(sessions: sessions, clocks: clocks)
    self.statuses = statuses
    statusReader = StatusReader(
      users: stores.users, sessions: sessions, statuses: statuses, clocks: clocks, observer: observer)
    requiresKnownUsers = configuration.requiresKnownUsers
    searchesMessages = configuration.searchesMessages
    self.profiles = profiles
    self.pageBytes = pageBytes
    self.unreadLimit = unreadLimit
    self.observer = observer
    self.product = product
    self.serverInfo = serverInfo
    self.openRPC = openRPC
    self.webhooks = webhooks
    self.words = words
    asksFirst = webhooks?.asking != nil
    self.observation = observation
    deletions.onForget { [statuses, poster = webhooks?.poster] user, messages in
      statuses.forget(user)
      poster?.erase(user, messages)
    }
  }

  /// Whether there are no other nodes: no request travels, and its text need not be kept.
  var isAlone: Bool { router == nil }

  /// Dispatches a request of a caller who may call its method.
  /// - Parameter text: as it came; nil on one node.
  public func dispatch(
    _ request: consuming Request, by caller: Caller, text: RequestText? = nil, _ completion: @escaping Completion
  ) {
    if let router { return dispatchByShard(request, by: caller, text, router, completion) }
    dispatchHere(request, by: caller, completion)
  }

  /// Dispatches a request that this node performs.
  @inline(__always)
  func dispatchHere(_ request: consuming Request, by caller: Caller, _ completion: @escaping Completion) {
    if asksFirst, let asking = webhooks?.asking { return executeAskingFirst(request, by: caller, asking, completion) }
    execute(request, by: caller, completion)
  }

  /// Executes a request, about which the application was asked where it has to be.
  @inline(__always)
  func execute(_ request: consuming Request, by caller: Caller, _ completion: @escaping Completion) {
    switch consume request {
    case .group(let id, .importGroupMembers(let request)): importMembers(request, into: id, by: caller, completion)
    case .group(let id, .importGroupMessages(let request)): importMessages(request, into: id, by: caller, completion)
    case .group(let id, let request): askGroup(id, request, by: caller, completion)

    // The session performs them.
    case .login, .logout, .subscribeUsersStatus, .unsubscribeUsersStatus: completion(.error(.methodNotFound))
    case .ping: completion(ping())
    case .getServerInfo: completion(serverInfo)
    case .discover: completion(.success(.encoded(openRPC.bytes)))

    case .createGroup(let request): create(request, by: caller, completion)
    case .getJoinedGroupList(let request): read(request, by: caller, completion, joinedGroups)
    case .getGroupsInfo(let request): read(request, by: caller, completion, groupsInfo)
    case .searchGroups(let request): read(request, by: caller, completion, searchGroups)

    case .getGroupApplicationList(let request): read(request, by: caller, completion, applications)
    case .acceptGroupApplication(let request): write(request.decision, by: caller, completion, decide)
    case .refuseGroupApplication(let request): write(request.decision, by: caller, completion, decide)
    case .setGroupApplicationRead(let request): write(request, by: caller, completion, markApplicationsRead)

    case .setSelfInfo(let request): write(request, by: caller, completion, setSelfInfo)
    case .getUsersInfo(let request): read(request, by: caller, completion, usersInfo)
    case .setSelfStatus(let request): write(request, by: caller, completion, setSelfStatus)
    case .getUsersStatus(let request): read(request, by: caller, completion, usersStatus)

    case .reportMessage(let request): write(request, by: caller, completion, report)
    case .syncGroups(let request): read(request, by: caller, completion, syncGroups)
    case .searchGroupMessages(let request): read(request, by: caller, completion, searchMessages)
    case .getGroupUnreadCount(let request): read(request, by: caller, completion, unreadCounts)
    case .getSystemNotificationList(let request): read(request, by: caller, completion, notifications)
    case .setSystemNotificationRead(let request): write(request, by: caller, completion, markNotificationsRead)

    case .listGroups(let request): read(request, by: caller, completion, listGroups)
    case .listSessions(let request): read(request, by: caller, completion, listSessions)
    case .kickUser(let request): write(request, by: caller, completion, kick)
    case .setUserInfo(let request): write(request, by: caller, completion, setUserInfo)
    case .importUsers(let request): write(request, by: caller, completion, importUsers)
    case .importGroup(let request): importGroup(request, by: caller, completion)
    case .getStats(let request): read(request, by: caller, completion, stats)
    case .listWebhookFailures(let request): read(request, by: caller, completion, webhookFailures)
    case .retryWebhooks(let request): write(request, by: caller, completion, retryWebhooks)
    case .trace(let request): Task { completion(await observation.begin(request)) }
    case .getTrace(let request): Task { completion(await observation.read(request)) }
    case .endTrace(let request): Task { completion(await observation.end(request)) }
    case .listActiveGroups(let request): Task { completion(await observation.busiest(request)) }
    case .listAdministratorActions(let request): Task { completion(await observation.actions(request)) }

    case .blockUser(let request): write(request, by: caller, completion, blockUser)
    case .unblockUser(let request): write(request, by: caller, completion, unblockUser)
    case .getBlockedUsers(let request): read(request, by: caller, completion, blockedUsers)
    case .revokeTokens(let request): write(request, by: caller, completion, revokeTokens)
    case .listReports(let request): read(request, by: caller, completion, reports)
    case .closeReport(let request): write(request, by: caller, completion, closeReport)
    case .deleteUser(let request): write(request, by: caller, completion, deleteUser)
    case .getUserDeletion(let request): read(request, by: caller, completion, userDeletion)
    case .exportUser(let request): read(request, by: caller, completion, exportUser)
    }
  }

  /// The name of a new group that has none.
  func makeGroupID() -> GroupID { router?.makeGroupID() ?? GroupID.generate() }

  func ping() -> Reply { .success(.ping(Ping.Result(serverTime: clocks.wall))) }

  /// Performs a method that only reads: it is given up once the session has ended.
  private func read<Parameters: Sendable>(
    _ parameters: Parameters, by caller: Caller, _ completion: @escaping Completion,
    _ body: @escaping @Sendable (Parameters, Caller) async throws(StoreError) -> Reply
  ) {
    run(caller.requester ?? Requester(caller.userID), completion, in: caller.trace) { () async throws(StoreError) in
      try await body(parameters, caller)
    }
  }

  /// Performs a method that may change something: it runs to the end, even where no client waits.
  private func write<Parameters: Sendable>(
    _ parameters: Parameters, by caller: Caller, _ completion: @escaping Completion,
    _ body: @escaping @Sendable (Parameters, Caller) async throws(StoreError) -> Reply
  ) {
    run(Requester(caller.userID), completion, in: caller.trace) { () async throws(StoreError) in
      try await body(parameters, caller)
    }
  }

  /// Runs a body that needs a store, beside the session's order of requests to each group.
  /// - Parameter trace: to which the request belongs; nil = to none.
  func run(
    _ requester: Requester, _ completion: @escaping Completion, in trace: TraceContext? = nil,
    _ body: @escaping @Sendable () async throws(StoreError) -> Reply
  ) {
    Task { completion(requester.isGone ? .error(.temporary) : await reply(to: requester, in: trace, body)) }
  }

  private func reply(
    to requester: Requester, in trace: TraceContext?, _ body: () async throws(StoreError) -> Reply
  ) async -> Reply {
    await Requester.$current.withValue(requester) {
      do throws(StoreError) {
        return try await body()
      } catch {
        // The store reads nothing for a client that has gone, which is no failure.
        if !requester.isGone { observer.storeFailed(error, in: trace) }
        return .error(.temporary)
      }
    }
  }

  /// Makes changes durable that belong to no group, and answers whether they are.
  func commit(_ changes: [StoreChange]) async -> Reply {
    do throws(StoreError) {
      try await stores.groups.commit(changes)
      return .empty
    } catch {
      observer.storeFailed(error)
      return .error(.temporary)
    }
  }
}
