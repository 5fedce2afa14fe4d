/// A value as it was written, before its key reads it.
enum GivenValue: Sendable, Equatable {
  /// From the environment or a flag, where every value is text.
  case text(String)
  /// From a file, which tells kinds of scalars apart.
  case scalar(String, ScalarKind)
  /// A list in a file.
  case list([Scalar])

  struct Scalar: Sendable, Equatable {
    let text: String
    let kind: ScalarKind
  }

  enum ScalarKind: Sendable { case string, integer, fraction, boolean }
}

/// A value together with its key's name and its source.
struct GivenEntry: Sendable, Equatable {
  let path: String
  let value: GivenValue
  let source: Source
}

/// The reason why a key does not accept a value.
struct Refusal: Error, Equatable {
  /// A description of the key's values, such as `an integer of 0 to 100`.
  let expected: String
  /// A description of the value that was given.
  let found: String
  /// The kind of that value without the value; nil where the kind is not what is wrong.
  var foundKind: String?
}

extension String {
  /// The text in quotes, on one line and at most 80 characters long, for a message.
  var quoted: String {
    let shortened = count > 80 ? prefix(80) + "…" : self[...]
    return String(shortened).debugDescription
  }
}

/// The source of a value; a later case wins over an earlier one (Configuration.md, "Sources").
public enum Source: Sendable, Hashable, CustomStringConvertible {
  /// The default of the key.
  case fallback
  /// The configuration file of that path.
  case file(String)
  /// The environment variable of that name.
  case environment(String)
  /// The flag of that name: `--set` or a short form.
  case flag(String)

  /// The number of the layer that it belongs to; the higher wins.
  var layer: Int {
    switch self {
    case .fallback: 0
    case .file: 1
    case .environment: 2
    case .flag: 3
    }
  }

  /// The text of `config show`.
  public var description: String {
    switch self {
    case .fallback: "default"
    case .file(let path): "file \(path)"
    case .environment(let name): "environment \(name)"
    case .flag(let name): "flag \(name)"
    }
  }
}
