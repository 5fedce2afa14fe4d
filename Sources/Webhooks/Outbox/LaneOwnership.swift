import GroupRuntime

/// The lanes that this process posts, where several share the store.
///
/// A lane that was gained may have entries of its earlier owners in the store, and none of it is
/// posted before a read that began later says which is the first.
public protocol LaneOwnership: Sendable {
  /// Numbers the gain of a lane, ascending; nil = another process posts it. A lane that was lost and
  /// gained again has a larger number. Known as soon as this process may store an entry of the lane.
  func gain(of lane: WebhookEntry.Lane) -> Int64?

  /// The number of the last gain so far.
  var lastGain: Int64 { get }
}

/// One process posts all lanes.
struct SoleOwnership: LaneOwnership {
  func gain(of _: WebhookEntry.Lane) -> Int64? { 0 }
  var lastGain: Int64 { 0 }
}
