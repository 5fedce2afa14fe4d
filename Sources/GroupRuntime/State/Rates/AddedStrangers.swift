import DequeModule
import GroupModel
import Synchronization

/// The users whom one user has made members without asking them, within a day, each once (Protocol.md,
/// "Invitations"). A pure value over an injected clock.
public struct AddedStrangers: Sendable {
  /// How long a user counts.
  public static let period = Duration.seconds(86_400)

  private let limit: Int
  private var instants: [UserID: MonotonicInstant] = [:]
  /// In the order of their instants.
  private var order: Deque<UserID> = []

  /// Nobody was added yet.
  public init(limit: Int) { self.limit = limit }

  /// Counts users, as many as may be added. Those who count already are not counted again.
  /// - Returns: those whom the limit excludes, and those who are counted with this.
  public mutating func reserve(_ users: [UserID], at now: MonotonicInstant) -> (excluded: Set<UserID>, counted: [UserID]) {
    removeExpired(at: now)
    var (excluded, counted): (Set<UserID>, [UserID]) = ([], [])
    for user in users where instants[user] == nil && !excluded.contains(user) {
      guard instants.count < limit else {
        excluded.insert(user)
        continue
      }
      instants[user] = now
      order.append(user)
      counted.append(user)
    }
    return (excluded, counted)
  }

  /// Users were not added after all.
  public mutating func release(_ users: [UserID]) {
    guard !users.isEmpty else { return }
    for user in users { instants[user] = nil }
    order.removeAll { instants[$0] == nil }
  }

  /// Whether nobody counts.
  public mutating func isEmpty(at now: MonotonicInstant) -> Bool {
    // Nearly every user adds nobody, and each is asked about again and again.
    if !instants.isEmpty { removeExpired(at: now) }
    return instants.isEmpty
  }

  private mutating func removeExpired(at now: MonotonicInstant) {
    while let first = order.first, let instant = instants[first], instant + AddedStrangers.period <= now {
      order.removeFirst()
      instants[first] = nil
    }
  }
}

/// The same for requests on all threads. It belongs to the node that performs them.
public final class StrangerQuota: Sendable {
  private let added: Mutex<AddedStrangers>

  /// A quota of which nothing was used.
  public init(limit: Int) { added = Mutex(AddedStrangers(limit: limit)) }

  /// Counts users, as many as may be added.
  public func reserve(_ users: [UserID], at now: MonotonicInstant) -> (excluded: Set<UserID>, counted: [UserID]) {
    added.withLock { $0.reserve(users, at: now) }
  }

  /// Users were not added after all.
  public func release(_ users: [UserID]) { added.withLock { $0.release(users) } }

  /// Whether a new quota would be the same.
  public func isUnused(at now: MonotonicInstant) -> Bool { added.withLock { $0.isEmpty(at: now) } }
}
