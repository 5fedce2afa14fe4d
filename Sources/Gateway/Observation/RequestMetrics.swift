import CoreMetrics
import Synchronization
import WireProtocol

/// `throng_requests_total` by method and code, `throng_request_duration_seconds` by method.
public final class RequestMetrics: Sendable {
  /// By the method's number; the last is what is no method.
  private let methods: [MethodMetrics]

  /// No request has been counted yet.
  init(_ table: MethodTable) {
    methods = (table.entries.map(\.name) + ["unknown"]).map { MethodMetrics($0) }
  }

  /// Counts an answered request.
  /// - Parameters:
  ///   - method: of the table; nil = no method of that name, or no request at all.
  ///   - start: on the monotonic clock, in nanoseconds.
  func didAnswer(_ method: MethodTable.Entry?, _ reply: Reply, since start: UInt64) {
    methods[method?.number ?? methods.count - 1].count(reply, nanoseconds: MonotonicClock.nanoseconds() - start)
  }
}

/// The series of one method, each made when it is first needed: nobody wants to read of methods that are not used.
private final class MethodMetrics: Sendable {
  fileprivate struct Series {
    var counters: [Int: Counter] = [:]
    var timer: Timer?
  }

  private let name: String
  private let series = Mutex(Series())

  init(_ name: String) { self.name = name }

  func count(_ reply: Reply, nanoseconds: UInt64) {
    let code =
      switch reply {
      case .success: 0
      case .failure(let error): error.code.rawValue
      }
    series.withLock { series in
      series.counter(code, of: name).increment()
      series.timer(of: name).recordNanoseconds(Int64(clamping: nanoseconds))
    }
  }
}

extension MethodMetrics.Series {
  fileprivate mutating func counter(_ code: Int, of method: String) -> Counter {
    if let counter = counters[code] { return counter }
    let counter = Counter(label: "throng_requests_total", dimensions: [("method", method), ("code", String(code))])
    counters[code] = counter
    return counter
  }

  fileprivate mutating func timer(of method: String) -> Timer {
    if let timer { return timer }
    let made = Timer(label: "throng_request_duration_seconds", dimensions: [("method", method)])
    timer = made
    return made
  }
}
