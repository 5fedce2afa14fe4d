import GroupModel
import Synchronization

/// Finds the one actor of each groupID. An actor exists for every ID that was asked for lately, whether there is such a group or not, so that
/// making a group and finding it taken happen in one place.
public final class GroupRegistry: Sendable {
  private struct State {
    var groups: [GroupID: Group] = [:]
    var executors: [any GroupExecutor]
  }

  private let state: Mutex<State>
  /// Those in memory that everyone signed in is a member of.
  private let groupsOfEveryone = Mutex<[GroupID: Group]>([:])
  private let services: GroupServices
  private let resident = ResidentGroups()

  /// A registry whose groups are spread over the executors. Without any, it must be given some before a group is asked for.
  public init(services: GroupServices, executors: [any GroupExecutor]) {
    self.services = services
    state = Mutex(State(executors: executors))
  }

  /// Spreads the groups to come over these executors. For a start in which the executors come to be after the registry.
  public func use(_ executors: [any GroupExecutor]) { state.withLock { $0.executors = executors } }

  /// The actor of a groupID; made when there is none.
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

  /// The actor of a groupID where there is one in memory.
  public func resident(_ id: GroupID) -> Group? { state.withLock { $0.groups[id] } }

  /// Tells groups that sessions of a user came or went, and waits until they have taken note. Those that are not in memory look for
  /// themselves when they are loaded; of a user who had been away, live rooms are.
  public func presenceChanged(_ presence: Group.Presence, in memberships: [Membership]) async {
    await tell(presence, to: memberships.filter { $0.type != .avChatRoom }.compactMap { resident($0.groupID) })
    let rooms = memberships.filter { $0.type == .avChatRoom }.map(\.groupID)
    let residentRooms = presence.awaySince == nil ? rooms.compactMap { resident($0) } : rooms.map { group($0) }
    // A room that is not in memory does not notice that this user goes again.
    if residentRooms.count < rooms.count { services.broker.noteSuspendedRoom(of: [presence.user]) }
    await tell(presence, to: residentRooms)
    await tell(presence, to: groupsOfEveryone.withLock { Array($0.values) })
  }

  private func tell(_ presence: Group.Presence, to groups: [Group]) async {
    for group in groups {
      await withCheckedContinuation { continuation in
        group.presenceChanged(presence) { continuation.resume() }
      }
    }
  }

  /// How many actors there are.
  public var residentCount: Int { state.withLock { $0.groups.count } }

  /// Lets groups go whose owner has more in memory than one owner may, but for those that are in use.
  public func retireExcess() {
    let groups = ResidentGroups.excessive(among: state.withLock { Array($0.groups.values) })
    for group in groups {
      group.executor.perform { group.assumeIsolated { $0.retire(unusedFor: ResidentGroups.shortIdleTime) } }
    }
  }

  /// Called by a group that has been loaded.
  func noteLoaded(_ group: Group, bytes: Int) {
    for other in resident.didLoad(group, bytes: bytes) {
      other.executor.enqueue { other.assumeIsolated { $0.retireIfOnlyRead() } }
    }
  }

  /// Called by a group that was to go and is busy.
  func keepOnlyRead(_ group: Group, bytes: Int) { resident.keep(group, bytes: bytes) }

  /// Lets groups that nobody used for so long give up their memory, however the wall clock was set meanwhile.
  public func retireGroups(unusedFor duration: Duration) {
    for group in state.withLock({ Array($0.groups.values) }) {
      group.executor.perform { group.assumeIsolated { $0.retire(unusedFor: duration) } }
    }
  }

  /// Called by a group that has turned out to have everyone as a member.
  func noteEveryoneIsMember(of group: Group) { groupsOfEveryone.withLock { $0[group.id] = group } }

  /// Called by a group that retires; another actor may have its ID by now.
  func forget(_ group: Group) {
    groupsOfEveryone.withLock { groups in
      if groups[group.id] === group { groups[group.id] = nil }
    }
    state.withLock { state in
      if state.groups[group.id] === group { state.groups[group.id] = nil }
    }
  }
}
