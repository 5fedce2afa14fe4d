/// The type of a member as specifications write it: `integer`, `[MemberInfo]`, `{userID, result}`, `"Joined" or "Pending"`.
///
/// A member of an object may say its own type (`{count: integer}`); otherwise `Vocabulary` knows it by its name. A question mark
/// behind a name says that the member may be absent.
indirect enum TypeNotation: Equatable {
  /// A type of JSON, or one of `Vocabulary.types`.
  case name(String)
  /// One text.
  case literal(String)
  case array(TypeNotation)
  case object([Member])
  /// One of several.
  case any([TypeNotation])

  /// One member of an object.
  struct Member: Equatable {
    let name: String
    let isOptional: Bool
    /// Nil where the name says it.
    let type: TypeNotation?
  }

  /// Reads a notation; nil where it is none.
  init?(_ text: String) {
    var reader = NotationReader(text)
    guard let type = reader.type(), reader.isAtEnd else { return nil }
    self = type
  }
}

/// Reads a notation from left to right.
private struct NotationReader {
  private var rest: Substring

  init(_ text: String) { rest = text[...] }

  var isAtEnd: Bool { rest.isEmpty }

  /// One alternative, or several with commas or "or" between them.
  mutating func type() -> TypeNotation? {
    guard let first = alternative() else { return nil }
    var all = [first]
    while takeSeparator() {
      guard let next = alternative() else { return nil }
      all.append(next)
    }
    return all.count == 1 ? first : .any(all)
  }

  /// A comma separates alternatives only before a literal; elsewhere it separates the members of an object.
  private mutating func takeSeparator() -> Bool {
    if rest.hasPrefix(", \"") { return take(", ") }
    return take(" or ")
  }

  private mutating func alternative() -> TypeNotation? {
    if take("[") {
      guard let element = type(), take("]") else { return nil }
      return .array(element)
    }
    if take("{") { return object() }
    if take("\"") {
      let text = rest.prefix { $0 != "\"" }
      rest = rest.dropFirst(text.count)
      return take("\"") ? .literal(String(text)) : nil
    }
    return word().map(TypeNotation.name)
  }

  private mutating func object() -> TypeNotation? {
    var members: [TypeNotation.Member] = []
    repeat {
      guard let name = word() else { return nil }
      let isOptional = take("?")
      var own: TypeNotation?
      if take(": ") {
        own = type()
        guard own != nil else { return nil }
      }
      members.append(TypeNotation.Member(name: name, isOptional: isOptional, type: own))
    } while take(", ")
    return take("}") ? .object(members) : nil
  }

  private mutating func word() -> String? {
    let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" || $0 == "." }
    rest = rest.dropFirst(word.count)
    return word.isEmpty ? nil : String(word)
  }

  private mutating func take(_ text: String) -> Bool {
    guard rest.hasPrefix(text) else { return false }
    rest = rest.dropFirst(text.count)
    return true
  }
}
