import Cluster
import GroupModel
import GroupRuntime
import WireProtocol

/// Requests on several nodes: each is performed by the owner of its group's or user's shard (Cluster.md,
/// "The path of a request").
extension Dispatcher {
  /// Dispatches a request on this node, or sends its text to another one.
  func dispatchByShard(
    _ request: consuming Request, by caller: Caller, _ text: RequestText?, _ router: ShardRouter,
    _ completion: @escaping Completion
  ) {
    let request = request
    let shard: Shard
    switch request.subject {
    case .group(let id), .newGroup(let id?): shard = Shard(of: id)
    case .newGroup(nil): shard = router.anyShard()
    case .user(let user): shard = Shard(of: user)
    case .caller:
      guard let user = caller.userID else { return dispatchHere(request, by: caller, completion) }
      shard = Shard(of: user)
    case .application(let id):
      return run(caller.requester ?? Requester(caller.userID), completion) { [self] () async throws(StoreError) in
        let group = try await stores.personal.application(id)?.application.groupID
        return await withCheckedContinuation { continuation in
          let reply: Completion = { continuation.resume(returning: $0) }
          guard let group else { return dispatchHere(request, by: caller, reply) }
          perform(request, by: caller, text, at: Shard(of: group), router, reply)
        }
      }
    case nil: return dispatchHere(request, by: caller, completion)
    }
    perform(request, by: caller, text, at: shard, router, completion)
  }

  private func perform(
    _ request: Request, by caller: Caller, _ text: RequestText?, at shard: Shard, _ router: ShardRouter,
    _ completion: @escaping Completion
  ) {
    guard let text else {
      guard router.leads(shard) else { return completion(.error(.temporary)) }
      return dispatchHere(request, by: caller, completion)
    }
    let repetition = request.namedSend(by: caller).map { send in
      CallRepetition(send: send) { [self] in
        let again = caller.repeating()
        dispatchHere(request, by: again) { reply in
          router.noteRepeated(reply, by: again)
          completion(reply)
        }
      }
    }
    router.perform(
      .call(text, by: caller, shard: shard), at: shard, mayWait: request.mayWait, repetition: repetition,
      here: { [self] in dispatchHere(request, by: caller, completion) }, completion)
  }

  /// A row of a group that may have to wait for its node.
  func row(_ row: RowRequest, by caller: Caller, _ router: ShardRouter) async -> Reply {
    await withCheckedContinuation { continuation in
      router.perform(
        .rows([row], by: caller), at: Shard(of: row.group),
        here: { [registry] in
          registry.group(row.group).enqueue(.request(row.operation.operation, by: caller) { continuation.resume(returning: $0) })
        },
        { continuation.resume(returning: $0) })
    }
  }

  /// Asks all nodes of a round at once.
  /// - Returns: the answers by place. A row is missing where its shard has moved, or the node left
  ///   it for later.
  func rows(
    _ round: RowRound, _ rows: [Int: RowRequest], by caller: Caller, _ router: ShardRouter
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
      for _ in 0..<RowBounds.inFlight { askNext() }
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
  /// The send that a group may be asked for twice, because it knows it by its name; nil = another request, or
  /// one of which nothing is stored.
  fileprivate func namedSend(by caller: Caller) -> NamedSend? {
    guard case .group(let group, let request) = self, let sender = caller.userID else { return nil }
    let options: MessageOptions
    switch request {
    case .sendGroupTextMessage(let method): options = method.options
    case .sendGroupCustomMessage(let method): options = method.options
    default: return nil
    }
    guard let id = options.clientMsgID, !options.onlineUserOnly else { return nil }
    return NamedSend(sender: sender, clientMsgID: id, group: group)
  }
}

extension RequestText {
  /// The request of the text, which another node has checked.
  /// - Parameter parser: its memory is used again: a new one allocates 60 KB.
  func request(_ methods: MethodTable, _ parser: JSONParser) -> Result<Request, WireError> {
    let count = text.count
    // On the stack, where the text is short.
    let envelope = withUnsafeTemporaryAllocation(byteCount: count + JSONParser.padding, alignment: 1) { padded in
      padded.copyBytes(from: text)
      for index in count..<padded.count { padded[index] = 0 }
      return Envelope(
        padded: UnsafeRawBufferPointer(rebasing: padded[..<count]), parser: parser, methods: methods,
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
