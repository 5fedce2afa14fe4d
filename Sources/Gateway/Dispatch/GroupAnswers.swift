import Cluster
import GroupModel
import GroupRuntime
import WireProtocol

/// The rows of an answer over several groups, in their order. On several nodes each is asked for
/// many rows at once, before their turn (Cluster.md, "The path of a request").
struct GroupAnswers {
  private let dispatcher: Dispatcher
  private let caller: Caller
  private let count: Int
  private let request: (Int) -> RowRequest?
  private var index = 0
  private var asked = 0
  private var ahead = RowsAhead()

  /// - Parameters:
  ///   - count: how many rows there are.
  ///   - request: a row by its place; nil = its name is none of a group.
  init(_ dispatcher: Dispatcher, _ count: Int, by caller: Caller, _ request: @escaping (Int) -> RowRequest?) {
    self.dispatcher = dispatcher
    self.caller = caller
    self.count = count
    self.request = request
  }

  /// The answer to the next row.
  /// - Parameters:
  ///   - wanted: how many rows, this one included, are needed if all of them have a value.
  ///   - bytesLeft: the most that a row of syncGroups may have.
  mutating func next(wanted: Int = .max, bytesLeft: Int = .max) async -> Reply {
    defer { index += 1 }
    guard var row = request(index) else { return .error(.badGroupID) }
    row.operation = row.operation.bounded(to: bytesLeft)
    guard let router = dispatcher.router else {
      return await dispatcher.registry.group(row.group).ask(row.operation.operation, by: caller)
    }
    if let reply = take(bytesLeft) { return reply }
    await askNodes(wanted, bytesLeft, router)
    if let reply = take(bytesLeft) { return reply }
    // No node leads it now: it waits for one, and later rows are asked for with the next.
    return await dispatcher.row(row, by: caller, router)
  }

  private mutating func take(_ bytesLeft: Int) -> Reply? {
    defer { ahead.remove(index) }
    return ahead.reply(at: index, bytesLeft: bytesLeft)
  }

  /// Asks for the rows from `index` on, all nodes at once.
  private mutating func askNodes(_ wanted: Int, _ bytesLeft: Int, _ router: ShardRouter) async {
    // Where rows have no value, more are needed than it seems.
    let end = index + min(RowBounds.ahead, max(wanted, 2 * asked), count - index)
    let missing = ahead.missing(in: index..<end, bytesLeft: bytesLeft)
    var rows: [Int: RowRequest] = [:]
    for place in missing {
      guard var row = request(place) else { continue }
      row.operation = row.operation.bounded(to: bytesLeft)
      rows[place] = row
    }
    asked += rows.count
    let round = RowRound(missing.filter { rows[$0] != nil }) { place in
      rows[place].map { router.route(to: Shard(of: $0.group)) } ?? .nobody
    }
    for (place, reply) in await dispatcher.rows(round, rows, by: caller, router) {
      ahead.add(reply, at: place, bytesAsked: bytesLeft)
    }
  }
}
