/// A result of `throng doctor`.
public struct Finding: Sendable, Equatable {
  /// How bad it is.
  public enum Severity: String, Sendable {
    /// As it should be.
    case ok
    /// The server starts, and may have trouble later.
    case warning
    /// The server does not start, or cannot do its work.
    case failure
  }

  /// How bad it is.
  public let severity: Severity
  /// The part that was looked at.
  public let subject: String
  /// The finding, in a sentence.
  public let text: String
  /// How to mend it; nil where nothing is to be done.
  public let remedy: String?

  static func ok(_ subject: String, _ text: String) -> Finding {
    Finding(severity: .ok, subject: subject, text: text, remedy: nil)
  }

  static func warning(_ subject: String, _ text: String, _ remedy: String) -> Finding {
    Finding(severity: .warning, subject: subject, text: text, remedy: remedy)
  }

  static func failure(_ subject: String, _ text: String, _ remedy: String) -> Finding {
    Finding(severity: .failure, subject: subject, text: text, remedy: remedy)
  }
}
