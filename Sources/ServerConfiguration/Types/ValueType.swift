/// The type of a key's values: how they are described, read and shown.
struct ValueType<Value: Sendable>: Sendable {
  /// The description in messages, such as `an integer of 0 to 100`.
  let name: String
  /// The unit of a plain number; nil for values that have none.
  var unit: String?
  let read: @Sendable (GivenValue) -> Result<Value, Refusal>
  /// The text of `config show`.
  let show: @Sendable (Value) -> String
  /// The text of a file.
  let yaml: @Sendable (Value) -> String

  /// A type that is written as one scalar.
  /// - Parameters:
  ///   - unit: the unit of a plain number.
  ///   - kinds: the kinds of scalar that a file may use.
  ///   - unless: a better description of the expected value for some texts than the type's name.
  ///   - quote: how a message repeats a text that is refused.
  static func scalar(
    _ name: String, unit: String? = nil, as kinds: Set<GivenValue.ScalarKind>, show: @escaping @Sendable (Value) -> String,
    parse: @escaping @Sendable (String) -> Value?, unless: @escaping @Sendable (String) -> String? = { _ in nil },
    quote: @escaping @Sendable (String) -> String = \.quoted
  ) -> ValueType {
    ValueType(
      name: name, unit: unit,
      read: { given in
        let text: String
        switch given {
        case .text(let given): text = given
        case .scalar(let given, let kind):
          guard kinds.contains(kind) else {
            return .failure(Refusal(expected: name, found: kind.description(of: given), foundKind: kind.description))
          }
          text = given
        case .list: return .failure(Refusal(expected: name, found: "a list", foundKind: "a list"))
        }
        guard let value = parse(text) else { return .failure(Refusal(expected: unless(text) ?? name, found: quote(text))) }
        return .success(value)
      }, show: show, yaml: { YAMLText.scalar(show($0)) })
  }

  /// The same type for a key that may stay unset.
  var optional: ValueType<Value?> {
    ValueType<Value?>(
      name: name, unit: unit, read: { read($0).map(Optional.some) }, show: { $0.map(show) ?? ShownText.unset },
      yaml: { $0.map(yaml) ?? YAMLText.unset })
  }

  /// A list of such values: a sequence in a file, comma-separated elsewhere.
  func list(of plural: String) -> ValueType<[Value]> {
    let expected = "a list of \(plural)"
    return ValueType<[Value]>(
      name: expected,
      read: { given in
        var values: [Value] = []
        for element in given.elements {
          switch read(element) {
          case .success(let value): values.append(value)
          case .failure(let refusal):
            // A better description than the type's name (`unless`) is about this one element.
            let better = refusal.expected == name ? expected : refusal.expected
            return .failure(Refusal(expected: better, found: refusal.found))
          }
        }
        return .success(values)
      }, show: { $0.isEmpty ? ShownText.unset : $0.map(show).joined(separator: ",") },
      yaml: { "[" + $0.map(yaml).joined(separator: ", ") + "]" })
  }
}

extension GivenValue {
  /// The elements of a value whose key takes a list.
  fileprivate var elements: [GivenValue] {
    switch self {
    case .list(let scalars): scalars.map { .scalar($0.text, $0.kind) }
    case .text(let text), .scalar(let text, .string): GivenValue.split(text).map(GivenValue.text)
    case .scalar: [self]
    }
  }

  private static func split(_ text: String) -> [String] {
    let elements = text.split(separator: ",", omittingEmptySubsequences: false).map { $0.trimmingSpaces() }
    return elements == [""] ? [] : elements
  }
}

extension GivenValue.ScalarKind {
  fileprivate func description(of text: String) -> String {
    switch self {
    case .string: "the text \(text.quoted)"
    case .integer, .fraction: "the number \(text) \(GivenValue.ScalarKind.hint)"
    case .boolean: "the truth value \(text) \(GivenValue.ScalarKind.hint)"
    }
  }

  /// The same without the value.
  fileprivate var description: String {
    switch self {
    case .string: "a text"
    case .integer, .fraction: "a number \(GivenValue.ScalarKind.hint)"
    case .boolean: "a truth value \(GivenValue.ScalarKind.hint)"
    }
  }

  private static let hint = "(a text is written in quotes)"
}

extension Substring {
  fileprivate func trimmingSpaces() -> String {
    guard let first = firstIndex(where: { $0 != " " }), let last = lastIndex(where: { $0 != " " }) else { return "" }
    return String(self[first...last])
  }
}

/// Words of `config show`.
enum ShownText {
  /// The key has no value.
  static let unset = "(none)"
}

/// Values as a YAML file writes them.
enum YAMLText {
  /// The key has no value.
  static let unset = "null"

  /// A scalar, in quotes where its characters could mean something to YAML.
  static func scalar(_ text: String) -> String {
    if text == ShownText.unset { return unset }
    let isPlain = text.wholeMatch(of: /[A-Za-z0-9.\/][A-Za-z0-9.\/_~+-]*(:[A-Za-z0-9.\/_~+-]+)*/) != nil
    return isPlain ? text : text.debugDescription
  }
}
