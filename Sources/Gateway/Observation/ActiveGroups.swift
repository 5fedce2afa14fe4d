import Synchronization
import WebSocketTransport
import WireProtocol

/// Finds the groups in which most happens, from what each loop has counted in its last second.
public final class ActiveGroups: Sendable {
  private let loops = Mutex<[EventLoop]>([])

  /// Without loops it finds none.
  package init() {}

  /// The loops are made after what handles their connections.
  public func use(_ loops: [EventLoop]) { self.loops.withLock { $0 = loops } }

  /// The busiest groups of all loops.
  func busiest(_ count: Int) async -> [ActiveGroup] {
    var lists: [[ActiveGroup]] = []
    for loop in loops.withLock(\.self) {
      lists.append(
        await loop.busiestTopics(count).map { topic in
          ActiveGroup(
            groupID: topic.name, events: Int64(topic.entries), deliveries: Int64(topic.deliveries), bytes: Int64(topic.bytes),
            connections: Int64(topic.subscribers))
        })
    }
    return ActiveGroups.merge(lists, count)
  }

  /// The busiest groups of several loops or nodes.
  static func merge(_ lists: [[ActiveGroup]], _ count: Int) -> [ActiveGroup] {
    var byGroup: [String: ActiveGroup] = [:]
    for group in lists.joined() {
      let other = byGroup[group.groupID]
      byGroup[group.groupID] = ActiveGroup(
        groupID: group.groupID,
        // Each loop with members gets each event.
        events: max(other?.events ?? 0, group.events), deliveries: (other?.deliveries ?? 0) &+ group.deliveries,
        bytes: max(other?.bytes ?? 0, group.bytes), connections: (other?.connections ?? 0) &+ group.connections)
    }
    return Array(byGroup.values.sorted { ($1.deliveries, $0.groupID) < ($0.deliveries, $1.groupID) }.prefix(count))
  }
}
