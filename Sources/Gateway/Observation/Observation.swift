import Cluster
import GroupModel
import GroupRuntime
import Synchronization
import WireProtocol

/// The present work of the server, of all its nodes (Protocol.md, "Observation").
package final class Observation: Sendable {
  /// How many groups of each node are looked at: one that is busy on all may be beyond the page on each.
  private static let groupsOfANode = 200

  let tracer: Tracer
  private let activeGroups: ActiveGroups
  private let actions: AdministratorActions
  /// Nil = there are none.
  private let nodes: OtherNodes?
  private let startTime: MonotonicInstant
  private let clocks: any Clocks
  /// What this node has read of the traces that were begun on it.
  private let merged = Mutex<[String: MergedTrace]>([:])
  private let turns = TurnQueue<String>()

  /// - Parameter nodes: nil = this node is alone.
  package init(
    tracer: Tracer, activeGroups: ActiveGroups, actions: AdministratorActions, nodes: OtherNodes?, clocks: any Clocks
  ) {
    self.tracer = tracer
    self.activeGroups = activeGroups
    self.actions = actions
    self.nodes = nodes
    self.clocks = clocks
    startTime = clocks.monotonic
  }

  // MARK: Traces

  /// How many traces are kept: those of this node, and what it has read of those that were begun here.
  var traceCount: Int { tracer.count + merged.withLock { $0.count } }

  /// Begins a trace. All nodes that answer note from the reply on; others from the moment at which
  /// they are heard.
  func begin(_ request: BeginTrace) async -> Reply {
    if let nodes, nodes.own == nil { return .error(.temporary) }
    let id = TraceID.make(on: nodes?.own)
    let endTime = tracer.begin(request.subject, id: id, for: request.duration)
    _ = await nodes?.ask("trace") { _ in .beginTrace(id, request.subject, request.duration) }
    return .success(.trace(BeginTrace.Result(traceID: id, endTime: endTime)))
  }

  /// A node hears this one from now on: it traces what is traced here.
  func didOpenLink(to node: NodeNumber) {
    for trace in tracer.running where TraceID.node(of: trace.id) == nodes?.own {
      nodes?.tell(.beginTrace(trace.id, trace.subject, trace.left), to: node)
    }
  }

  /// Reads a trace, where it was begun.
  func read(_ request: GetTrace) async -> Reply {
    guard let nodes else {
      guard let page = tracer.page(of: request) else { return Observation.unknown }
      return .success(.traceEntries(page))
    }
    guard let node = TraceID.node(of: request.traceID) else { return Observation.unknown }
    if node == nodes.own { return await readHere(request.traceID, from: request.nextSeq, count: request.count, nodes) }
    guard nodes.all.contains(node) else { return Observation.unknown }
    let outcome = await nodes.outcome(
      of: .readTrace(request.traceID, from: request.nextSeq, count: request.count), from: node)
    guard case .reply(.reply(let reply)) = outcome else { return .error(.temporary) }
    return reply
  }

  /// Reads a trace that was begun on this node.
  func readHere(_ id: String, from position: Int64, count: Int) async -> Reply {
    guard let nodes else { return Observation.unknown }
    return await readHere(id, from: position, count: count, nodes)
  }

  private func readHere(_ id: String, from position: Int64, count: Int, _ nodes: OtherNodes) async -> Reply {
    guard let own = nodes.own, TraceID.node(of: id) == own, tracer.endTime(of: id) != nil else { return Observation.unknown }
    // Two readers would add the same entries twice.
    await turns.acquire(id)
    defer { turns.release(id) }
    var trace = merged.withLock { $0[id] } ?? MergedTrace()
    let others = nodes.all
    let positions = Dictionary(uniqueKeysWithValues: others.map { ($0, trace.position(of: $0)) })
    let answers = await nodes.ask("getTrace", of: others) { .traceEntries(id, from: positions[$0] ?? 1) }
    guard let ownBatch = tracer.batch(of: id, from: trace.position(of: own)), let endTime = tracer.endTime(of: id) else {
      return Observation.unknown
    }
    var isOver = ownBatch.isOver && answers.count == others.count
    var batches = [(node: own, batch: ownBatch)]
    for (node, reply) in answers {
      // Nil: it has forgotten the trace.
      guard case .traceEntries(let batch?) = reply else { continue }
      isOver = isOver && batch.isOver
      batches.append((node, batch))
    }
    trace.add(batches.sorted { $0.node < $1.node })
    merged.withLock { [trace] merged in
      merged[id] = trace
      merged = merged.filter { tracer.endTime(of: $0.key) != nil }
    }
    return .success(.traceEntries(trace.page(from: position, count: count, endTime: endTime, isOver: isOver)))
  }

  /// Ends a trace on all nodes.
  func end(_ request: EndTrace) async -> Reply {
    var isKnown = endHere(request.traceID)
    if let nodes, let node = TraceID.node(of: request.traceID) {
      let answers = await nodes.ask("endTrace") { _ in .endTrace(request.traceID) }
      guard node == nodes.own || answers.contains(where: { $0.node == node }) || !nodes.all.contains(node) else {
        return .error(.temporary)
      }
      isKnown = isKnown || answers.contains { if case .count(1) = $0.reply { true } else { false } }
    }
    return isKnown ? .empty : Observation.unknown
  }

  /// Ends a trace on this node.
  /// - Returns: false where there is none.
  func endHere(_ id: String) -> Bool {
    merged.withLock { $0[id] = nil }
    return tracer.end(id)
  }

  /// A node has gone: nobody reads its traces.
  func didGo(_ node: NodeNumber) { tracer.forget { TraceID.node(of: $0) == node } }

  /// This node has lost its lease, and comes back with another number.
  func didLoseLease() {
    tracer.forget { _ in true }
    merged.withLock { $0 = [:] }
  }

  private static let unknown = Reply.error(.badValue, "There is no such trace", field: "traceID")

  // MARK: Groups and administrators

  /// The busiest groups of all nodes.
  func busiest(_ request: ListActiveGroups) async -> Reply {
    guard let nodes else {
      return .success(.activeGroups(ListActiveGroups.Result(groupList: await activeGroups.busiest(request.count))))
    }
    async let own = busiestHere()
    var lists: [[ActiveGroup]] = []
    for case (_, .activeGroups(let groups)) in await nodes.ask("listActiveGroups", { _ in .activeGroups }) {
      lists.append(groups)
    }
    lists.append(await own)
    return .success(.activeGroups(ListActiveGroups.Result(groupList: ActiveGroups.merge(lists, request.count))))
  }

  /// The busiest groups of this node.
  func busiestHere() async -> [ActiveGroup] { await activeGroups.busiest(Observation.groupsOfANode) }

  /// A page of the latest actions of administrators, the newest first.
  func actions(_ request: ListAdministratorActions) async -> Reply {
    let place = ActionPlace(nextSeq: request.nextSeq)
    let count = place.needed(for: request.count)
    var lists: [(node: NodeNumber?, actions: [AdministratorAction])] = []
    lists.append((nodes?.own, actionsHere(count, through: place.time)))
    if let nodes {
      let answers = await nodes.ask("listAdministratorActions") { _ in .administratorActions(count, through: place.time) }
      for case (let node, .administratorActions(let actions)) in answers { lists.append((node, actions)) }
    }
    let sorted = lists.sorted { ($0.node?.rawValue ?? 0) < ($1.node?.rawValue ?? 0) }
    return .success(.administratorActions(place.page(request.count, of: sorted.map(\.actions))))
  }

  /// The latest actions of administrators on this node.
  func actionsHere(_ count: Int, through instant: WallInstant) -> [AdministratorAction] {
    actions.newest(count, through: instant)
  }

  // MARK: Uptime

  /// For how long the node that has run longest has been running, in seconds.
  func uptime() async -> Int64 {
    var longest = uptimeHere
    for case (_, .count(let seconds)) in await nodes?.ask("getStats", { _ in .uptime }) ?? [] { longest = max(longest, seconds) }
    return longest
  }

  /// For how long this node has been running, in seconds.
  var uptimeHere: Int64 { (clocks.monotonic - startTime).components.seconds }
}
