import GroupModel
import GroupRuntime

extension SessionRegistration {
  /// A user who was deleted signs in again, as a new one: the deletion is told of no more.
  /// - Returns: false = the store has failed.
  func forgetDeletion(of user: UserID) async -> Bool {
    let answer = await withCheckedContinuation { continuation in
      groups.commit(
        Commit(changes: [.forgetDeletion(user)], generation: CommitGeneration()) { continuation.resume(returning: $0) })
    }
    switch answer {
    case .success: return true
    case .failure(let error):
      observer.storeFailed(error)
      return false
    }
  }
}
