import GroupModel
import Synchronization

/// Finds the one actor of each groupID. Every ID that was asked for lately has an actor, with or
/// without a group, so that creations of one ID are decided in one place.
public final class GroupRegistry: Sendable {
  private struct State {
    var groups: [GroupID: Group] = [:]
    var executors: [any GroupExecutor]
  }

  private let state: Mutex<State>
  /// The loaded groups of which all signed-in users are members.
  private let groupsOfEveryone = Mutex<[GroupID: Group]>([:])
  private let services: GroupServices
  private let resident = ResidentGroups()
  /// What groups that left memory know of slow mode.
  let slowModes = SlowModeMemory()

  /// A registry that distributes groups over executors; `use` must bring some if there are none.
  public init(services: GroupServices, executors: [any GroupExecutor]) {
    self.services = services
    state = Mutex(State(executors: executors))
  }

  /// Distributes later groups over these executors, which a server creates after the registry.
  public func use(_ executors: [any GroupExecutor]) { state.withLock { $0.executors = executors } }

  /// The actor of a groupID; created if there is none.
  public func group(_ id: GroupID) -> Group {
    state.withLock { state in
      if let group = state.groups[id] { return group }
      precondition(!state.executors.isEmpty, "a group was asked for before there was an executor")
      let executor = state.executors[Int(UInt(bitPattern: id.hashValue) % UInt(state.executors.count))]
      let group = Group(id, executor: executor, services: services, registry: self)
      state.groups[id] = group
      return group
    }
  }

  /// The actor of a groupID, if there is one.
  public func resident(_ id: GroupID) -> Group? { state.withLock { $0.groups[id] } }

  /// Notifies groups of a change in a user's sessions, and waits for them. Groups that are not
  /// loaded look for sessions when they are; live rooms are loaded for a user who was away.
  public func presenceChanged(_ presence: Group.Presence, in memberships: [Membership]) async {
    await notify(presence, to: memberships.filter { $0.type != .avChatRoom }.compactMap { resident($0.groupID) })
    let rooms = memberships.filter { $0.type == .avChatRoom }.map(\.groupID)
    let residentRooms = presence.awaySince == nil ? rooms.compactMap { resident($0) } : rooms.map { group($0) }
    // Without an actor, a live room does not notice the end of this user's sessions.
    if residentRooms.count < rooms.count { services.broker.noteSuspendedRoom(of: [presence.user]) }
    await notify(presence, to: residentRooms)
    await notify(presence, to: groupsOfEveryone.withLock { Array($0.values) })
  }

  /// Whether `presenceChanged` may have somebody to tell.
  public func hasGroups(in memberships: [Membership]) -> Bool {
    !memberships.isEmpty || groupsOfEveryone.withLock { !$0.isEmpty }
  }

  private func notify(_ presence: Group.Presence, to groups: [Group]) async {
    for group in groups {
      await withCheckedContinuation { continuation in
        group.enqueue(.presence(presence) { continuation.resume() })
      }
    }
  }

  /// The store has removed messages. A group that is not in memory finds them gone when it loads.
  public func note(_ removal: HistoryRemoval) { resident(removal.groupID)?.enqueue(.removal(removal)) }

  /// What this process's live rooms remember of a user, and nobody has recalled.
  public func rememberedMessages(of user: UserID) -> [RememberedMessages] {
    services.recent?.messages(of: user, at: services.clocks.monotonic) ?? []
  }

  /// The number of actors.
  public var residentCount: Int { state.withLock { $0.groups.count } }

  /// The number of groups that are not in memory, and of whose slow mode something is known.
  public var slowModeCount: Int { slowModes.count }

  /// Retires idle groups of owners whose groups take too much memory.
  public func retireExcess() {
    let groups = ResidentGroups.excessive(among: state.withLock { Array($0.groups.values) })
    for group in groups {
      group.executor.perform { group.assumeIsolated { $0.retire(unusedFor: ResidentGroups.shortIdleTime) } }
    }
  }

  /// A group was loaded; others that were only read may retire for it.
  func noteLoaded(_ group: Group, bytes: Int) {
    for other in resident.didLoad(group, bytes: bytes) {
      other.executor.enqueue { other.assumeIsolated { $0.retireIfOnlyRead() } }
    }
  }

  /// A group that was to retire is busy.
  func keepOnlyRead(_ group: Group, bytes: Int) { resident.keep(group, bytes: bytes) }

  /// Retires groups that were unused for so long.
  public func retireGroups(unusedFor duration: Duration) {
    for group in state.withLock({ Array($0.groups.values) }) {
      group.executor.perform { group.assumeIsolated { $0.retire(unusedFor: duration) } }
    }
  }

  // MARK: Several nodes

  /// Lets groups go that another node is to decide for. Returns when they are not in memory any more, and
  /// what the live rooms among them remembered neither.
  public func release(where isReleased: (GroupID) -> Bool) async {
    let groups = state.withLock { $0.groups }.filter { isReleased($0.key) }.map(\.value)
    let start = services.clocks.monotonic
    await withTaskGroup { tasks in
      for group in groups {
        tasks.addTask {
          await withCheckedContinuation { continuation in
            group.executor.perform { group.assumeIsolated { $0.release(since: start) { continuation.resume() } } }
          }
        }
      }
    }
    // Also of groups that were not in memory: the next owner's messages would be missing in it.
    services.recent?.removeAll(where: isReleased)
    slowModes.removeAll(where: isReleased)
  }

  /// Drops all groups: other nodes decide for them now.
  public func abandonGroups() {
    for group in state.withLock({ Array($0.groups.values) }) {
      group.executor.perform { group.assumeIsolated { $0.abandon() } }
    }
    services.recent?.removeAll { _ in true }
    slowModes.removeAll { _ in true }
  }

  /// A group of everybody was loaded or created.
  func noteEveryoneIsMember(of group: Group) { groupsOfEveryone.withLock { $0[group.id] = group } }

  /// A group retires; its ID may have another actor by now.
  func forget(_ group: Group) {
    groupsOfEveryone.withLock { groups in
      if groups[group.id] === group { groups[group.id] = nil }
    }
    state.withLock { state in
      if state.groups[group.id] === group { state.groups[group.id] = nil }
    }
  }
}
