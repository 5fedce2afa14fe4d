import ThrongTestKit

/// Which name of the server's a token of the model stands for. One name stands for one token and
/// the other way round, so that a msgID that is used twice, or an epoch that does not change, is
/// seen.
struct ModelTokens {
  private var names: [String: String] = [:]
  private var tokens: [String: String] = [:]

  /// The name that the token stands for, where that is known yet.
  func name(of token: String) -> String? { names[token] }

  /// The value with names instead of tokens.
  func resolved(_ value: JSON) -> JSON {
    switch value {
    case .string(let text): .string(names[text] ?? text)
    case .array(let elements): .array(elements.map { resolved($0) })
    case .object(let members): .object(members.mapValues { resolved($0) })
    default: value
    }
  }

  /// The value with tokens instead of the names that are known.
  func tokenized(_ value: JSON) -> JSON {
    switch value {
    case .string(let text): .string(tokens[text] ?? text)
    case .array(let elements): .array(elements.map { tokenized($0) })
    case .object(let members): .object(members.mapValues { tokenized($0) })
    default: value
    }
  }

  /// Whether the value is what was expected. ModelTokens that come for the first time take their
  /// names here.
  mutating func match(_ value: JSON, _ expected: JSON) -> Bool {
    switch (value, expected) {
    case (.string(let name), .string(let token)) where token.hasPrefix("§"): return bind(name, token)
    case (.array(let a), .array(let b)):
      guard a.count == b.count else { return false }
      for (a, b) in zip(a, b) where !match(a, b) { return false }
      return true
    case (.object(let a), .object(let b)):
      guard a.count == b.count else { return false }
      for (name, value) in b {
        guard let other = a[name], match(other, value) else { return false }
      }
      return true
    default: return value == expected
    }
  }

  private mutating func bind(_ name: String, _ token: String) -> Bool {
    if let known = names[token] { return known == name }
    guard tokens[name] == nil else { return false }
    names[token] = name
    tokens[name] = token
    return true
  }
}
