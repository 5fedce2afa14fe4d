import Foundation
import Logging
import ServerConfiguration

/// How `throng serve` says on standard error why it does not start: in the format of the log, so that who collects that can read it.
public enum StartFailure {
  /// One line for the reason: in JSON an entry of level critical, else the sentence.
  /// - Parameter format: nil where the configuration does not tell it.
  public static func line(_ reason: String, format: LogFormat?) -> String {
    guard format == .json else { return reason }
    let event = LogEvent(
      level: .critical, message: "cannot start", metadata: ["error": "\(reason)"], source: "throng", file: #fileID,
      function: #function, line: #line)
    // It is only asked for a line and writes nowhere.
    return LineLogHandler(format: .json, level: .critical, output: LogOutput(-1)).line(event, at: Date())
  }
}
