import Cluster
import GroupModel
import GroupRuntime
import WireProtocol

/// Keeps what the store and the timers know of the presence of the users whose shards this node
/// owns.
package final class PresenceKeeper: Sendable {
  private let presence: ClusterPresence
  private let store: any PresenceStore
  private let recorder: PresenceRecorder
  private let timers: AbsenceTimers
  private let clocks: any Clocks
  /// `avChatRoom.offlineGrace`.
  private let grace: Duration
  private let observer: StoreObserver

  /// - Parameter grace: `avChatRoom.offlineGrace`.
  package init(
    _ presence: ClusterPresence, store: any PresenceStore, recorder: PresenceRecorder, timers: AbsenceTimers,
    clocks: any Clocks, grace: Duration, observer: StoreObserver
  ) {
    self.presence = presence
    self.store = store
    self.recorder = recorder
    self.timers = timers
    self.clocks = clocks
    self.grace = grace
    self.observer = observer
  }

  /// Brings the store up to date with the presence of users whose shards this node has just got:
  /// their last owner may not have noted the latest changes.
  func correct(of shards: Set<Shard>) async {
    do throws(StoreError) {
      let stored = Set(try await store.usersOnline().filter { shards.contains(Shard(of: $0)) })
      let online = Set(presence.onlineUsers { shards.contains(Shard(of: $0)) })
      for user in online.subtracting(stored) { presenceChanged(user, .unknown, isOnline: true) }
      for user in stored.subtracting(online) { presenceChanged(user, .unknown, isOnline: false) }
      try await startGraces(of: shards)
    } catch {
      observer.storeFailed(error)
    }
  }

  /// Starts the graces of members of live rooms who are offline: their timers may have gone with
  /// the last owner.
  private func startGraces(of shards: Set<Shard>) async throws(StoreError) {
    let now = clocks.wall
    let offline = try await store.roomMembersOffline(since: now - grace)
    for (user, since) in offline where shards.contains(Shard(of: user)) && !presence.isPresent(user) {
      timers.start(for: user, since: since, at: clocks.monotonic)
    }
  }
}

extension PresenceKeeper: PresenceObserver {
  func presenceChanged(_ user: UserID, _ platform: Platform, isOnline: Bool) {
    let now = recorder.note(user, on: platform, isHere: isOnline)
    // A live room that is not in memory notices nothing, on whichever node.
    if isOnline {
      timers.cancel(for: user)
    } else {
      timers.start(for: user, since: now, at: clocks.monotonic)
    }
  }
}
