import ThrongTestKit

/// The rules of onGroupAttributeChanged: it "may merge several writes into one event, at most 20 a
/// second per group; the last state always arrives" (Protocol.md, "Attributes"). Its instant is not
/// specified.
struct AttributeTold {
  private var epoch: JSON?
  private var told: JSON = [[:] as JSON, [:] as JSON]
  private var times: [Int64] = []

  /// Looks at the attribute events of one operation.
  /// - Returns: what is wrong with them, or nil.
  mutating func fault(_ events: [GroupScene.Outcome.Event], _ world: ModelWorld, nextWake: Int64?) -> String? {
    guard let group = world.group else { return events.isEmpty ? nil : "attributes of no group are told" }
    if group.epoch != epoch { self = AttributeTold(epoch: group.epoch) }
    let (map, holders) = (JSON.texts(group.attributes), JSON.texts(group.holders))
    let now: JSON = [map, holders]
    let names = ["groupAttributeMap", "groupID"] + (group.holders.isEmpty ? [] : ["holders"]) + ["opTime"]
    for (index, event) in events.enumerated() {
      let time = event.params["opTime"].integer ?? 0
      times = times.filter { $0 > time - 1000 } + [time]
      if times.count > 20 { return "\(times.count) attribute events in a second" }
      // While time passes, members leave at several instants: the last event has what is left.
      if world.operation.by == .world, index + 1 < events.count { continue }
      if event.params["groupAttributeMap"] != map { return "attributes \(event.params.text) are told, not \(map.text)" }
      if !group.holders.isEmpty, event.params["holders"] != holders {
        return "holders of \(event.params.text) are told, not \(holders.text)"
      }
      if event.receivers != world.sessions(of: world.everybody) { return "attributes are told to \(event.receivers.sorted())" }
      if event.params.names != names { return "params of \(event.params.text)" }
      told = now
    }
    // Without a session there is no receiver to miss it.
    if world.sessions.isEmpty { told = now }
    if told == now { return nil }
    guard let nextWake else { return "the last attributes are not told" }
    return nextWake <= world.now || nextWake > world.now + 1000 ? "attributes are told at \(nextWake), now is \(world.now)" : nil
  }

  init() {}

  private init(epoch: JSON) { self.epoch = epoch }
}
