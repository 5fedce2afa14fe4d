import ArgumentParser
import Foundation

/// Where a command says what went wrong; standard output is for what was asked for.
enum StandardError {
  /// Writes a message and gives the error that ends the command with 1 (contract section 9).
  static func failure(_ message: String) -> ExitCode {
    write(message)
    return .failure
  }

  /// Writes a line. Where nothing can be written (it is closed, its disk is full) the status has to do.
  static func write(_ message: String) {
    try? FileHandle.standardError.write(contentsOf: Data((message + "\n").utf8))
  }
}
