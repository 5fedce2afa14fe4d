import ArgumentParser
import Foundation
import LoadGenerator

/// The destination of the figures. It is opened before the run, so that an hour of measuring does
/// not end with a file that cannot be written.
struct BenchOutput {
  private enum JSONDestination {
    case nowhere, standardOutput
    case file(Int32, path: String)
  }

  private let json: JSONDestination

  /// Opens the JSON file and empties it: a failing run must not leave the figures of an older one.
  /// The command ends with 1 when the file or standard output cannot be written.
  /// - Parameter json: the value of `--json`.
  init(json: String?) throws {
    guard BenchOutput.isInherited(STDOUT_FILENO) else { throw BenchOutput.failure("standard output", EBADF) }
    switch json {
    case nil: self.json = .nowhere
    case "-": self.json = .standardOutput
    case let path?:
      let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
      guard descriptor >= 0 else { throw BenchOutput.failure(path, errno) }
      self.json = .file(descriptor, path: path)
    }
  }

  /// Writes the figures. The command ends with 1 when one destination fails; the others are
  /// written.
  func write(_ report: Report) throws {
    var failures: [ExitCode] = []
    func write(_ text: String, to descriptor: Int32, _ name: String) {
      if let error = BenchOutput.write(text, to: descriptor) { failures.append(BenchOutput.failure(name, error)) }
    }
    switch json {
    case .nowhere: write(report.table, to: STDOUT_FILENO, "standard output")
    case .standardOutput:
      // The JSON is the result: a table that cannot be written is no failure.
      BenchOutput.writeToStandardError(report.table)
      write(report.json + "\n", to: STDOUT_FILENO, "standard output")
    case .file(let descriptor, let path):
      write(report.json + "\n", to: descriptor, path)
      if close(descriptor) != 0 { failures.append(BenchOutput.failure(path, errno)) }
      write(report.table, to: STDOUT_FILENO, "standard output")
    }
    if let failure = failures.first { throw failure }
  }

  /// The stream was open when the process began. The number of a closed stream goes to the first
  /// file that this process opens, with close-on-exec, which no inherited descriptor has.
  private static func isInherited(_ descriptor: Int32) -> Bool {
    let flags = fcntl(descriptor, F_GETFD)
    return flags >= 0 && flags & FD_CLOEXEC == 0
  }

  /// Writes all of a text.
  /// - Returns: the errno where that is not possible.
  private static func write(_ text: String, to descriptor: Int32) -> Int32? {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 { rest.removeFirst(count) } else if errno != EINTR { return errno }
    }
    return nil
  }

  /// Writes to standard error, where there is one.
  static func writeToStandardError(_ text: String) {
    if isInherited(STDERR_FILENO) { _ = write(text, to: STDERR_FILENO) }
  }

  private static func failure(_ name: String, _ error: Int32) -> ExitCode {
    StandardError.failure("throng bench: \(name) cannot be written: \(String(cString: strerror(error)))")
  }
}
