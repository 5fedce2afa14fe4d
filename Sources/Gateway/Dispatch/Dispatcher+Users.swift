import GroupModel
import GroupRuntime
import WireProtocol

/// The texts of users (Protocol.md, "Profiles").
extension Dispatcher {
  func setSelfInfo(_ request: SetSelfInfo, by caller: Caller) async throws(StoreError) -> Reply {
    try await changeSelfInfo(request, by: caller, comparing: words)
  }

  /// - Parameter words: nil = the texts were compared before.
  func changeSelfInfo(
    _ request: SetSelfInfo, by caller: Caller, comparing words: CurrentWords?
  ) async throws(StoreError) -> Reply {
    guard let user = caller.userID else { return .missingUser }
    let change = ImportUsers.ImportedUser(userID: user, fields: request.fields)
    return try await userInfos.change(
      [change], comparing: words, announcement: .toSessions(except: caller.session), commit)
  }

  /// The checks of setSelfInfo before the application is asked.
  func checkSelfInfo(_ request: SetSelfInfo, by caller: Caller) async throws(StoreError) -> Reply {
    guard let user = caller.userID else { return .missingUser }
    return try await userInfos.check(request.fields, of: user, comparing: words)
  }

  /// Also makes the user known where nothing changes.
  func setUserInfo(_ request: SetUserInfo, by _: Caller) async throws(StoreError) -> Reply {
    let change = ImportUsers.ImportedUser(userID: request.userID, fields: request.fields)
    return try await userInfos.change([change], announcement: .toSessions(except: nil), commit)
  }

  /// "importUsers tells nobody."
  func importUsers(_ request: ImportUsers, by _: Caller) async throws(StoreError) -> Reply {
    try await userInfos.change(request.users, announcement: .none, commit)
  }

  func usersInfo(_ request: GetUsersInfo, for _: Caller) async throws(StoreError) -> Reply {
    .success(.usersInfo(GetUsersInfo.Result(userList: try await stores.users.infos(of: request.userIDList))))
  }
}
