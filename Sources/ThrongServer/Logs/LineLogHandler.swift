import Foundation
import Logging
import ServerConfiguration

/// Writes each entry as one line: a JSON object, or text for people. Keys are fixed, and no entry
/// has a token or a message's text. Callers pass numbers as `.stringConvertible`, which JSON keeps
/// as numbers.
struct LineLogHandler: LogHandler {
  var metadata: Logger.Metadata = [:]
  var logLevel: Logger.Level
  private let format: LogFormat
  private let output: LogOutput

  init(format: LogFormat, level: Logger.Level, output: LogOutput) {
    self.format = format
    self.output = output
    logLevel = level
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let now = Date()
    output.append(line(event, at: now)) { lost in
      var notice = event
      notice.level = .warning
      notice.message = "log entries were lost, because nobody read the log"
      notice.metadata = ["count": .stringConvertible(lost)]
      return line(notice, at: now)
    }
  }

  /// The line of an entry, without its line end.
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
      let pairs = fields.sorted { $0.key < $1.key }.map { " \($0.key)=\(LogText.value("\($0.value)"))" }.joined()
      return "\(time) \(event.level.rawValue) \(LogText.message("\(event.message)"))\(pairs)"
    }
  }

  private static func json(_ fields: Logger.Metadata) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return LogText.plain(json: String(decoding: try encoder.encode(fields.mapValues(Field.init)), as: UTF8.self))
    } catch {
      return #"{"level":"error","message":"a log entry could not be encoded"}"#
    }
  }
}

/// A value of an entry in JSON.
private struct Field: Encodable {
  let value: Logger.MetadataValue

  init(_ value: Logger.MetadataValue) { self.value = value }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch value {
    case .string(let text): try container.encode(text)
    case .stringConvertible(let number as any (BinaryInteger & Encodable)): try container.encode(number)
    // JSON has no infinity.
    case .stringConvertible(let number as Double) where number.isFinite: try container.encode(number)
    case .stringConvertible(let truth as Bool): try container.encode(truth)
    case .stringConvertible(let other): try container.encode("\(other)")
    case .array(let values): try container.encode(values.map(Field.init))
    case .dictionary(let values): try container.encode(values.mapValues(Field.init))
    }
  }
}

/// Formats the reason why `throng serve` does not start, in the format of the log, because
/// collectors read standard error too.
public enum StartFailure {
  /// One line for the reason: in JSON an entry of level critical, else the sentence.
  /// - Parameter format: nil = unknown.
  public static func line(_ reason: String, format: LogFormat?) -> String {
    guard format == .json else { return reason }
    let event = LogEvent(
      level: .critical, message: "cannot start", metadata: ["error": "\(reason)"], source: "throng", file: #fileID,
      function: #function, line: #line)
    // The handler makes only the line; it never writes to the descriptor.
    return LineLogHandler(format: .json, level: .critical, output: LogOutput(-1)).line(event, at: Date())
  }
}
