import GroupModel
import GroupRuntime
import WireProtocol

/// Blocks users and revokes their tokens. The decisions about one user are made one after the other,
/// each with its sessions: an unblocked user's new session is not ended by the block before.
///
/// The order makes sure that no session is missed: a decision is durable before sessions are ended,
/// on all nodes, and each session is registered before its sign-in reads the decision.
final class UserAccessEditor: Sendable {
  private let sessions: any UserDirectory
  private let clocks: any Clocks
  private let turns = TurnQueue<UserID>()

  init(sessions: any UserDirectory, clocks: any Clocks) {
    self.sessions = sessions
    self.clocks = clocks
  }

  /// How many users have a change under way.
  var turnCount: Int { turns.count }

  /// Blocks a user; again, it renews end and reason.
  /// - Parameter commit: makes changes durable.
  func block(_ request: BlockUser, _ commit: ([StoreChange]) async -> Reply) async -> Reply {
    await inTurn(of: request.userID) {
      let now = clocks.wall
      let until: WallInstant? = request.blockTime.map { now + .seconds($0) }
      let block = UserAccess.Block(until: until, reason: request.reason ?? "")
      let reply = await commit([.putBlock(request.userID, block, at: now)])
      guard reply.isSuccess else { return reply }
      await sessions.endSessionsEverywhere(of: request.userID, .blocked(message: request.reason))
      return .success(.blockedUser(BlockUser.Result(blockedUntil: until ?? .unset)))
    }
  }

  /// Ends the block of a user, where there is one.
  func unblock(_ request: UnblockUser, _ commit: ([StoreChange]) async -> Reply) async -> Reply {
    await inTurn(of: request.userID) { await commit([.putBlock(request.userID, nil, at: clocks.wall)]) }
  }

  /// Revokes the tokens of a user that were issued before an instant.
  func revokeTokens(_ request: RevokeTokens, _ commit: ([StoreChange]) async -> Reply) async -> Reply {
    await inTurn(of: request.userID) {
      let now = clocks.wall
      // 0 would be no revocation, and tokens without iat be good.
      let before = max(request.before ?? now, WallInstant(milliseconds: 1))
      let reply = await commit([.raiseTokensBefore(request.userID, before, at: now)])
      guard reply.isSuccess else { return reply }
      await sessions.endSessionsEverywhere(of: request.userID, .tokensRevoked(before: before))
      return reply
    }
  }

  private func inTurn(of user: UserID, _ body: () async -> Reply) async -> Reply {
    await turns.acquire(user)
    defer { turns.release(user) }
    return await body()
  }
}
