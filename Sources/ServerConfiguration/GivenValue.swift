/// A value as somebody wrote it, before its key says what it should be.
enum GivenValue: Sendable, Equatable {
  /// From the environment or a flag, where everything is text.
  case text(String)
  /// From a file, which says what kind of scalar it is.
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

/// Why a value is not accepted.
struct Refusal: Error, Equatable {
  /// What the key takes, such as `an integer of 0 to 100`.
  let expected: String
  /// What was found instead.
  let found: String
}

extension String {
  /// The text in quotes, on one line and of bearable length, for a message.
  var quoted: String {
    let shortened = count > 80 ? prefix(80) + "…" : self[...]
    return String(shortened).debugDescription
  }
}
