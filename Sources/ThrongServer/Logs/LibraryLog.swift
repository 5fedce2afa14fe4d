import Logging
import Synchronization
import WebSocketTransport

/// Passes on what libwebsockets complains of. Clients can make it complain, so only a few lines a second are written; the next line tells how
/// many were not.
final class LibraryLog: Sendable {
  /// How many lines a second are written at most.
  private static let perSecond = 5

  private struct Second {
    var begun: ContinuousClock.Instant
    var written = 0
    var dropped = 0
  }

  private let second = Mutex(Second(begun: .now))
  private let logger: Logger

  init(_ logger: Logger) { self.logger = logger }

  func write(_ level: TransportLog.Level, _ text: String, at now: ContinuousClock.Instant = .now) {
    guard let dropped = admit(at: now) else { return }
    let more: Logger.Metadata = dropped > 0 ? ["dropped": "\(dropped)"] : [:]
    logger.log(level: level == .error ? .error : .warning, "\(text)", metadata: more)
  }

  /// Nil where the line is one too many, else how many lines were dropped before it.
  func admit(at now: ContinuousClock.Instant) -> Int? {
    second.withLock { second in
      if now - second.begun >= .seconds(1) {
        second = Second(begun: now, written: 0, dropped: second.dropped)
      }
      guard second.written < LibraryLog.perSecond else {
        second.dropped += 1
        return nil
      }
      second.written += 1
      defer { second.dropped = 0 }
      return second.dropped
    }
  }
}
