import Cluster
import GroupModel
import Synchronization

/// The open topics of the groups that this node decides for.
package final class OwnTopics: Sendable {
  private struct Entry {
    weak var topic: ClusterTopic?
  }

  private let topics = Mutex<[GroupID: Entry]>([:])

  /// None.
  package init() {}

  func add(_ topic: ClusterTopic, of group: GroupID) { topics.withLock { $0[group] = Entry(topic: topic) } }

  /// A later topic of the same group stays.
  func remove(_ topic: ClusterTopic, of group: GroupID) {
    topics.withLock { topics in
      if let known = topics[group]?.topic, known !== topic { return }
      topics[group] = nil
    }
  }

  private func topic(of group: GroupID) -> ClusterTopic? { topics.withLock { $0[group]?.topic } }

  /// Whether a node with members has been told to follow the group.
  func isFollowed(_ group: GroupID, by node: NodeNumber) -> Bool { topic(of: group)?.isFollowed(by: node) ?? false }

  /// Tells a node once more that it follows the group.
  /// - Returns: false where it does not, or the group is not in memory.
  func follow(_ group: GroupID, by node: NodeNumber) -> Bool { topic(of: group)?.follow(by: node) ?? false }

  /// A node hears this one from now on, and nothing of before: it follows all groups of its users anew.
  func didOpenLink(to node: NodeNumber) {
    for topic in topics.withLock({ $0.values.compactMap(\.topic) }) { _ = topic.follow(by: node) }
  }
}
