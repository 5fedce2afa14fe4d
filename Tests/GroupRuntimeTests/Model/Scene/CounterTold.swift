import ThrongTestKit

/// The rules of onGroupCounterChanged: it names the counters that changed, with their values or null,
/// merged, "at most 5 in any second and group, and the last state always arrives" (Protocol.md,
/// "Counters"). Its instant is not specified.
struct CounterTold {
  private var epoch: JSON?
  private var told: [String: JSON] = [:]
  private var times: [Int64] = []

  init() {}

  private init(epoch: JSON) { self.epoch = epoch }

  /// Looks at the counter events of one operation.
  /// - Returns: what is wrong with them, or nil.
  mutating func fault(_ events: [GroupScene.Outcome.Event], _ world: ModelWorld, nextWake: Int64?) -> String? {
    guard let group = world.group else { return events.isEmpty ? nil : "counters of no group are told" }
    if group.epoch != epoch { self = CounterTold(epoch: group.epoch) }
    let now = group.counters.mapValues { JSON.int($0) }
    for event in events {
      let named = event.params["counters"].members
      if named.isEmpty { return "an event names no counter" }
      if let wrong = named.first(where: { $0.value != now[$0.key] ?? .null }) { return "\(wrong) is told, not \(now)" }
      if event.receivers != world.sessions(of: world.everybody) { return "counters are told to \(event.receivers.sorted())" }
      if event.params.names != ["counters", "groupID", "opTime"] { return "params of \(event.params.text)" }
      let time = event.params["opTime"].integer ?? 0
      times = times.filter { $0 >= time - 1000 } + [time]
      if times.count > 5 { return "\(times.count) counter events in a second" }
      told = told.merging(named) { $1 }.filter { $0.value != .null }
    }
    // Without a session there is no receiver to miss it, and after a restart no second has begun.
    if world.sessions.isEmpty { (told, times) = (now, []) }
    if told == now { return nil }
    guard let nextWake else { return "the last counters are not told" }
    return nextWake <= world.now || nextWake > world.now + 1000 ? "counters are told at \(nextWake), now is \(world.now)" : nil
  }
}
