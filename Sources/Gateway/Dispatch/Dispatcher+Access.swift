import GroupModel
import GroupRuntime
import WireProtocol

/// Blocked users and revoked tokens (Protocol.md, "Blocked users"). None of these methods makes a user
/// known.
extension Dispatcher {
  func blockUser(_ request: BlockUser, by _: Caller) async -> Reply { await access.block(request, commit) }

  func unblockUser(_ request: UnblockUser, by _: Caller) async -> Reply { await access.unblock(request, commit) }

  func revokeTokens(_ request: RevokeTokens, by _: Caller) async -> Reply { await access.revokeTokens(request, commit) }

  func blockedUsers(_ request: GetBlockedUsers, for _: Caller) async throws(StoreError) -> Reply {
    let page = try await stores.access.blockedUsers(after: request.nextSeq, at: clocks.wall, limit: request.count)
    guard let page else {
      return .error(.badValue, "The user of this place is not blocked any more: begin anew", field: "nextSeq")
    }
    let rows = page.users.map { user in
      BlockedUserInfo(userID: user.userID, blockedUntil: user.block.until ?? .unset, reason: user.block.reason)
    }
    return .success(.blockedUsers(GetBlockedUsers.Result(userList: rows, nextSeq: page.next)))
  }
}
