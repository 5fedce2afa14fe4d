/// The words that a parameter takes, and their names in descriptions and errors.
public struct AllowedWords: Sendable, Equatable {
  /// Words that cannot be listed, such as the number of a custom role.
  public struct Pattern: Sendable, Equatable {
    /// A regular expression (ECMA 262, not anchored). It may match more than `meaning` allows.
    public let expression: String
    /// The exact words, for people.
    public let meaning: String

    /// A pattern with its meaning.
    public init(_ expression: String, meaning: String) {
      self.expression = expression
      self.meaning = meaning
    }
  }

  /// The words that can be listed, in the order of descriptions.
  public let listed: [String]
  /// Nil = there are only the listed words.
  public let pattern: Pattern?

  /// Listed words, and others that match a pattern.
  public init(_ listed: [String], or pattern: Pattern? = nil) {
    self.listed = listed
    self.pattern = pattern
  }

  /// All in a sentence: `High, Normal, Low`; with a pattern `Admin, Member, or 100 to 2147483647`.
  public var sentence: String {
    let words = listed.joined(separator: ", ")
    guard let pattern else { return words }
    return "\(words), or \(pattern.meaning)"
  }

  /// The error of any other text.
  func fault(in name: StaticString) -> WireError {
    WireError(.badValue, "\(name) is one of \(sentence)", field: "\(name)")
  }

  /// Writes the members of a JSON Schema: an enumeration, or a pattern.
  func encodeSchema(into writer: inout JSONWriter) {
    writer.member("type", "string")
    guard let pattern else { return writer.member("enum", listed) }
    writer.member("pattern", "^(\((listed + [pattern.expression]).joined(separator: "|")))$")
  }
}
