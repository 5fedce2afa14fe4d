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

  /// - Parameter trace: to which the request belongs; nil = to none.
  func warn(_ text: String, _ metadata: Logger.Metadata, in trace: TraceContext? = nil) {
    write(.warning, text, metadata, trace)
  }

  /// - Parameter trace: to which the request belongs; nil = to none.
  func inform(_ text: String, _ metadata: Logger.Metadata, in trace: TraceContext? = nil) {
    write(.info, text, metadata, trace)
  }

  private func write(_ level: Logger.Level, _ text: String, _ metadata: Logger.Metadata, _ trace: TraceContext?) {
    guard let dropped = limit.acquire(at: clocks.monotonic) else { return }
    var metadata = metadata
    if let trace { metadata["traceID"] = "\(trace.traceID)" }
    if dropped > 0 { metadata["dropped"] = .stringConvertible(dropped) }
    logger.log(level: level, "\(text)", metadata: metadata)
  }
}
