import Foundation
import Logging
import ServerConfiguration
import Synchronization

/// Writes each entry as one line on standard output: a JSON object, or text for people. Keys are fixed; no token and no message
/// body is ever given to it.
struct LineLogHandler: LogHandler {
  var metadata: Logger.Metadata = [:]
  var logLevel: Logger.Level
  private let format: LogFormat

  init(format: LogFormat, level: Logger.Level) {
    self.format = format
    logLevel = level
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) { LineLogHandler.output.withLock { LineLogHandler.write(line(event, at: Date()), to: $0) } }

  /// The line of an entry, without its end.
  func line(_ event: LogEvent, at time: Date) -> String {
    var fields = metadata.merging(event.metadata ?? [:]) { $1 }
    let time = time.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    switch format {
    case .json:
      for (key, value) in [("time", time), ("level", event.level.rawValue), ("message", "\(event.message)")] {
        fields[key] = .string(value)
      }
      return LineLogHandler.json(fields)
    case .text:
      let rest = fields.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
      return "\(time) \(event.level.rawValue) \(event.message)\(rest)".filter { !$0.isNewline }
    }
  }

  /// Held while a line is written, so that lines of several threads do not mix.
  private static let output = Mutex<Int32>(STDOUT_FILENO)

  /// Writes a line and its end. A log that cannot be written (its reader has gone, the disk is full) must not end the server, and
  /// there is nowhere to say so.
  static func write(_ line: String, to descriptor: Int32) {
    var rest = Array((line + "\n").utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0 && errno != EINTR { return }
      rest = rest.dropFirst(max(0, count))
    }
  }

  private static func json(_ fields: Logger.Metadata) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return String(decoding: try encoder.encode(fields.mapValues { "\($0)" }), as: UTF8.self)
    } catch {
      return #"{"level":"error","message":"a log entry could not be encoded"}"#
    }
  }
}
