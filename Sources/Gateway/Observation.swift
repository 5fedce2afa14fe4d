import CoreMetrics
import GroupModel
import GroupRuntime
import Logging
import Synchronization
import WireProtocol

/// Writes down what stores could not do, and counts messages.
final class StoreObserver: GroupObserver {
  private let logger: Logger
  private let messages = MessageMetrics()

  init(logger: Logger) { self.logger = logger }

  func storeFailed(_ error: StoreError, group: GroupID) {
    logger.error("store failed", metadata: ["group": "\(group)", "error": "\(error)"])
  }

  func storeFailed(_ error: StoreError) { logger.error("store failed", metadata: ["error": "\(error)"]) }

  func didCount(_ message: MessageCount) { messages.count(message) }
}

/// `throng_messages_accepted_total`, `…_delivered_total` and `…_dropped_total` by type and priority.
final class MessageMetrics: Sendable {
  private let accepted: [Counter]
  private let delivered: [Counter]
  private let dropped: [Counter]

  init() {
    accepted = MessageMetrics.counters("throng_messages_accepted_total")
    delivered = MessageMetrics.counters("throng_messages_delivered_total")
    dropped = MessageMetrics.counters("throng_messages_dropped_total")
  }

  func count(_ message: MessageCount) {
    let index = MessageMetrics.index(message)
    if message.steps.contains(.accepted) { accepted[index].increment() }
    if message.steps.contains(.delivered) { delivered[index].increment() }
    if message.steps.contains(.dropped) { dropped[index].increment() }
  }

  private static let types = GroupType.allCases
  private static let priorities = Priority.allCases

  /// One counter for each pair, made at once, so that counting is an array access.
  private static func counters(_ name: String) -> [Counter] {
    types.flatMap { type in
      priorities.map { priority in
        Counter(label: name, dimensions: [("groupType", type.rawValue), ("priority", priority.rawValue)])
      }
    }
  }

  private static func index(_ message: MessageCount) -> Int {
    // Both are among their own cases.
    let type = types.firstIndex(of: message.type) ?? 0
    let priority = priorities.firstIndex(of: message.priority) ?? 0
    return type * priorities.count + priority
  }
}

/// `throng_requests_total` by method and code, `throng_request_duration_seconds` by method.
public final class RequestMetrics: Sendable {
  fileprivate struct Key: Hashable {
    let method: String
    let code: Int
  }

  fileprivate struct Series {
    var counters: [Key: Counter] = [:]
    var timers: [String: Timer] = [:]
  }

  private let series = Mutex(Series())

  /// No request has been counted yet.
  public init() {}

  /// Counts an answered request. `method` is a name of the table or "unknown", so the series are bounded.
  func didAnswer(_ method: String, _ reply: Reply, since start: UInt64) {
    let code =
      switch reply {
      case .success: 0
      case .failure(let error): error.code.rawValue
      }
    let (counter, timer) = series.withLock { series in
      (series.counter(Key(method: method, code: code)), series.timer(method))
    }
    counter.increment()
    timer.recordNanoseconds(Int64(clamping: MonotonicClock.nanoseconds() - start))
  }
}

extension RequestMetrics.Series {
  fileprivate mutating func counter(_ key: RequestMetrics.Key) -> Counter {
    if let counter = counters[key] { return counter }
    let counter = Counter(label: "throng_requests_total", dimensions: [("method", key.method), ("code", String(key.code))])
    counters[key] = counter
    return counter
  }

  fileprivate mutating func timer(_ method: String) -> Timer {
    if let timer = timers[method] { return timer }
    let timer = Timer(label: "throng_request_duration_seconds", dimensions: [("method", method)])
    timers[method] = timer
    return timer
  }
}
