import GroupModel
import GroupRuntime
import WireProtocol

/// Statuses of users (Protocol.md, "Presence"). What a session watches is its own (`Session.subscribe`).
extension Dispatcher {
  func usersStatus(_ request: GetUsersStatus, for _: Caller) async throws(StoreError) -> Reply {
    do throws(WireError) { try statuses.requireVisible() } catch { return .failure(error) }
    return .success(
      .usersStatus(GetUsersStatus.Result(userList: try await statusReader.rows(of: request.userIDList))))
  }

  func setSelfStatus(_ request: SetSelfStatus, by caller: Caller) async throws(StoreError) -> Reply {
    do throws(WireError) { try statuses.requireVisible() } catch { return .failure(error) }
    guard let user = caller.userID else { return .missingUser }
    return try await userInfos.setStatus(of: user, to: request.customStatus, commit)
  }
}
