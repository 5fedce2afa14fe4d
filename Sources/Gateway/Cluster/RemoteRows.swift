import Cluster
import GroupModel
import GroupRuntime
import WireProtocol

/// A row of an answer over several groups, as a group is asked for it.
struct RowRequest: Sendable, Equatable {
  var operation: RowOperation
  let group: GroupID
}

/// A node's answer to a row.
enum RowReply: Sendable {
  /// The node does not lead the group, and has done nothing.
  case moved
  case reply(Reply)
}

/// The bounds of requests for rows (Cluster.md, "The path of a request").
enum RowBounds {
  /// The most rows that one request asks for.
  static let rows = 256
  /// A node answers no further row behind so many bytes, or so much time: the others are asked for again.
  static let bytes = 256 << 10
  static let time = Duration.seconds(2)
  /// The most requests that one answer has in flight.
  static let inFlight = 8
  /// The most rows that are asked for before their turn.
  static let ahead = 512
}

extension GroupRegistry {
  /// Asks groups of this node for rows, one after the other.
  /// - Returns: the answers to the first rows, one at least.
  func rows(_ rows: [RowRequest], by caller: Caller, _ router: ShardRouter, _ clocks: any Clocks) async -> [RowReply] {
    let end = clocks.monotonic + RowBounds.time
    var replies: [RowReply] = []
    var bytes = 0
    for row in rows.prefix(RowBounds.rows) {
      guard router.leads(row.group) else {
        replies.append(.moved)
        continue
      }
      let reply = await group(row.group).ask(row.operation.leaving(bytes).operation, by: caller).encodingRow()
      replies.append(.reply(reply))
      bytes += reply.rowBytes
      if bytes >= RowBounds.bytes || clocks.monotonic >= end || Requester.hasLeft { break }
    }
    return replies
  }
}

extension RowOperation {
  /// The operation where other rows have taken a part of the bytes.
  func leaving(_ taken: Int) -> RowOperation {
    guard case .sync(let epoch, let seq, let changeSeq, let bytes) = self else { return self }
    return .sync(epoch: epoch, seq: seq, changeSeq: changeSeq, bytes: max(0, bytes - taken))
  }

  /// The operation with another bound of its bytes.
  func bounded(to bytes: Int) -> RowOperation {
    guard case .sync(let epoch, let seq, let changeSeq, _) = self else { return self }
    return .sync(epoch: epoch, seq: seq, changeSeq: changeSeq, bytes: bytes)
  }
}

extension Reply {
  /// The same reply with its row encoded, so that it is encoded once.
  fileprivate func encodingRow() -> Reply {
    switch self {
    case .success(.groupInfo(let info?)): .success(.encoded(Encoded(info, capacity: 768).text))
    case .success(.syncRow(let row)): .success(.encoded(Encoded(row, capacity: row.capacity).text))
    default: self
    }
  }

  /// The bytes that an encoded row takes in a list.
  var rowBytes: Int {
    if case .success(.encoded(let text)) = self { text.count + 1 } else { 1 }
  }
}

/// The rows of one round, by the nodes that are asked for them. Rows are named by their place.
struct RowRound: Sendable, Equatable {
  struct Batch: Sendable, Equatable {
    let node: NodeNumber
    var rows: [Int]
  }

  private(set) var here: [Int] = []
  /// In the order of their first rows.
  private(set) var batches: [Batch] = []

  /// - Parameters:
  ///   - rows: in their order. Those of one node beyond `RowBounds.rows`, and those without an owner, are
  ///     left out.
  init(_ rows: [Int], route: (Int) -> ShardRouter.Route) {
    for row in rows {
      switch route(row) {
      case .nobody: break
      case .here: if here.count < RowBounds.rows { here.append(row) }
      case .node(let node):
        guard let index = batches.firstIndex(where: { $0.node == node }) else {
          batches.append(Batch(node: node, rows: [row]))
          continue
        }
        if batches[index].rows.count < RowBounds.rows { batches[index].rows.append(row) }
      }
    }
  }
}

/// Answers that have come before their turn.
struct RowsAhead: Sendable {
  private struct Answer: Sendable {
    let reply: Reply
    /// The bytes that were left when it was asked for.
    let bytesAsked: Int

    /// Whether it may stand where so many bytes are left.
    func fits(in bytes: Int) -> Bool { bytesAsked <= bytes || reply.rowBytes <= bytes }
  }

  private var answers: [Int: Answer] = [:]

  mutating func add(_ reply: Reply, at index: Int, bytesAsked: Int) {
    answers[index] = Answer(reply: reply, bytesAsked: bytesAsked)
  }

  /// The answer whose turn it is; nil = it has to be asked for, or to be made shorter.
  func reply(at index: Int, bytesLeft: Int) -> Reply? {
    answers[index].flatMap { $0.fits(in: bytesLeft) ? $0.reply : nil }
  }

  mutating func remove(_ index: Int) { answers[index] = nil }

  /// The rows that have to be asked for.
  mutating func missing(in rows: Range<Int>, bytesLeft: Int) -> [Int] {
    // Bytes become fewer: what does not fit now will not later.
    answers = answers.filter { $0.value.fits(in: bytesLeft) }
    return rows.filter { answers[$0] == nil }
  }
}
