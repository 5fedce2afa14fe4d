import CoreMetrics
import Gateway
import Logging

/// Counts calls of `POST /rpc` that were refused with 401, and writes down whom they came from: a few lines a second, and the next
/// line tells how many were not written. What was shown for a credential is nowhere.
final class UnauthorizedCalls: Sendable {
  static let metricName = "throng_http_unauthorized_total"

  private let limit = LogRateLimiter()
  private let counter: Counter
  private let logger: Logger

  init(metrics: PrometheusRegistry, logger: Logger) {
    metrics.describe(
      UnauthorizedCalls.metricName, help: "Requests to POST /rpc without a credential that holds.", type: .counter)
    counter = Counter(label: UnauthorizedCalls.metricName, dimensions: [], factory: metrics)
    self.logger = logger
  }

  /// - Parameter peer: the address that the request came from.
  func note(from peer: String, at now: ContinuousClock.Instant = .now) {
    counter.increment()
    guard let dropped = limit.acquire(at: now) else { return }
    var metadata: Logger.Metadata = ["address": "\(peer)"]
    if dropped > 0 { metadata["dropped"] = .stringConvertible(dropped) }
    logger.warning("unauthorized call", metadata: metadata)
  }
}
