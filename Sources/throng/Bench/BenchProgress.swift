import Foundation

/// Tells on standard error how the run goes: one line written over again on a terminal, line after line elsewhere.
final class BenchProgress {
  private let isTerminal = isatty(STDERR_FILENO) == 1
  private let isWanted: Bool
  private var lastLength = 0

  init(isWanted: Bool) { self.isWanted = isWanted }

  /// Takes a line; nil when none is wanted.
  var line: ((String) -> Void)? { isWanted ? { [self] in show($0) } : nil }

  /// The run is over: what follows begins on a line of its own.
  func end() {
    if isTerminal, lastLength > 0 { write("\r" + String(repeating: " ", count: lastLength) + "\r") }
  }

  private func show(_ text: String) {
    guard isTerminal else { return write(text + "\n") }
    write("\r" + text + String(repeating: " ", count: max(0, lastLength - text.count)))
    lastLength = text.count
  }

  private func write(_ text: String) { BenchOutput.tell(text) }
}
