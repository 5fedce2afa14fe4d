import Cluster
import GroupModel
import GroupRuntime
import WireProtocol

/// Requests on several nodes: each is performed by the owner of its group's or user's shard (Cluster.md,
/// "The path of a request").
extension Dispatcher {
  /// Dispatches a request on this node, or sends its text to another one.
  func dispatch(
    _ request: consuming Request, by caller: Caller, _ text: RequestText?, _ router: OwnerRouter,
    _ completion: @escaping Completion
  ) {
    let request = request
    switch request.place(by: caller) {
    case .here: dispatchHere(request, by: caller, completion)
    case .shard(let shard): perform(request, by: caller, text, at: shard, router, completion)
    case .anyShard: perform(request, by: caller, text, at: router.anyShard(), router, completion)
    case .application(let id):
      run(caller.requester ?? Requester(caller.userID), completion) { [self] () async throws(StoreError) in
        let group = try await stores.personal.application(id)?.application.groupID
        return await withCheckedContinuation { continuation in
          let reply: Completion = { continuation.resume(returning: $0) }
          guard let group else { return dispatchHere(request, by: caller, reply) }
          perform(request, by: caller, text, at: Shard(of: group), router, reply)
        }
      }
    }
  }

  private func perform(
    _ request: Request, by caller: Caller, _ text: RequestText?, at shard: Shard, _ router: OwnerRouter,
    _ completion: @escaping Completion
  ) {
    guard let text else {
      guard router.leads(shard) else { return completion(.error(.temporary)) }
      return dispatchHere(request, by: caller, completion)
    }
    router.perform(
      .call(text, by: caller, shard: shard), at: shard, mayWait: request.mayWait,
      here: { [self] in dispatchHere(request, by: caller, completion) }, completion)
  }

  /// A row of a group that may have to wait for its owner.
  func row(_ row: RowRequest, by caller: Caller, _ router: OwnerRouter) async -> Reply {
    await withCheckedContinuation { continuation in
      router.perform(
        .rows([row], by: caller), at: Shard(of: row.group),
        here: { [registry] in
          registry.group(row.group).enqueue(.request(row.operation.operation, by: caller) { continuation.resume(returning: $0) })
        },
        { continuation.resume(returning: $0) })
    }
  }

  /// Asks all owners of a round at once.
  /// - Returns: the answers by place. A row is missing where its owner has moved, or has left it for later.
  func rows(
    _ round: RowRound, _ rows: [Int: RowRequest], by caller: Caller, _ router: OwnerRouter
  ) async -> [(place: Int, reply: Reply)] {
    await withTaskGroup(of: [(place: Int, reply: Reply)].self) { [registry, clocks] group in
      if !round.here.isEmpty {
        let asked = round.here.compactMap { rows[$0] }
        group.addTask { answers(await registry.rows(asked, by: caller, router, clocks), to: round.here) }
      }
      var waiting = round.batches[...]
      func askNext() {
        guard let batch = waiting.popFirst() else { return }
        let asked = batch.rows.compactMap { rows[$0] }
        group.addTask { answers(await router.rows(asked, of: batch.node, by: caller), to: batch.rows) }
      }
      for _ in 0..<RowBounds.underWay { askNext() }
      var found: [(place: Int, reply: Reply)] = []
      for await batch in group {
        found += batch
        askNext()
      }
      return found
    }
  }
}

private func answers(_ replies: [RowReply], to places: [Int]) -> [(place: Int, reply: Reply)] {
  zip(places, replies).compactMap { place, reply in
    if case .reply(let reply) = reply { (place, reply) } else { nil }
  }
}

extension Request {
  /// Where a request is performed.
  enum Place: Equatable {
    /// On the node that has got it: it reads the store, or asks several groups.
    case here
    case shard(Shard)
    /// A group is made, whose name is not chosen yet.
    case anyShard
    /// At the owner of the application's group.
    case application(String)
  }

  func place(by caller: Caller) -> Place {
    switch self {
    case .group(let id, _): .shard(Shard(of: id))
    case .createGroup(let request): request.groupID.map { .shard(Shard(of: $0)) } ?? .anyShard
    case .importGroup(let request): request.group.groupID.map { .shard(Shard(of: $0)) } ?? .anyShard
    case .acceptGroupApplication(let request): .application(request.decision.applicationID)
    case .refuseGroupApplication(let request): .application(request.decision.applicationID)
    // The changes of a user are made one after the other, by one node.
    case .setSelfInfo: caller.userID.map { .shard(Shard(of: $0)) } ?? .here
    case .setUserInfo(let request): .shard(Shard(of: request.userID))
    case .login, .logout, .ping, .getServerInfo, .discover, .getJoinedGroupList, .getGroupsInfo, .searchGroups,
      .getGroupApplicationList, .setGroupApplicationRead, .getUsersInfo, .syncGroups, .searchGroupMessages,
      .getGroupUnreadCount, .getSystemNotificationList, .setSystemNotificationRead, .listGroups, .listSessions, .kickUser,
      .importUsers, .getStats, .listWebhookFailures, .retryWebhooks, .trace, .getTrace, .endTrace, .listActiveGroups,
      .listAdministratorActions:
      .here
    }
  }
}

extension Request {
  /// Whether many of them come at once, as in a live room that opens: those of a moment cross the bus
  /// together, and so do their replies (Cluster.md, "Links").
  var mayWait: Bool {
    switch self {
    case .group(_, .joinGroup), .group(_, .quitGroup), .group(_, .increaseGroupCounter), .group(_, .decreaseGroupCounter):
      true
    default: false
    }
  }
}

extension RequestText {
  /// The request of the text, which another node has checked.
  func request(_ methods: MethodTable) -> Result<Request, WireError> {
    let padded = text + [UInt8](repeating: 0, count: JSONParser.padding)
    let envelope = padded.withUnsafeBytes { bytes in
      Envelope(
        padded: UnsafeRawBufferPointer(rebasing: bytes.dropLast(JSONParser.padding)), parser: JSONParser(), methods: methods,
        servesApplication: servesApplication)
    }
    let call: Call
    switch envelope {
    case .single(let single) where index == 0: call = single
    case .batch(let calls) where calls.indices.contains(index): call = calls[index]
    case .single, .batch, .badBatch, .notJSON: return .failure(WireError(.internalError))
    }
    do throws(WireError) {
      return .success(try call.request())
    } catch {
      return .failure(error)
    }
  }
}
