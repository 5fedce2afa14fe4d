import GroupModel
import GroupRuntime
import WireProtocol

/// What a group must be told of users before it decides, because only stores know it: who is known (`users.requireKnown`), and who is in as many
/// groups as one may be (`limits.groupsPerUser`). Application administrators, and so imports, are not bound by the latter.
extension Dispatcher {
  /// Users become known by being made members, unless they have to be known before. A call that is refused makes nobody known, nor
  /// does a row of one that is not `Success`: or whoever may call could fill the store with names.
  /// - Parameters:
  ///   - owner: becomes known where the call as a whole succeeds.
  ///   - completion: is called behind it, so that whoever has the reply finds the users known.
  func rememberingMembers(and owner: UserID? = nil, _ completion: @escaping Completion) -> Completion {
    guard !requiresKnownUsers else { return completion }
    return { [stores] reply in
      if case .success(let value) = reply { stores.users.remember(value.madeMembers + (owner.map { [$0] } ?? [])) }
      completion(reply)
    }
  }

  /// Asks a group for something that concerns users.
  /// - Parameters:
  ///   - named: who may have to be known.
  ///   - joining: who would be a member of one more group.
  func ask(
    _ id: GroupID, about named: [UserID] = [], joining: [UserID] = [], by caller: Caller, _ completion: @escaping Completion,
    _ request: @escaping @Sendable (UserFacts) -> GroupRequest
  ) {
    let checksKnown = requiresKnownUsers && !named.isEmpty
    let checksLimit = quotas.limitUsers && !joining.isEmpty
    // Without a question to a store, a session's requests to one group keep their order all the way.
    if !checksKnown {
      guard checksLimit else { return ask(id, request(.none), by: caller, completion) }
      if caller.userID == nil {
        return ask(id, request(.none), by: caller) { [quotas] reply in
          quotas.note(joined: joining)
          completion(reply)
        }
      }
      if quotas.begin(joining: joining) {
        return ask(id, request(.none), by: caller) { [quotas] reply in
          quotas.end(joining: joining, isMade: reply.isSuccess)
          completion(reply)
        }
      }
    }
    run(for: caller, completion) { () async throws(StoreError) in
      try await self.gather(about: named, joining: joining, by: caller) { (facts) async throws(StoreError) in
        await self.registry.group(id).ask(request(facts), by: caller)
      }
    }
  }

  /// Finds out about users, and keeps what is found true until `body` has made them members.
  func gather(
    about named: [UserID], joining: [UserID], by caller: Caller, _ body: (UserFacts) async throws(StoreError) -> Reply
  ) async throws(StoreError) -> Reply {
    var facts = UserFacts()
    if requiresKnownUsers, !named.isEmpty {
      facts.unknown = Set(named).subtracting(try await stores.users.known(among: named))
    }
    let unknown = facts.unknown
    guard caller.userID != nil else {
      defer { quotas.note(joined: joining) }
      return try await body(facts)
    }
    return try await quotas.within(groupsOf: joining) { (atLimit) async throws(StoreError) in
      try await body(UserFacts(unknown: unknown, atGroupLimit: atLimit))
    }
  }
}

extension ReplyValue {
  /// The users that the call has made members.
  fileprivate var madeMembers: [UserID] {
    let rows: [MemberResult]
    switch self {
    case .createdGroup(let result): rows = result.memberList
    case .memberResults(let result): rows = result.memberList
    default: return []
    }
    return rows.filter { $0.result == .success }.map(\.userID)
  }
}
