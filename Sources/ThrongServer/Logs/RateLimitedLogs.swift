import CoreMetrics
import Gateway
import GroupModel
import GroupRuntime
import Logging
import WebSocketTransport

/// Counts calls of `POST /rpc` that were refused with 401, and logs their addresses: a few lines a
/// second, and the next line tells how many were left out. The credential is never logged.
final class UnauthorizedCalls: Sendable {
  static let metricName = "throng_http_unauthorized_total"

  private let limit = LogRateLimiter()
  private let counter: Counter
  private let clocks: any Clocks
  private let logger: Logger

  init(metrics: PrometheusRegistry, clocks: any Clocks, logger: Logger) {
    metrics.describe(
      UnauthorizedCalls.metricName, help: "Requests to POST /rpc without a credential that holds.", type: .counter)
    counter = Counter(label: UnauthorizedCalls.metricName, dimensions: [], factory: metrics)
    self.clocks = clocks
    self.logger = logger
  }

  /// - Parameters:
  ///   - peer: the address that the request came from.
  ///   - reason: what is wrong with the credential.
  ///   - user: whose token it is, where a configured key has signed it.
  func log(from peer: String, _ reason: String, user: UserID? = nil) {
    counter.increment()
    guard let dropped = limit.acquire(at: clocks.monotonic) else { return }
    var metadata: Logger.Metadata = ["address": "\(peer)", "reason": "\(reason)"]
    if let user { metadata["userID"] = "\(user)" }
    if dropped > 0 { metadata["dropped"] = .stringConvertible(dropped) }
    logger.warning("unauthorized call", metadata: metadata)
  }
}

/// Logs the warnings of libwebsockets. Clients can provoke them, so only a few lines a second are
/// written; the next line tells how many were left out.
final class LibraryLog: Sendable {
  private let limit = LogRateLimiter()
  private let clocks: any Clocks
  private let logger: Logger

  init(clocks: any Clocks, logger: Logger) {
    self.clocks = clocks
    self.logger = logger
  }

  func write(_ level: TransportLog.Level, _ text: String) {
    guard let dropped = limit.acquire(at: clocks.monotonic) else { return }
    let more: Logger.Metadata = dropped > 0 ? ["dropped": .stringConvertible(dropped)] : [:]
    logger.log(level: level == .error ? .error : .warning, "\(text)", metadata: more)
  }
}
