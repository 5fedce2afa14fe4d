#if canImport(Glibc)
  import FoundationEssentials
  import Glibc
#else
  import Foundation
#endif

/// What is said where nobody looks at the events: a line where there is no connection, where there
/// is one again, and where none will be.
struct ConnectionReport {
  private let address: String
  private var wasOnline = false
  private var isAway = false

  init(_ url: URL) { address = ConnectionReport.shown(url.absoluteString).onOneLine }

  /// The address without what may be secret: a user, a password, a query.
  static func shown(_ address: String) -> String {
    let text = address.prefix { $0 != "?" && $0 != "#" }
    // ws:, nothing, the host, the path
    var parts = text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count > 2, let at = parts[2].lastIndex(of: "@") else { return String(text) }
    parts[2] = parts[2][parts[2].index(after: at)...]
    return parts.joined(separator: "/")
  }

  /// The line about the connection's new state; nil where there is nothing to say.
  mutating func line(for state: ConnectionState) -> String? {
    switch state {
    case .idle, .connecting: return nil
    case .waiting(let loss, let delay):
      isAway = true
      let tenths = Int((delay / .milliseconds(100)).rounded())
      return "throng: not connected to \(address): \(loss.cause); next try in \(tenths / 10).\(tenths % 10) s"
    case .online:
      defer { (wasOnline, isAway) = (true, false) }
      return isAway ? "throng: connected to \(address)" : nil
    case .closed(let loss):
      // Before the first sign-in `connect` throws the reason.
      guard wasOnline, (loss.error as? ClientError)?.reason != .closed else { return nil }
      return "throng: the connection to \(address) is closed for good: \(loss.cause)"
    }
  }
}

extension StorageFailure {
  /// The line about it.
  var line: String {
    let lost = lostOutbox ? "; messages that waited to be sent may be lost" : ""
    return "throng: the storage has failed (\(reason.rawValue)), and the client goes on: \(message)\(lost)".onOneLine
  }
}

extension ConnectionLoss {
  /// Why the connection has ended, on one line.
  fileprivate var cause: String {
    var parts = reason.isEmpty ? [] : [reason]
    if let words = wordsOfError, words != reason { parts.append(words) }
    let text = parts.isEmpty ? "the connection has ended" : parts.joined(separator: ": ")
    return (code.rawValue > 0 && code.rawValue != 1006 ? "\(text) (\(code.rawValue))" : text).onOneLine
  }

  private var wordsOfError: String? {
    switch error {
    case nil: nil
    // `reason` has its words.
    case is TransportError: nil
    case let error as ThrongError: error.message
    case let error as ClientError: error.detail ?? error.reason.rawValue
    case let error as any LocalizedError: error.errorDescription ?? "\(error)"
    case .some(let error): "\(error)"
    }
  }
}

extension String {
  /// Words of others as part of a line: no character moves the cursor, or turns the line around.
  fileprivate var onOneLine: String {
    var line = ""
    for scalar in unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: line.unicodeScalars.append(" ")
      default: line.unicodeScalars.append(scalar)
      }
    }
    return line
  }
}

extension ClientOptions {
  /// Writes a line to standard error.
  public static let standardError: @Sendable (String) -> Void = { line in
    let bytes = Array("\(line)\n".utf8)
    // A line that cannot be written is lost: there is nobody to tell.
    _ = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
