import GroupModel
import ThrongTestKit

@testable import GroupRuntime

/// The deletion of a user: what its job asks of the group and of the store, one thing after the other.
extension GroupScene {
  mutating func deleteUser(_ operation: Operation) async throws {
    let user = user(operation["userID"].string!)
    for session in sessions where session.user == user.rawValue { signOut(session) }
    profiles[user] = nil
    if picture.members[user] != nil { try await erase(.leave, of: user) }
    let isAsked = picture.openApplications.contains { $0.fromUser == user || $0.toUser == user }
    if isAsked || picture.former[user] != nil { try await erase(.records, of: user) }
    for (seq, reaction) in picture.reactions(by: user) { try await erase(.reaction(seq: seq, reaction), of: user) }
    if operation["messages"] == "Revoke" { try await recallAll(of: user) }
    picture.erase(user)
    try await erase(.texts, of: user)
    outcome.result = .null
  }

  private mutating func recallAll(of user: UserID) async throws {
    while let remembered = recent?.messages(of: user, at: reading.monotonic).first {
      try await erase(.recall(seq: remembered.oldest), of: user)
    }
    for message in picture.messages where message.sender == user && message.isChat && !message.isRevoked {
      try await erase(.recall(seq: message.seq ?? 0), of: user)
    }
  }

  private mutating func erase(_ erasure: GroupErasure, of user: UserID) async throws {
    // A group that has ended keeps nothing.
    guard state != nil else { return }
    note(try await answer(.erase(erasure, of: user), by: .administrator))
    if outcome.code != 0 { throw Fault(text: "\(erasure) of \(user) is refused") }
  }
}
