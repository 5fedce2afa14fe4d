import GroupModel

extension [String: String] {
  /// Merges the customInfo of a request: `null` or "" removes a key (Protocol.md, "Custom info").
  /// - Returns: the entries that are different now, by key; an empty value where the key is gone.
  mutating func mergeCustomInfo(_ given: [String: String]) -> [(key: String, value: String)] {
    let changed = given.filter { !$0.value.isSame(as: self[$0.key, default: ""]) }.sorted { $0.key < $1.key }
    for (key, value) in changed { self[key] = value.isEmpty ? nil : value }
    return changed
  }
}
