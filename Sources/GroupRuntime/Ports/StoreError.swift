/// Why a store could not do what it was asked; the client gets 10002, the operator the text.
public struct StoreError: Error, Sendable, CustomStringConvertible {
  /// What kind of failure it was.
  public enum Kind: Sendable, Equatable {
    /// The disk is full or read-only, or does not answer: worth trying again.
    case unavailable
    /// What is stored makes no sense, or the change contradicts it.
    case inconsistent
    /// Whoever asked has gone; nobody wants the answer.
    case cancelled
    /// An earlier commit of the same generation failed, so this one was not tried.
    case abandoned
  }

  public let kind: Kind
  public let description: String

  /// An error with its text for the log, which names no message body.
  public init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}
