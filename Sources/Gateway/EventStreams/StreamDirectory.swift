import Cluster
import GroupModel
import Synchronization

/// The event streams of this node that have signed in, by the keys of their requests.
package final class StreamDirectory: Sendable {
  private let keys: StreamKeys
  /// Nil = this node is alone.
  private let membership: (any ClusterMembership)?
  private let sessions = Mutex<[StreamName: Session]>([:])

  /// A directory without streams.
  /// - Parameter ports: nil = this node is alone.
  package init(_ ports: ClusterPorts?) {
    keys = StreamKeys(ports?.key)
    membership = ports?.membership
  }

  private var ownNode: Int64 { membership?.node?.rawValue ?? 0 }

  /// Adds a session that has signed in.
  /// - Returns: its key, and the name by which it is removed.
  func add(_ session: Session) -> (name: StreamName, key: String) {
    let name = StreamName(node: ownNode, id: RandomID.with128Bits())
    sessions.withLock { $0[name] = session }
    return (name, keys.key(of: name))
  }

  /// The stream has ended: its key is good for nothing any more.
  func remove(_ name: StreamName) { sessions.withLock { $0[name] = nil } }

  /// The stream that a key names, which may have ended; nil where no node has made the key.
  func name(in key: String) -> StreamName? { keys.name(in: key) }

  /// The session of a stream; nil where it has ended, or is another node's.
  func session(of name: StreamName) -> Session? { sessions.withLock { $0[name] } }

  /// The other node that has a stream; nil = this one.
  func otherNode(of name: StreamName) -> NodeNumber? { name.node == ownNode ? nil : NodeNumber(name.node) }

  /// How many streams have signed in.
  var count: Int { sessions.withLock { $0.count } }
}
