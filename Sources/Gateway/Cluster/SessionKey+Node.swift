import Cluster
import GroupRuntime

/// The key of a session on another node: the node's number is in the upper bits of `loop`, so it
/// equals no key of a session here, and a message costs no more.
extension SessionKey {
  private static let loopBits = 16

  /// - Parameter node: nil = this one.
  init(on node: NodeNumber?, loop: Int, connection: UInt64) {
    precondition(loop >> SessionKey.loopBits == 0, "a loop's number has 16 bits")
    self.init(loop: Int(node?.rawValue ?? 0) << SessionKey.loopBits | loop, connection: connection)
  }

  /// The node of the session; nil = this one.
  var node: NodeNumber? {
    let number = loop >> SessionKey.loopBits
    return number == 0 ? nil : NodeNumber(Int64(number))
  }

  /// The number of the loop on its node.
  var loopOnNode: Int { loop & (1 << SessionKey.loopBits - 1) }
}
