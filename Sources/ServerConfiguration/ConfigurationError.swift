/// Everything that is wrong with a configuration (contract section 9), found in one pass.
public struct ConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
  /// One line for each fault: the key or variable, what is wrong, where it was said. Never a secret's value.
  public let problems: [String]
  /// What `log.format` says; nil where it cannot be read.
  public let logFormat: LogFormat?

  /// The problems, one on each line.
  public var description: String { problems.joined(separator: "\n") }
}
