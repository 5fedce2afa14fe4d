import GroupModel
import Synchronization

/// The owner of each shard, for the way of every request: read without a lock on any thread, written
/// by the membership.
///
/// Readers may see a mixture of two views while one replaces the other. The receiver of a request
/// looks again, so a mistake costs a second try.
public final class ShardMap: Sendable {
  /// Owner and term of a shard. They are not read together: a new term is stored before its owner,
  /// and an owner is removed before the term changes.
  private struct Entry: ~Copyable, Sendable {
    let owner = Atomic<Int64>(none)
    let term = Atomic<Int64>(0)
    /// The term under which the own node may decide; 0 = it may not.
    let led = Atomic<Int64>(0)
  }

  private static let none: Int64 = 0
  /// nonisolated(unsafe): allocated and freed with this object, and the entries are atomics.
  private nonisolated(unsafe) let entries: UnsafeMutablePointer<Entry>
  private let own = Atomic<Int64>(none)
  private let pause = Atomic<Int64>(.min)
  private let gained = Atomic<Int>(0)

  /// A map without owners.
  public init() {
    entries = .allocate(capacity: Shard.count)
    for number in 0..<Shard.count { (entries + number).initialize(to: Entry()) }
  }

  deinit {
    entries.deinitialize(count: Shard.count)
    entries.deallocate()
  }

  // MARK: Reading

  /// The own node; nil while this process belongs to no cluster.
  public var ownNode: NodeNumber? { node(own.load(ordering: .acquiring)) }

  /// The owner that is there; nil where there is none.
  public func owner(of shard: Shard) -> NodeNumber? { node(entries[shard.number].owner.load(ordering: .acquiring)) }

  /// The term of a shard's last known owner: what comes with an older one is out of date.
  public func term(of shard: Shard) -> Int64 { entries[shard.number].term.load(ordering: .acquiring) }

  /// The term under which this node may decide and answer for a shard now; nil = it may not.
  public func term(of shard: Shard, at now: MonotonicInstant) -> Int64? {
    let term = entries[shard.number].led.load(ordering: .acquiring)
    return term != 0 && now < pauseInstant ? term : nil
  }

  /// From then on this node decides nothing, unless its lease is renewed before.
  public var pauseInstant: MonotonicInstant { MonotonicInstant(nanoseconds: pause.load(ordering: .acquiring)) }

  /// How many shards the own node has got so far. It grows before the first of them is led.
  public var gainCount: Int { gained.load(ordering: .acquiring) }

  private func node(_ value: Int64) -> NodeNumber? { value == ShardMap.none ? nil : NodeNumber(value) }

  // MARK: Writing, by the membership only

  /// Takes the owners of a view, and what the own node leads.
  public func replace(by view: ClusterView, leading: [Shard: Int64]) {
    own.store(view.ownNode?.rawValue ?? ShardMap.none, ordering: .releasing)
    for shard in Shard.all {
      let number = shard.number
      // Shards that are no longer led end first, and those that are led begin last.
      let led = leading[shard] ?? 0
      if led == 0 { entries[number].led.store(0, ordering: .releasing) }
      let owner = view.owner(of: shard)?.rawValue ?? ShardMap.none
      if entries[number].owner.load(ordering: .relaxed) != owner {
        entries[number].owner.store(ShardMap.none, ordering: .releasing)
      }
      entries[number].term.store(view.term(of: shard), ordering: .releasing)
      entries[number].owner.store(owner, ordering: .releasing)
      guard led != 0 else { continue }
      if entries[number].led.load(ordering: .relaxed) != led { gained.wrappingAdd(1, ordering: .releasing) }
      entries[number].led.store(led, ordering: .releasing)
    }
  }

  /// Decides nothing more for shards that are to be given back.
  public func stopLeading(_ shards: [Shard]) {
    for shard in shards { entries[shard.number].led.store(0, ordering: .releasing) }
  }

  /// Notes until when the lease lasts.
  public func extendLease(to instant: MonotonicInstant) { pause.store(instant.nanoseconds, ordering: .releasing) }
}
