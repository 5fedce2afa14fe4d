import GroupModel
import GroupRuntime
import WireProtocol

/// deleteUser, getUserDeletion and exportUser (Protocol.md, "Deleting a user" and "Exporting a user").
extension Dispatcher {
  /// "Durable; done in the background, across restarts."
  func deleteUser(_ request: DeleteUser, by _: Caller) async throws(StoreError) -> Reply {
    try await deletions.begin(request.userID, request.messages)
  }

  func userDeletion(_ request: GetUserDeletion, for _: Caller) async throws(StoreError) -> Reply {
    let deletion = try await stores.erasure.deletion(of: request.userID)
    let state: GetUserDeletion.State = deletion.map { $0.isRunning ? .running : .done } ?? .none
    return .success(.userDeletion(GetUserDeletion.Result(state: state)))
  }

  /// A user is being deleted: what this node remembers besides the profile.
  func forget(_ user: UserID, _ messages: UserDeletion.MessageFate) {
    statuses.forget(user)
    webhooks?.poster.erase(user, messages)
  }

  func exportUser(_ request: ExportUser, for _: Caller) async throws(StoreError) -> Reply {
    guard let start = ExportPlace(request.nextSeq) else {
      return .error(.badValue, "No place of an export", field: "nextSeq")
    }
    let export = UserExport(stores: stores, pageBytes: pageBytes)
    return .success(.personalRows(try await export.page(of: request.userID, from: start)))
  }
}
