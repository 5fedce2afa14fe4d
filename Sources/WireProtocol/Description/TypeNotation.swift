/// The type of a member as specifications write it: `integer`, `[MemberInfo]`, `{userID, count?}`,
/// `"Joined" or "Pending"`. A member of an object gives its type (`{count: integer}`), or
/// `NamedType.memberTypes` has it.
package indirect enum TypeNotation: Equatable, Sendable {
  /// A type of JSON, or one of `NamedType.all`.
  case name(String)
  /// One text.
  case literal(String)
  /// A list of elements of one type.
  case array(TypeNotation)
  /// An object of these members.
  case object([Member])
  /// One of several.
  case any([TypeNotation])

  /// One member of an object.
  package struct Member: Equatable, Sendable {
    /// Its key in the object.
    package let name: String
    /// Whether it may be absent.
    package let isOptional: Bool
    /// Nil where `NamedType.memberTypes` has it.
    package let type: TypeNotation?
  }

  /// Reads a notation; nil where it is none.
  package init?(_ text: String) {
    var reader = NotationReader(text)
    guard let type = reader.type(), reader.isAtEnd else { return nil }
    self = type
  }
}

/// Reads a notation from left to right.
private struct NotationReader {
  private var remaining: Substring

  init(_ text: String) { remaining = text[...] }

  var isAtEnd: Bool { remaining.isEmpty }

  /// One alternative, or several with commas or "or" between them.
  mutating func type() -> TypeNotation? {
    guard let first = alternative() else { return nil }
    var all = [first]
    while skipSeparator() {
      guard let next = alternative() else { return nil }
      all.append(next)
    }
    return all.count == 1 ? first : .any(all)
  }

  /// A comma separates alternatives only before a literal; elsewhere it separates members.
  private mutating func skipSeparator() -> Bool {
    if remaining.hasPrefix(", \"") { return skip(", ") }
    return skip(" or ")
  }

  private mutating func alternative() -> TypeNotation? {
    if skip("[") {
      guard let element = type(), skip("]") else { return nil }
      return .array(element)
    }
    if skip("{") { return object() }
    if skip("\"") {
      let text = remaining.prefix { $0 != "\"" }
      remaining = remaining.dropFirst(text.count)
      return skip("\"") ? .literal(String(text)) : nil
    }
    return word().map(TypeNotation.name)
  }

  private mutating func object() -> TypeNotation? {
    var members: [TypeNotation.Member] = []
    repeat {
      guard let name = word() else { return nil }
      let isOptional = skip("?")
      var own: TypeNotation?
      if skip(": ") {
        own = type()
        guard own != nil else { return nil }
      }
      members.append(TypeNotation.Member(name: name, isOptional: isOptional, type: own))
    } while skip(", ")
    return skip("}") ? .object(members) : nil
  }

  private mutating func word() -> String? {
    let word = remaining.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" || $0 == "." }
    remaining = remaining.dropFirst(word.count)
    return word.isEmpty ? nil : String(word)
  }

  private mutating func skip(_ text: String) -> Bool {
    guard remaining.hasPrefix(text) else { return false }
    remaining = remaining.dropFirst(text.count)
    return true
  }
}
