import GroupModel
import GroupRuntime
import WireProtocol

/// The methods of the application's backend (Protocol.md, "Application methods").
extension Dispatcher {
  func listGroups(_ request: ListGroups, by caller: Caller) async throws(StoreError) -> Reply {
    let found = try await stores.groups.groups(ofType: request.groupType, after: request.nextSeq, limit: request.count + 1)
    let counts = try await stores.groups.groupCounts()
    let total = request.groupType.map { counts[$0] ?? 0 } ?? counts.values.reduce(0, +)
    let gathered = await infos(
      of: Array(found.prefix(request.count)), hasMore: found.count > request.count, .info, by: caller)
    switch gathered {
    case .failure(let error): return .failure(error)
    case .success(let page):
      return .success(.groups(ListGroups.Result(groupList: page.rows, totalCount: total, nextSeq: page.next)))
    }
  }

  func listSessions(_ request: ListSessions, for _: Caller) async -> Reply {
    .success(.sessions(ListSessions.Result(sessionList: await sessions.sessions(of: request.userID))))
  }

  /// Replies once the sessions are closed.
  func kick(_ request: KickUser, by _: Caller) async -> Reply {
    let kicked = await sessions.endSessions(of: request.userID, .administrator(message: request.reason))
    return .success(.kicked(KickUser.Result(kicked: kicked)))
  }

  func stats(_: GetStats, for _: Caller) async throws(StoreError) -> Reply {
    let users = try await stores.users.knownCount()
    let counts = try await stores.groups.groupCounts()
    let result = GetStats.Result(
      sessions: sessions.sessionCount, users: users, groups: counts.values.reduce(0, +),
      groupsByType: NumberMap(GroupType.allCases.map { ($0.rawValue, Int64(counts[$0] ?? 0)) }),
      uptime: await observation.uptime(), version: product.version)
    return .success(.stats(result))
  }

  // MARK: Imports

  func importMembers(
    _ request: ImportGroupMembers, into id: GroupID, by caller: Caller, _ completion: @escaping Completion
  ) {
    let now = clocks.wall
    guard request.memberList.allSatisfy({ $0.joinTime ?? .unset <= now }) else {
      return completion(.error(.badValue, "In the future", field: "joinTime"))
    }
    let operation = GroupRequest.importGroupMembers(request)
    let users = operation.concernedUsers(by: caller) ?? ConcernedUsers()
    run(Requester(caller.userID), rememberingImported(completion)) { () async throws(StoreError) in
      var firstSeqs: [UserID: Int64] = [:]
      // The first entry of a user counts.
      for member in request.memberList.uniqued(by: \.userID) {
        guard let joinTime = member.joinTime else { continue }
        firstSeqs[member.userID] = try await self.stores.messages.firstSeq(of: id, notBefore: joinTime)
      }
      let found = firstSeqs
      return try await self.withFacts(about: users, by: caller) { (unknown, atGroupLimit) async throws(StoreError) in
        let facts = UserFacts(unknown: unknown, atGroupLimit: atGroupLimit, firstSeqs: found)
        return await self.registry.group(id).ask(.request(operation, facts), by: caller)
      }
    }
  }

  func importMessages(
    _ request: ImportGroupMessages, into id: GroupID, by caller: Caller, _ completion: @escaping Completion
  ) {
    if let last = request.messageList.last, last.timestamp > clocks.wall {
      return completion(.error(.badValue, "In the future", field: "messageList"))
    }
    registry.group(id).enqueue(.request(.request(.importGroupMessages(request)), by: caller, completion: completion))
  }
}
