import GroupModel
import GroupRuntime
import WireProtocol

/// Routes each request to its group, or to an extension beside this file where it is not about one
/// group. Sessions and the application's interface share it: they check who may call a method, and
/// send the replies.
public final class Dispatcher: Sendable {
  let registry: GroupRegistry
  let stores: GatewayServices.Stores
  let directory: SessionDirectory
  let clock: any WallClock
  let uptime: any Uptime
  let quotas: GroupQuotas
  let requiresKnownUsers: Bool
  /// Unread applications are counted up to this number.
  let unreadLimit: Int
  /// How many bytes of groups and messages a reply holds at most.
  let pageBytes: Int
  let product: GatewayServices.Product
  /// On the clock `uptime`.
  let startTime: Duration
  private let observer: StoreObserver
  private let serverInfo: Reply
  private let openRPC: [UInt8]

  /// Called once with the reply, on any thread.
  public typealias Completion = @Sendable (Reply) -> Void

  init(
    registry: GroupRegistry, stores: GatewayServices.Stores, directory: SessionDirectory, clock: any WallClock,
    uptime: any Uptime, configuration: GatewayConfiguration, pageBytes: Int, unreadLimit: Int, observer: StoreObserver,
    product: GatewayServices.Product, serverInfo: Reply, openRPC: [UInt8]
  ) {
    self.registry = registry
    self.stores = stores
    self.directory = directory
    self.clock = clock
    self.uptime = uptime
    quotas = GroupQuotas(groups: stores.groups, configuration: configuration)
    requiresKnownUsers = configuration.requiresKnownUsers
    self.pageBytes = pageBytes
    self.unreadLimit = unreadLimit
    self.observer = observer
    self.product = product
    startTime = uptime.now()
    self.serverInfo = serverInfo
    self.openRPC = openRPC
  }

  /// Serves a request. Whether the caller may call the method at all has been checked.
  public func dispatch(_ request: Request, by caller: Caller, _ completion: @escaping Completion) {
    switch request {
    case .login, .logout: completion(.error(.methodNotFound))
    case .ping: completion(ping())
    case .getServerInfo: completion(serverInfo)
    case .discover: completion(.success(.document(openRPC)))

    case .createGroup(let request): create(request, by: caller, completion)
    case .joinGroup(let request):
      ask(request.groupID, joining: caller.userID.map { [$0] } ?? [], by: caller, completion) { .join(request, $0) }
    case .quitGroup(let request): ask(request.groupID, .quit, by: caller, completion)
    case .dismissGroup(let request): ask(request.groupID, .dismiss, by: caller, completion)
    case .getJoinedGroupList(let request):
      read(for: caller, completion) { () async throws(StoreError) in try await self.joinedGroups(request, of: caller) }
    case .getGroupsInfo(let request): read(for: caller, completion) { await self.groupsInfo(request, for: caller) }
    case .setGroupInfo(let request): ask(request.groupID, .setInfo(request), by: caller, completion)
    case .searchGroups(let request):
      read(for: caller, completion) { () async throws(StoreError) in try await self.searchGroups(request, for: caller) }
    case .transferGroupOwner(let request): ask(request.groupID, .transfer(request), by: caller, completion)
    case .muteGroup(let request): ask(request.groupID, .muteGroup(request), by: caller, completion)
    case .setGroupReceiveMessageOpt(let request):
      ask(request.groupID, .setReceiveOption(request.option), by: caller, completion)
    case .initGroupAttributes(let request): ask(request.groupID, .initAttributes(request.attributes), by: caller, completion)
    case .setGroupAttributes(let request): ask(request.groupID, .setAttributes(request.attributes), by: caller, completion)
    case .deleteGroupAttributes(let request): ask(request.groupID, .deleteAttributes(request.keys), by: caller, completion)
    case .getGroupAttributes(let request): ask(request.groupID, .attributes(request.keys), by: caller, completion)

    case .getGroupMemberList(let request): ask(request.groupID, .memberList(request), by: caller, completion)
    case .getGroupMembersInfo(let request): ask(request.groupID, .membersInfo(request.userIDList), by: caller, completion)
    case .getGroupOnlineMemberCount(let request): ask(request.groupID, .onlineMemberCount, by: caller, completion)
    case .setGroupMemberInfo(let request):
      ask(request.groupID, about: [request.userID], by: caller, completion) { .setMemberInfo(request, $0) }
    case .muteGroupMember(let request): ask(request.groupID, .muteMember(request), by: caller, completion)
    case .getGroupMutedMembers(let request): ask(request.groupID, .mutedMembers(request), by: caller, completion)
    case .inviteUserToGroup(let request):
      ask(
        request.groupID, about: request.userIDList, joining: request.userIDList, by: caller, rememberingMembers(completion)
      ) { .invite(request, $0) }
    case .kickGroupMember(let request): ask(request.groupID, .kick(request), by: caller, completion)
    case .setGroupMemberRole(let request):
      ask(request.groupID, about: [request.userID], by: caller, completion) { .setRole(request, $0) }
    case .getGroupMemberInviters(let request): ask(request.groupID, .inviters(request.userIDList), by: caller, completion)
    case .getGroupMemberRoles(let request): ask(request.groupID, .roles(request.userIDList), by: caller, completion)

    case .getGroupApplicationList(let request):
      read(for: caller, completion) { () async throws(StoreError) in try await self.applications(request, for: caller) }
    case .acceptGroupApplication(let request):
      run(for: caller, completion) { () async throws(StoreError) in
        try await self.decide(request.decision, agrees: true, by: caller)
      }
    case .refuseGroupApplication(let request):
      run(for: caller, completion) { () async throws(StoreError) in
        try await self.decide(request.decision, agrees: false, by: caller)
      }
    case .setGroupApplicationRead(let request):
      run(for: caller, completion) { await self.markApplicationsRead(request, by: caller) }

    case .sendGroupTextMessage(let request):
      ask(request.groupID, .send(.text(request.text), request.options), by: caller, completion)
    case .sendGroupCustomMessage(let request):
      ask(request.groupID, .send(.custom(request.data), request.options), by: caller, completion)
    case .getGroupHistoryMessageList(let request): ask(request.groupID, .history(request), by: caller, completion)
    case .syncGroups(let request): read(for: caller, completion) { await self.syncGroups(request, for: caller) }
    case .revokeGroupMessage(let request): ask(request.groupID, .revoke(seq: request.seq), by: caller, completion)
    case .markGroupMessageAsRead(let request): ask(request.groupID, .markRead(seq: request.seq), by: caller, completion)
    case .getGroupUnreadCount(let request):
      read(for: caller, completion) { () async throws(StoreError) in try await self.unreadCounts(request, of: caller) }
    case .getSystemNotificationList(let request):
      read(for: caller, completion) { () async throws(StoreError) in try await self.notifications(request, of: caller) }
    case .setSystemNotificationRead(let request):
      run(for: caller, completion) { () async throws(StoreError) in try await self.markNotificationsRead(request, by: caller) }

    case .listGroups(let request):
      read(for: caller, completion) { () async throws(StoreError) in try await self.listGroups(request) }
    case .sendGroupSystemNotification(let request): ask(request.groupID, .customData(request), by: caller, completion)
    case .recycleGroup(let request): ask(request.groupID, .recycle, by: caller, completion)
    case .listSessions(let request): completion(listSessions(request))
    case .kickUser(let request): run(for: caller, completion) { await self.kick(request) }
    case .importUsers(let request): run(for: caller, completion) { await self.importUsers(request) }
    case .importGroup(let request): importGroup(request, by: caller, completion)
    case .importGroupMembers(let request): importMembers(request, by: caller, completion)
    case .importGroupMessages(let request): importMessages(request, by: caller, completion)
    case .setUnreadCount(let request): ask(request.groupID, .setUnreadCount(request), by: caller, completion)
    case .getStats: read(for: caller, completion) { () async throws(StoreError) in try await self.stats() }
    }
  }

