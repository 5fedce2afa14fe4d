import GroupModel
import GroupRuntime
import WireProtocol

/// createGroup and importGroup (Protocol.md, "Creating a group" and "Imports").
extension Dispatcher {
  /// - Parameter operation: creates the group, or only checks whether that is possible.
  func create(
    _ request: CreateGroup, by caller: Caller, _ completion: @escaping Completion,
    _ operation: @escaping @Sendable (CreateGroup, UserID, UserFacts) -> GroupOperation = { .create($0, owner: $1, $2) }
  ) {
    guard let owner = caller.userID ?? request.ownerUserID else {
      return completion(.error(.invalidParams, "ownerUserID is missing", field: "ownerUserID"))
    }
    let members = request.memberList.map(\.userID)
    let id = request.groupID ?? makeGroupID()
    let users = ConcernedUsers(
      // An owner that the application names may be unknown.
      named: caller.userID == nil ? members + [owner] : members,
      joining: request.groupType.isListed ? members + [owner] : [], added: members)
    guard quotas.limitsCreation(of: request.groupType, by: caller.userID) else {
      return askWithFacts(id, about: users, by: caller, completion) { operation(request, owner, $0) }
    }
    run(Requester(caller.userID), completion) { () async throws(StoreError) in
      try await self.quotas.withRoomLimit(of: request.groupType, by: caller.userID) { (isAtLimit) async throws(StoreError) in
        try await self.withFacts(about: users, by: caller) { (unknown, atGroupLimit) async throws(StoreError) in
          let facts = UserFacts(unknown: unknown, atGroupLimit: atGroupLimit, isAtRoomLimit: isAtLimit)
          return await self.registry.group(id).ask(operation(request, owner, facts), by: caller)
        }
      }
    }
  }

  func importGroup(_ request: ImportGroup, by caller: Caller, _ completion: @escaping Completion) {
    // The parser has required it.
    guard let owner = request.group.ownerUserID else {
      return completion(.error(.invalidParams, "ownerUserID is missing", field: "ownerUserID"))
    }
    if let createTime = request.createTime, createTime > clocks.wall {
      return completion(.error(.badValue, "In the future", field: "createTime"))
    }
    let id = request.group.groupID ?? makeGroupID()
    let users = ConcernedUsers(named: [owner], joining: [owner])
    askWithFacts(id, about: users, by: caller, rememberingImported(and: owner, completion)) {
      .importGroup(request, owner: owner, $0)
    }
  }
}
