import GroupModel
import Synchronization

/// What a request sends to the members of a group: how many times an event is delivered, and with how
/// many bytes.
public struct FanOut: Sendable, Equatable {
  public private(set) var deliveries = 0
  public private(set) var bytes = 0

  /// Nothing is sent.
  public init() {}

  /// An event to so many users.
  public init(to receivers: Int, ofBytes bytes: Int) {
    deliveries = receivers
    self.bytes = receivers * bytes
  }

  /// Adds an event to so many users.
  mutating func add(to receivers: Int, ofBytes bytes: Int) {
    deliveries += receivers
    self.bytes += receivers * bytes
  }

  /// The part of one of several who share it, rounded up.
  func share(of count: Int) -> FanOut {
    var share = FanOut()
    share.deliveries = (deliveries + count - 1) / count
    share.bytes = (bytes + count - 1) / count
    return share
  }
}

/// The deliveries and bytes that one user may cause: a rate of each, and a second's worth at once
/// (Protocol.md, "Delivery rate"). It may be overdrawn by one request: the next ones pass when it is
/// paid back. A pure value over an injected clock.
public struct FanOutAllowance: Sendable {
  /// In thousandths, so that a rate of one a second adds one a millisecond and nothing is rounded.
  private struct Level {
    let perSecond: Int64
    var level: Int64

    init(perSecond: Int) {
      self.perSecond = Int64(perSecond)
      level = self.perSecond * 1000
    }

    var isFull: Bool { level == perSecond * 1000 }

    mutating func fill(_ milliseconds: Int64) {
      let (filled, isMore) = milliseconds.multipliedReportingOverflow(by: perSecond)
      level = isMore ? perSecond * 1000 : min(perSecond * 1000, level + filled)
    }

    mutating func take(_ count: Int) { if perSecond > 0 { level -= Int64(count) * 1000 } }

    /// The milliseconds until something is left; 0 = there is.
    var wait: Int64 { perSecond == 0 || level > 0 ? 0 : -level / perSecond + 1 }
  }

  private var deliveries: Level
  private var bytes: Level
  private var updated: MonotonicInstant

  /// A full allowance; a rate of 0 is none.
  public init(deliveriesPerSecond: Int, bytesPerSecond: Int, now: MonotonicInstant) {
    deliveries = Level(perSecond: deliveriesPerSecond)
    bytes = Level(perSecond: bytesPerSecond)
    updated = now
  }

  /// Takes what a request sends.
  /// - Returns: after how many milliseconds the next one passes; 0 = at once.
  public mutating func charge(_ fanOut: FanOut, at now: MonotonicInstant) -> Int64 {
    fill(to: now)
    deliveries.take(fanOut.deliveries)
    bytes.take(fanOut.bytes)
    return max(deliveries.wait, bytes.wait)
  }

  /// Whether all of a second's worth is there.
  public mutating func isFull(at now: MonotonicInstant) -> Bool {
    fill(to: now)
    return deliveries.isFull && bytes.isFull
  }

  /// Threads that share it read the clock before they have the lock: time must not count twice.
  private mutating func fill(to now: MonotonicInstant) {
    let passed = now.milliseconds(since: updated)
    guard passed > 0 else { return }
    deliveries.fill(passed)
    bytes.fill(passed)
    updated = updated.advanced(byMilliseconds: passed)
  }
}

/// The allowance of one user, which groups on all executors charge. It belongs to the node that
/// decides for the group.
public final class FanOutBudget: Sendable {
  private let allowance: Mutex<FanOutAllowance>
  /// From when on requests pass, in nanoseconds of the clock. Read with every request, without the
  /// lock.
  private let passesFrom = Atomic<Int64>(.min)

  /// A budget that nothing was taken of.
  public init(_ allowance: FanOutAllowance) { self.allowance = Mutex(allowance) }

  /// How many milliseconds a request has to wait; nil = it passes.
  public func wait(at now: MonotonicInstant) -> Int64? {
    let rest = passesFrom.load(ordering: .relaxed).subtractingReportingOverflow(now.nanoseconds)
    return rest.overflow || rest.partialValue <= 0 ? nil : (rest.partialValue + 999_999) / 1_000_000
  }

  /// Takes what a request sends, before it is sent.
  public func charge(_ fanOut: FanOut, at now: MonotonicInstant) {
    allowance.withLock { allowance in
      let wait = allowance.charge(fanOut, at: now)
      if wait > 0 { passesFrom.store(now.advanced(byMilliseconds: wait).nanoseconds, ordering: .relaxed) }
    }
  }

  /// Whether a new budget would be the same.
  public func isUnused(at now: MonotonicInstant) -> Bool { allowance.withLock { $0.isFull(at: now) } }
}
