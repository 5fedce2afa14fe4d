import CTransport
import Synchronization

/// What the library says about itself: errors and warnings, never a URL.
public enum TransportLog {
  /// How bad it is.
  public enum Level: Sendable {
    case error, warning
  }

  private static let sink = Mutex<(@Sendable (Level, String) -> Void)?>(nil)

  /// Sends the library's lines to `sink`, from any thread. There is one sink per process: libwebsockets has one log.
  public static func setSink(_ sink: @escaping @Sendable (Level, String) -> Void) {
    self.sink.withLock { $0 = sink }
  }

  /// Runs once: a static constant is made by the first who asks for it.
  static let prepared: Void = ct_prepare_process { level, text, count in
    guard let sink = TransportLog.sink.withLock({ $0 }), let text else { return }
    let line = String(decoding: UnsafeRawBufferPointer(start: text, count: count), as: UTF8.self)
    sink(level == 1 ? .error : .warning, line)
  }
}
