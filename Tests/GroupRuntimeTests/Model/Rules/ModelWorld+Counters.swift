import ThrongTestKit

/// The counters of a group. When onGroupCounterChanged comes is checked by `CounterTold`.
extension ModelWorld {
  mutating func writeCounters() throws(ModelRefusal) -> JSON {
    try requireMembership()
    var edited = g.counters
    var answer: [String: JSON] = [:]
    if operation.verb == .setGroupCounters {
      try require(.setCounters)
      for (key, value) in operation["counters"].members { edited[key] = value.integer }
    } else {
      let key = operation["key"].string!
      let step = operation["value"].integer!
      let value = (edited[key] ?? 0) + (operation.verb == .increaseGroupCounter ? step : -step)
      edited[key] = value
      answer["value"] = .int(value)
    }
    if edited.count > 20 { throw ModelRefusal(10057) }
    if edited.values.contains(where: { abs($0) > 1 << 53 }) { throw ModelRefusal(10004) }
    // "Administrators are not limited."
    if let user = operation.by.name {
      try ModelWorld.count(&g.counterTimes[user, default: []], limit: 20, window: 5000, at: now, else: 8511)
    }
    g.counters = edited
    return .object(answer)
  }

  func readCounters() throws(ModelRefusal) -> JSON {
    try requireMembership()
    let keys = operation["keys"] == .null ? Array(g.counters.keys) : operation["keys"].strings
    return ["counters": .object(g.counters.filter { keys.contains($0.key) }.mapValues { .int($0) })]
  }
}
