import CoreMetrics
import GroupModel
import GroupRuntime
import Logging

/// Logs failures of stores, and counts messages and signals.
package final class StoreObserver: GroupObserver {
  private let logger: Logger
  private let messages = MessageMetrics()
  private let signals = SignalMetrics()

  /// - Parameter logger: gets the failures.
  package init(logger: Logger) { self.logger = logger }

  package func storeFailed(_ error: StoreError, group: GroupID) {
    logger.error("store failed", metadata: ["group": "\(group)", "error": "\(error)"])
  }

  /// - Parameter trace: to which the request belongs that needed the store; nil = to none.
  func storeFailed(_ error: StoreError, in trace: TraceContext? = nil) {
    var fields: Logger.Metadata = ["error": "\(error)"]
    fields.add(trace)
    logger.error("store failed", metadata: fields)
  }

  package func didCount(_ message: MessageCount) { messages.count(message) }

  package func didCount(_ signals: SignalCounts) { self.signals.count(signals) }
}

/// `throng_signals_total` by result.
final class SignalMetrics: Sendable {
  private let delivered = SignalMetrics.counter("delivered")
  private let merged = SignalMetrics.counter("merged")
  private let dropped = SignalMetrics.counter("dropped")
  private let refused = SignalMetrics.counter("refused")

  func count(_ signals: SignalCounts) {
    SignalMetrics.count(signals.delivered, by: delivered)
    SignalMetrics.count(signals.merged, by: merged)
    SignalMetrics.count(signals.dropped, by: dropped)
    SignalMetrics.count(signals.refused, by: refused)
  }

  private static func count(_ number: UInt16, by counter: Counter) {
    if number > 0 { counter.increment(by: number) }
  }

  private static func counter(_ result: String) -> Counter {
    Counter(label: "throng_signals_total", dimensions: [("result", result)])
  }
}

/// `throng_messages_accepted_total`, `…_delivered_total` and `…_dropped_total` by type and
/// priority, and `throng_messages_waiting`: accepted, and neither delivered nor dropped yet.
final class MessageMetrics: Sendable {
  private let accepted: [Counter]
  private let delivered: [Counter]
  private let dropped: [Counter]
  private let waiting: [Meter]

  init() {
    accepted = MessageMetrics.counters("throng_messages_accepted_total")
    delivered = MessageMetrics.counters("throng_messages_delivered_total")
    dropped = MessageMetrics.counters("throng_messages_dropped_total")
    waiting = MessageMetrics.types.flatMap { type in
      MessageMetrics.priorities.map { priority in
        Meter(label: "throng_messages_waiting", dimensions: MessageMetrics.labels(type, priority))
      }
    }
  }

  func count(_ message: MessageCount) {
    let index = MessageMetrics.index(message)
    if message.steps.contains(.accepted) { accepted[index].increment() }
    if message.steps.contains(.delivered) { delivered[index].increment() }
    if message.steps.contains(.dropped) { dropped[index].increment() }
    // A message that has not waited has two steps at once.
    if message.steps.rawValue == MessageCount.Steps.accepted.rawValue {
      waiting[index].increment()
    } else if !message.steps.contains(.accepted) {
      waiting[index].decrement()
    }
  }

  private static let types = GroupType.allCases
  private static let priorities = Priority.allCases

  /// One counter for each pair, made at once, so that counting is an array access.
  private static func counters(_ name: String) -> [Counter] {
    types.flatMap { type in
      priorities.map { priority in
        Counter(label: name, dimensions: labels(type, priority))
      }
    }
  }

  private static func labels(_ type: GroupType, _ priority: Priority) -> [(String, String)] {
    type.metricLabels + [("priority", priority.rawValue)]
  }

  private static func index(_ message: MessageCount) -> Int {
    // Both are among their own cases.
    let type = types.firstIndex(of: message.type) ?? 0
    let priority = priorities.firstIndex(of: message.priority) ?? 0
    return type * priorities.count + priority
  }
}
