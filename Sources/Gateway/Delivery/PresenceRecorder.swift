import GroupModel
import GroupRuntime

/// Tells the store when a user comes and goes, and the application by userOnline and userOffline
/// (Protocol.md, "Webhooks"). Each of these is stored like a change of a group, and posted then:
/// commits end in the order of the calls, and so a user's events keep theirs.
package struct PresenceRecorder: Sendable {
  private let types: WebhookTypes
  private let users: any UserStore
  private let groups: any GroupStore
  private let clocks: any Clocks
  /// Nil = webhooks are off.
  private let poster: (any WebhookPoster)?

  /// - Parameter types: those that are posted.
  package init(
    _ types: WebhookTypes, users: any UserStore, groups: any GroupStore, clocks: any Clocks, poster: (any WebhookPoster)?
  ) {
    self.types = types
    self.users = users
    self.groups = groups
    self.clocks = clocks
    self.poster = poster
  }

  /// The first session of a user has begun, or the last has ended.
  /// - Returns: when.
  @discardableResult
  package func note(_ user: UserID, on platform: Platform, isHere: Bool) -> WallInstant {
    let now = clocks.wall
    users.notePresence(of: user, offlineSince: isHere ? nil : now)
    post(user, on: platform, isHere: isHere, at: now)
    return now
  }

  private func post(_ user: UserID, on platform: Platform, isHere: Bool, at now: WallInstant) {
    let type = isHere ? WebhookType.userOnline : .userOffline
    guard let poster, types.contains(type) else { return }
    let entry = WebhookEntry(type, .presence(user, platform), in: .user(user), at: now)
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
