import Cluster
import GroupModel
import WireProtocol

/// The entries of one trace on all nodes, in one numbering: the node on which the trace was begun keeps
/// it (Cluster.md, "Answers of all nodes").
struct MergedTrace: Sendable {
  private var entries: [TraceEntry] = []
  /// The number of the first entry that is kept, from 1.
  private var first: Int64 = 1
  private var lost: Int64 = 0
  /// The number of the next entry of each node.
  private var positions: [NodeNumber: Int64] = [:]

  private var next: Int64 { first + Int64(entries.count) }

  /// The number of the next entry of a node.
  func position(of node: NodeNumber) -> Int64 { positions[node] ?? 1 }

  /// Adds new entries, by time. Those of a later call stand behind them, whatever their time.
  mutating func add(_ batches: [(node: NodeNumber, batch: TraceBatch)]) {
    var found: [TraceEntry] = []
    for (node, batch) in batches {
      positions[node] = batch.next
      lost &+= batch.lost
      found += batch.entries
    }
    // Entries of one node and instant keep their order.
    entries += found.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(\.element)
    let excess = max(0, entries.count - TraceTable.maxEntries)
    entries.removeFirst(excess)
    first += Int64(excess)
    lost += Int64(excess)
  }

  /// A page of entries from a number on.
  /// - Parameter isOver: no node notes anything more.
  func page(from position: Int64, count: Int, endTime: WallInstant, isOver: Bool) -> GetTrace.Result {
    let begin = min(max(position, first), next)
    let page = entries[Int(begin - first)...].prefix(count)
    let end = begin + Int64(page.count)
    return GetTrace.Result(
      entryList: Array(page), nextSeq: isOver && end == next ? 0 : end, endTime: endTime, lost: lost)
  }
}

/// The names of traces. On several nodes a name tells the node that keeps the trace.
enum TraceID {
  static func make(on node: NodeNumber?) -> String {
    let name = String(UInt64.random(in: .min ... .max), radix: 36)
    return node.map { "\($0)-\(name)" } ?? name
  }

  /// The node that keeps the trace; nil where the name tells none.
  static func node(of id: String) -> NodeNumber? {
    guard let end = id.firstIndex(of: "-"), let number = Int64(id[..<end]), number > 0 else { return nil }
    return NodeNumber(number)
  }
}
