import Gateway
import Logging
import WebSocketTransport

/// Passes on what libwebsockets complains of. Clients can make it complain, so only a few lines a second are written; the next line tells how
/// many were not.
final class LibraryLog: Sendable {
  private let limit = LogRateLimiter()
  private let logger: Logger

  init(_ logger: Logger) { self.logger = logger }

  func write(_ level: TransportLog.Level, _ text: String, at now: ContinuousClock.Instant = .now) {
    guard let dropped = limit.acquire(at: now) else { return }
    let more: Logger.Metadata = dropped > 0 ? ["dropped": .stringConvertible(dropped)] : [:]
    logger.log(level: level == .error ? .error : .warning, "\(text)", metadata: more)
  }
}