  func ping() -> Reply { .success(.ping(Ping.Result(serverTime: clock.now()))) }

  /// Sends a request that needs no store first to its group.
  func ask(_ id: GroupID, _ request: GroupRequest, by caller: Caller, _ completion: @escaping Completion) {
    registry.group(id).enqueue(.request(request, by: caller, completion: completion))
  }

  /// Runs what needs a store first, beside the session's order of requests to each group. It may
  /// change something, so it runs to the end even where no client waits for the reply.
  func run(
    for caller: Caller, _ completion: @escaping Completion, _ body: @escaping @Sendable () async throws(StoreError) -> Reply
  ) {
    let requester = Requester(caller.userID)
    Task { completion(await reply(to: requester, body)) }
  }

  /// Runs what only reads: it is given up once the session has ended.
  func read(
    for caller: Caller, _ completion: @escaping Completion, _ body: @escaping @Sendable () async throws(StoreError) -> Reply
  ) {
    let requester = caller.requester ?? Requester(caller.userID)
    Task { completion(requester.isGone ? .error(.temporary) : await reply(to: requester, body)) }
  }

  private func reply(to requester: Requester, _ body: () async throws(StoreError) -> Reply) async -> Reply {
    await Requester.$current.withValue(requester) {
      do throws(StoreError) {
        return try await body()
      } catch {
        // The store reads nothing for a client that has gone, which is no failure.
        if !requester.isGone { observer.storeFailed(error) }
        return .error(.temporary)
      }
    }
  }

  /// Commits changes that belong to no group, and users that were remembered before.
  func commit(_ changes: [StoreChange]) async -> Reply {
    let result = await withCheckedContinuation { continuation in
      stores.groups.commit(Commit(changes: changes, generation: CommitGeneration()) { continuation.resume(returning: $0) })
    }
    switch result {
    case .success: return .empty
    case .failure(let error):
      observer.storeFailed(error)
      return .error(.temporary)
    }
  }
}
