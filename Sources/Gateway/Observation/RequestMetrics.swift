import CoreMetrics
import Synchronization
import WireProtocol

/// `throng_requests_total` by method and code, `throng_request_duration_seconds` by method.
public final class RequestMetrics: Sendable {
  /// By the method's number; the last is for unknown methods.
  private let methods: [MethodMetrics]

  /// The series of all methods of a table.
  package init(_ table: MethodTable) {
    methods = (table.entries.map(\.name) + ["unknown"]).map { MethodMetrics($0) }
  }

  /// Counts an answered request.
  /// - Parameters:
  ///   - method: nil = unknown, or an invalid request.
  ///   - nanoseconds: how long it took.
  func didAnswer(_ method: MethodTable.Entry?, _ reply: Reply, after nanoseconds: Int64) {
    methods[method?.number ?? methods.count - 1].count(reply, after: nanoseconds)
  }
}

/// The series of one method, each made when it is first needed, so that unused methods show none.
/// All loops share it: a successful request takes no lock.
private final class MethodMetrics: Sendable {
  private final class Series: Sendable {
    let successes: Counter
    let timer: Timer

    init(_ method: String) {
      successes = MethodMetrics.counter(0, of: method)
      timer = Timer(label: "throng_request_duration_seconds", dimensions: [("method", method)])
    }
  }

  private let name: String
  /// Retained. An AtomicLazyReference takes 570 instructions to load.
  private let series = Atomic<Unmanaged<Series>?>(nil)
  private let failures = Mutex<[Int: Counter]>([:])

  init(_ name: String) { self.name = name }

  deinit { series.load(ordering: .acquiring)?.release() }

  func count(_ reply: Reply, after nanoseconds: Int64) {
    (series.load(ordering: .acquiring) ?? makeSeries())._withUnsafeGuaranteedRef { series in
      series.timer.recordNanoseconds(nanoseconds)
      switch reply {
      case .success: series.successes.increment()
      case .failure(let error): count(error.code)
      }
    }
  }

  /// Makes the series, unless another loop has just made it.
  private func makeSeries() -> Unmanaged<Series> {
    let made = Unmanaged.passRetained(Series(name))
    let earlier = series.compareExchange(expected: nil, desired: made, ordering: .acquiringAndReleasing).original
    if earlier != nil { made.release() }
    return earlier ?? made
  }

  private func count(_ code: ErrorCode) {
    failures.withLock { counters in
      let counter = counters[code.rawValue] ?? MethodMetrics.counter(code.rawValue, of: name)
      counters[code.rawValue] = counter
      counter.increment()
    }
  }

  private static func counter(_ code: Int, of method: String) -> Counter {
    Counter(label: "throng_requests_total", dimensions: [("method", method), ("code", String(code))])
  }
}
