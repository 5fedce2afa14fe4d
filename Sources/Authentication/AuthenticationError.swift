/// A fault of the operator's keys or secret, found at the start; it never holds key material.
public struct AuthenticationError: Error, Sendable, Equatable, CustomStringConvertible {
  /// One sentence for the operator, on one line.
  public let description: String

  init(_ description: String) { self.description = description }
}
