import GroupModel
import GroupRuntime
import WireProtocol

/// Requests that name users: the stores tell the group which of them are unknown
/// (`users.requireKnown`), and which are in as many groups as one may be (`limits.groupsPerUser`).
/// Application administrators, and so imports, are not bound by the latter.
extension Dispatcher {
  /// Asks a group for a method. Without a question to a store, a session's requests to one group
  /// keep their order.
  @inline(__always)
  func askGroup(_ id: GroupID, _ request: consuming GroupRequest, by caller: Caller, _ completion: @escaping Completion) {
    guard let users = request.concernedUsers(by: caller) else {
      return registry.group(id).enqueue(.request(.request(request), by: caller, completion: completion))
    }
    askAboutUsers(id, request, users, by: caller, completion)
  }

  private func askAboutUsers(
    _ id: GroupID, _ request: GroupRequest, _ users: ConcernedUsers, by caller: Caller, _ completion: @escaping Completion
  ) {
    askWithFacts(id, about: users, by: caller, completion) { .request(request, $0) }
  }

  /// Asks a group for an operation that concerns users. Those whom it adds without asking them count
  /// for the caller's day, and do not where it has not added them.
  func askWithFacts(
    _ id: GroupID, about users: ConcernedUsers, by caller: Caller, _ completion: @escaping Completion,
    _ operation: @escaping @Sendable (UserFacts) -> GroupOperation
  ) {
    guard let quota = caller.strangers, !users.added.isEmpty else {
      return askCounting(id, about: users, by: caller, completion, operation)
    }
    let (excluded, counted) = quota.reserve(users.added, at: clocks.monotonic)
    askCounting(
      id, about: users, by: caller,
      { reply in
        let added = Set(reply.newMembers)
        quota.release(counted.filter { !added.contains($0) })
        completion(reply)
      }, { operation($0.with(beyondStrangers: excluded)) })
  }

  private func askCounting(
    _ id: GroupID, about users: ConcernedUsers, by caller: Caller, _ completion: @escaping Completion,
    _ operation: @escaping @Sendable (UserFacts) -> GroupOperation
  ) {
    let joining = users.joining
    let checksKnown = requiresKnownUsers && !users.named.isEmpty
    let checksLimit = quotas.limitUsers && !joining.isEmpty
    if !checksKnown {
      let group = registry.group(id)
      guard checksLimit else { return group.enqueue(.request(operation(.none), by: caller, completion: completion)) }
      if caller.userID == nil {
        return group.enqueue(
          .request(operation(.none), by: caller) { [quotas] reply in
            quotas.note(joined: joining)
            completion(reply)
          })
      }
      if quotas.begin(joining: joining) {
        return group.enqueue(
          .request(operation(.none), by: caller) { [quotas] reply in
            quotas.end(joining: joining, isMade: reply.isSuccess)
            completion(reply)
          })
      }
    }
    run(Requester(caller.userID), completion) { () async throws(StoreError) in
      try await self.withFacts(about: users, by: caller) { (unknown, atGroupLimit) async throws(StoreError) in
        let facts = UserFacts(unknown: unknown, atGroupLimit: atGroupLimit)
        return await self.registry.group(id).ask(operation(facts), by: caller)
      }
    }
  }

  /// Runs `body`, which makes users members. Its facts stay true until it has ended.
  func withFacts(
    about users: ConcernedUsers, by caller: Caller,
    _ body: (_ unknown: Set<UserID>, _ atGroupLimit: Set<UserID>) async throws(StoreError) -> Reply
  ) async throws(StoreError) -> Reply {
    var unknown: Set<UserID> = []
    if requiresKnownUsers, !users.named.isEmpty {
      unknown = Set(users.named).subtracting(try await stores.users.known(among: users.named))
      // Users who have signed in on another node are known before the store hears of it.
      unknown = unknown.filter { !sessions.isPresent($0) }
    }
    guard caller.userID != nil else {
      defer { quotas.note(joined: users.joining) }
      return try await body(unknown, [])
    }
    let found = unknown
    return try await quotas.within(groupsOf: users.joining) { (atLimit) async throws(StoreError) in
      try await body(found, atLimit)
    }
  }

  /// Imported members become known, where users need not be known before. A refused request or row
  /// makes no user known.
  /// - Parameters:
  ///   - owner: of an imported group; becomes known with the success of the whole request.
  ///   - completion: called afterwards, so that the caller finds the users known.
  func rememberingImported(and owner: UserID? = nil, _ completion: @escaping Completion) -> Completion {
    guard !requiresKnownUsers else { return completion }
    return { [stores] reply in
      if case .success(let value) = reply { stores.users.remember(value.newMembers + (owner.map { [$0] } ?? [])) }
      completion(reply)
    }
  }
}

/// The users whom a request concerns.
struct ConcernedUsers: Sendable {
  /// The users who may have to be known.
  var named: [UserID] = []
  /// The users who would be members of one more group.
  var joining: [UserID] = []
  /// The users who may become members without being asked.
  var added: [UserID] = []
}

extension GroupRequest {
  /// Nil where no facts of users matter.
  func concernedUsers(by caller: Caller) -> ConcernedUsers? {
    switch users {
    case .nobody: nil
    case .caller: ConcernedUsers(joining: caller.userID.map { [$0] } ?? [])
    case .known(let users): ConcernedUsers(named: users)
    case .added(let users): ConcernedUsers(named: users, joining: users, added: users)
    }
  }
}

extension Reply {
  fileprivate var newMembers: [UserID] { if case .success(let value) = self { value.newMembers } else { [] } }
}
