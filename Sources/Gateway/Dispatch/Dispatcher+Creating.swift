import GroupModel
import GroupRuntime
import WireProtocol

/// createGroup and importGroup (contract sections 4 and 8).
extension Dispatcher {
  func create(_ request: CreateGroup, by caller: Caller, _ completion: @escaping Completion) {
    guard let owner = caller.userID ?? request.ownerUserID else {
      return completion(.error(.invalidParams, "ownerUserID is missing", field: "ownerUserID"))
    }
    let members = request.memberList.map(\.userID)
    let id = request.groupID ?? GroupID.generate()
    users(named: members + [owner])
    guard quotas.limit(request.groupType) || needsKnown(owner, by: caller) else {
      return ask(id, about: members, joining: members + [owner], by: caller, completion) { .create(request, owner: owner, $0) }
    }
    run(completion) { () async throws(StoreError) in
      try await self.found(request.groupType, owner: owner, by: caller) { () async throws(StoreError) in
        try await self.gather(about: members, joining: members + [owner]) { (facts) async throws(StoreError) in
          await self.registry.group(id).ask(.create(request, owner: owner, facts), by: caller)
        }
      }
    }
  }

  func importGroup(_ request: ImportGroup, by caller: Caller, _ completion: @escaping Completion) {
    // The parameter is needed, so it is there.
    guard let owner = request.group.ownerUserID else {
      return completion(.error(.invalidParams, "ownerUserID is missing", field: "ownerUserID"))
    }
    if let createTime = request.createTime, createTime > clock.now() {
      return completion(.error(.badValue, "In the future", field: "createTime"))
    }
    users(named: [owner])
    let id = request.group.groupID ?? GroupID.generate()
    run(completion) { () async throws(StoreError) in
      try await self.found(request.group.groupType, owner: owner, by: caller) { () async throws(StoreError) in
        try await self.gather(about: [], joining: [owner]) { (facts) async throws(StoreError) in
          await self.registry.group(id).ask(.importGroup(request, owner: owner, facts), by: caller)
        }
      }
    }
  }

  /// An owner that the application names may be one that nobody has seen: 10019 where users must be known.
  private func needsKnown(_ owner: UserID, by caller: Caller) -> Bool { requiresKnownUsers && caller.userID == nil }

  private func found(
    _ type: GroupType, owner: UserID, by caller: Caller, _ body: () async throws(StoreError) -> Reply
  ) async throws(StoreError) -> Reply {
    if needsKnown(owner, by: caller), try await !stores.users.known(among: [owner]).contains(owner) {
      return .error(.userUnknown, field: "ownerUserID")
    }
    return quotas.limit(type) ? try await quotas.withinRooms(body) : try await body()
  }
}
