import GroupModel
import Synchronization

/// Tells the other nodes of a cluster what users are charged on this one (Cluster.md, "Rates of users").
package protocol ChargeReporter: Sendable {
  /// The number of other nodes.
  var peerCount: Int { get }

  /// Tells all other nodes of requests of a user.
  func report(_ requests: Int, of user: UserID)
}

/// The requests of a user that the other nodes have not been told of. A pure value over an injected clock.
///
/// Each node keeps an eighth of the burst to itself, and all nodes together an eighth of the rate. So
/// nothing is told of a user who sends little, and a user with sessions on all nodes gets an eighth more
/// than on one: of the rate, and of the burst for each further node.
struct UnreportedCharges: Sendable {
  /// The part of the burst, and of the rate, that is not told.
  static let share = 8
  /// In the unit of `level`, as in `TokenBucket`.
  private static let request: Int64 = 1000

  private let perSecond: Int64
  /// Told as soon as there are so many.
  private let threshold: Int64
  private var level: Int64 = 0
  private var updated: MonotonicInstant

  /// Nothing is left to tell.
  init(perSecond: Int, burst: Int, now: MonotonicInstant) {
    self.perSecond = Int64(perSecond)
    threshold = Int64(max(1, burst / UnreportedCharges.share)) * UnreportedCharges.request
    updated = now
  }

  /// Counts a request on this node.
  /// - Parameter peerCount: of other nodes.
  /// - Returns: how many requests they have to be told of now.
  mutating func charge(peerCount: Int, at now: MonotonicInstant) -> Int {
    forget(peerCount: peerCount, at: now)
    guard peerCount > 0 else { return 0 }
    level += UnreportedCharges.request
    guard level >= threshold else { return 0 }
    defer { level %= UnreportedCharges.request }
    return Int(level / UnreportedCharges.request)
  }

  /// Whether nothing is left to tell.
  mutating func isEmpty(peerCount: Int, at now: MonotonicInstant) -> Bool {
    forget(peerCount: peerCount, at: now)
    return level == 0
  }

  /// Takes off the node's part of the rate. Steps that are too short to count add up.
  private mutating func forget(peerCount: Int, at now: MonotonicInstant) {
    guard peerCount > 0 else { return level = 0 }
    let passed = now.milliseconds(since: updated)
    guard passed > 0, case let forgotten = passed * perSecond / Int64(UnreportedCharges.share * peerCount), forgotten > 0 else {
      return
    }
    level = max(0, level - forgotten)
    updated = updated.advanced(byMilliseconds: passed)
  }
}

/// The charges of one user on this node, and the way to the other nodes.
final class ReportedCharges: Sendable {
  private let user: UserID
  private let reporter: any ChargeReporter
  private let unreported: Mutex<UnreportedCharges>

  init(of user: UserID, _ unreported: UnreportedCharges, to reporter: any ChargeReporter) {
    self.user = user
    self.reporter = reporter
    self.unreported = Mutex(unreported)
  }

  /// Counts a request on this node.
  func charge(at now: MonotonicInstant) {
    let requests = unreported.withLock { $0.charge(peerCount: reporter.peerCount, at: now) }
    if requests > 0 { reporter.report(requests, of: user) }
  }

  /// Whether nothing is left to tell.
  func isEmpty(at now: MonotonicInstant) -> Bool {
    unreported.withLock { $0.isEmpty(peerCount: reporter.peerCount, at: now) }
  }
}
