import Foundation

/// Writes the progress to standard error: on a terminal one line again and again, elsewhere lines.
final class BenchProgress {
  private let isTerminal = isatty(STDERR_FILENO) == 1
  private let isWanted: Bool
  private var lastLength = 0

  init(isWanted: Bool) { self.isWanted = isWanted }

  /// Writes a line; nil: no progress is wanted.
  var line: ((String) -> Void)? { isWanted ? { [self] in show($0) } : nil }

  /// Clears the line at the end of the run.
  func end() {
    if isTerminal, lastLength > 0 { write("\r" + String(repeating: " ", count: lastLength) + "\r") }
  }

  private func show(_ text: String) {
    guard isTerminal else { return write(text + "\n") }
    write("\r" + text + String(repeating: " ", count: max(0, lastLength - text.count)))
    lastLength = text.count
  }

  private func write(_ text: String) { BenchOutput.writeToStandardError(text) }
}
