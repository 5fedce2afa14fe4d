import GroupModel
import GroupRuntime
import Logging

/// Log lines that requests of clients can cause: at most five a second.
struct WebhookLog: Sendable {
  private let limit = LogRateLimiter()
  private let clocks: any Clocks
  private let logger: Logger

  init(_ logger: Logger, _ clocks: any Clocks) {
    self.logger = logger
    self.clocks = clocks
  }

  func warn(_ text: String, _ metadata: Logger.Metadata) { write(.warning, text, metadata) }

  func inform(_ text: String, _ metadata: Logger.Metadata) { write(.info, text, metadata) }

  private func write(_ level: Logger.Level, _ text: String, _ metadata: Logger.Metadata) {
    guard let dropped = limit.acquire(at: clocks.monotonic) else { return }
    var metadata = metadata
    if dropped > 0 { metadata["dropped"] = .stringConvertible(dropped) }
    logger.log(level: level, "\(text)", metadata: metadata)
  }
}
