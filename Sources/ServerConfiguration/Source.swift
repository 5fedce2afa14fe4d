/// Where a value came from (contract section 9); a later case wins over an earlier one.
public enum Source: Sendable, Hashable, CustomStringConvertible {
  /// Nobody said anything.
  case fallback
  /// The configuration file of that path.
  case file(String)
  /// The environment variable of that name.
  case environment(String)
  /// The flag of that name: `--set`, or one that is short for it.
  case flag(String)

  /// As `config show` prints it.
  public var description: String {
    switch self {
    case .fallback: "default"
    case .file(let path): "file \(path)"
    case .environment(let name): "environment \(name)"
    case .flag(let name): "flag \(name)"
    }
  }
}
