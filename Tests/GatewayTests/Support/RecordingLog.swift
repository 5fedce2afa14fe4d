import Logging
import Synchronization

/// Keeps what was logged, to be looked at.
final class RecordingLog: Sendable {
  /// One entry.
  struct Line: Sendable, Equatable {
    let level: Logger.Level
    let message: String
    let metadata: [String: String]
  }

  private let kept = Mutex<[Line]>([])

  /// The lines so far, in order.
  var lines: [Line] { kept.withLock { $0 } }

  /// The fields of what the audit has written.
  var audit: [[String: String]] { lines.filter { $0.message == "audit" }.map(\.metadata) }

  /// A logger that keeps everything here.
  var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

  private func add(_ line: Line) { kept.withLock { $0.append(line) } }

  private struct Handler: LogHandler {
    let log: RecordingLog
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let fields = metadata.merging(event.metadata ?? [:]) { $1 }
      log.add(Line(level: event.level, message: "\(event.message)", metadata: fields.mapValues { "\($0)" }))
    }
  }
}
