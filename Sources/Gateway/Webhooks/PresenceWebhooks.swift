import GroupModel
import GroupRuntime

/// userOnline and userOffline (Protocol.md, "Webhooks"). Each is stored like a change of a group, and
/// posted then: commits end in the order of the calls, and so a user's events keep theirs.
struct PresenceWebhooks: Sendable {
  private let types: WebhookTypes
  private let groups: any GroupStore
  private let clocks: any Clocks
  /// Nil = webhooks are off.
  private let poster: (any WebhookPoster)?

  init(_ types: WebhookTypes, groups: any GroupStore, clocks: any Clocks, poster: (any WebhookPoster)?) {
    self.types = types
    self.groups = groups
    self.clocks = clocks
    self.poster = poster
  }

  /// The first session of a user has begun, or the last has ended.
  func note(_ user: UserID, on platform: Platform, isHere: Bool) {
    let type = isHere ? WebhookType.userOnline : .userOffline
    guard let poster, types.contains(type) else { return }
    let entry = WebhookEntry(type, .presence(user, platform), in: .user(user), at: clocks.wall)
    groups.commit(
      Commit(changes: [.appendWebhook(entry)], generation: CommitGeneration()) { answer in
        switch answer {
        case .success(let stored): for entry in stored { poster.post(entry) }
        // It goes on in memory: nobody waits for it to be durable.
        case .failure: poster.post(entry)
        }
      })
  }
}
