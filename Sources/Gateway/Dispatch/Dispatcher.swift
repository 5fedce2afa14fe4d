import GroupModel
import GroupRuntime
import WireProtocol

/// Hands each request to whom it concerns. It is the same for sessions and for the application's backend; who may call what
/// before it comes here, and how replies leave, is theirs.
public final class Dispatcher: Sendable {
  let registry: GroupRegistry
  private let groups: any GroupStore
  private let users: any UserStore
  private let clock: any WallClock
  private let quotas: GroupQuotas
  private let requiresKnownUsers: Bool
  /// How much of groups and messages a reply holds at most.
  let pageBytes: Int
  private let observer: StoreObserver
  private let serverInfo: Reply
  private let openRPC: [UInt8]

  /// Gets the reply once, on any thread.
  public typealias Completion = @Sendable (Reply) -> Void

  init(
    registry: GroupRegistry, stores: GatewayServices.Stores, clock: any WallClock, configuration: GatewayConfiguration,
    pageBytes: Int,
    observer: StoreObserver, serverInfo: Reply, openRPC: [UInt8]
  ) {
    self.registry = registry
    groups = stores.groups
    users = stores.users
    self.clock = clock
    quotas = GroupQuotas(groups: stores.groups, configuration: configuration)
    requiresKnownUsers = configuration.requiresKnownUsers
    self.pageBytes = pageBytes
    self.observer = observer
    self.serverInfo = serverInfo
    self.openRPC = openRPC
  }

  /// Serves a request of somebody whose right to call the method at all has been checked.
  public func dispatch(_ request: Request, by caller: Caller, _ completion: @escaping Completion) {
    switch request {
    case .login, .logout: completion(.error(.methodNotFound))
    case .ping: completion(.object { $0.member("serverTime", clock.now()) })
    case .getServerInfo: completion(serverInfo)
    case .discover: completion(.success(openRPC))
    case .createGroup(let request): create(request, by: caller, completion)
    case .joinGroup(let request): ask(request.groupID, .join(request), by: caller, completion)
    case .quitGroup(let request): ask(request.groupID, .quit, by: caller, completion)
    case .dismissGroup(let request): ask(request.groupID, .dismiss, by: caller, completion)
    case .setGroupInfo(let request): ask(request.groupID, .setInfo(request), by: caller, completion)
    case .getGroupMemberList(let request): ask(request.groupID, .memberList(request), by: caller, completion)
    case .getGroupMembersInfo(let request): ask(request.groupID, .membersInfo(request.userIDList), by: caller, completion)
    case .getGroupOnlineMemberCount(let request): ask(request.groupID, .onlineMemberCount, by: caller, completion)
    case .sendGroupTextMessage(let request):
      ask(request.groupID, .send(.text(request.text), request.options), by: caller, completion)
    case .sendGroupCustomMessage(let request):
      ask(request.groupID, .send(.custom(request.data), request.options), by: caller, completion)
    case .getGroupHistoryMessageList(let request): ask(request.groupID, .history(request), by: caller, completion)
    case .getJoinedGroupList(let request):
      run(completion) { () async throws(StoreError) in try await self.joinedGroups(request, of: caller) }
    case .getGroupsInfo(let request): run(completion) { await self.groupsInfo(request, for: caller) }
    case .syncGroups(let request): run(completion) { await self.syncGroups(request, for: caller) }
    }
  }

  private func ask(_ id: GroupID, _ request: GroupRequest, by caller: Caller, _ completion: @escaping Completion) {
    registry.group(id).ask(request, by: caller, completion)
  }

  /// What concerns several groups is gathered beside the order of the session's requests to each.
  private func run(_ completion: @escaping Completion, _ body: @escaping @Sendable () async throws(StoreError) -> Reply) {
    Task {
      do throws(StoreError) {
        completion(try await body())
      } catch {
        observer.storeFailed(error)
        completion(.error(.temporary))
      }
    }
  }

  func memberships(of user: UserID) async throws(StoreError) -> [Membership] { try await groups.memberships(of: user) }

  /// The groups that a user has left since an instant; none without one.
  func leftGroups(of user: UserID, since: Instant?) async throws(StoreError) -> [GroupID] {
    guard let since else { return [] }
    return try await groups.departures(of: user, since: since)
  }

  // MARK: createGroup

  private func create(_ request: CreateGroup, by caller: Caller, _ completion: @escaping Completion) {
    guard let owner = caller.userID ?? request.ownerUserID else {
      return completion(.error(.invalidParams, "ownerUserID is missing", field: "ownerUserID"))
    }
    let id = request.groupID ?? GroupID.generate()
    guard requiresKnownUsers || quotas.apply(to: request.groupType) else {
      users.remember(request.memberList.map(\.userID) + [owner])
      return ask(id, .create(request, owner: owner, unknown: []), by: caller, completion)
    }
    run(completion) { () async throws(StoreError) in
      try await self.quotas.within(request.groupType, of: owner) { () async throws(StoreError) in
        try await self.create(request, id: id, owner: owner, by: caller)
      }
    }
  }

  /// Where users must be known: an unknown owner is 10019, an unknown member's row Fail.
  private func create(
    _ request: CreateGroup, id: GroupID, owner: UserID, by caller: Caller
  ) async throws(StoreError) -> Reply {
    let named = request.memberList.map(\.userID)
    var unknown: Set<UserID> = []
    if requiresKnownUsers {
      let known = try await users.known(among: named + [owner])
      guard known.contains(owner) || caller.userID != nil else { return .error(.userUnknown, field: "ownerUserID") }
      unknown = Set(named).subtracting(known)
    } else {
      users.remember(named + [owner])
    }
    return await registry.group(id).ask(.create(request, owner: owner, unknown: unknown), by: caller)
  }
}
