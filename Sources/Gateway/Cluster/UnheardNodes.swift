import Cluster
import GroupModel

/// The nodes that renew their leases, and are not heard on the bus all the same: each decides for groups
/// that this node cannot reach (Cluster.md, "A node that is not heard").
///
/// A node that has ended is not among them: it gives no sign of life. Two signs are waited for, because
/// the first may be of before.
struct UnheardNodes: Sendable, Equatable {
  private struct Absence: Equatable {
    let since: MonotonicInstant
    /// How often the node had given a sign of life by then.
    let signs: Int
  }

  /// For how long a link may take that begins, or begins again.
  private static let patience = IncomingLink.silence
  private static let signs = 2

  private var absences: [NodeNumber: Absence] = [:]
  /// Ascending.
  private(set) var nodes: [NodeNumber] = []

  /// Takes the nodes of the view with which a link is missing, each with the count of its signs of life.
  /// - Returns: whether other nodes than before are not heard.
  mutating func note(_ missing: [NodeNumber: Int], at now: MonotonicInstant) -> Bool {
    absences = missing.reduce(into: [:]) { kept, node in
      kept[node.key] = absences[node.key] ?? Absence(since: now, signs: node.value)
    }
    let unheard = absences.filter { node, absence in
      now >= absence.since + UnheardNodes.patience && missing[node, default: 0] >= absence.signs + UnheardNodes.signs
    }
    defer { nodes = unheard.keys.sorted() }
    return nodes != unheard.keys.sorted()
  }
}
