/// The words that a member takes, and how descriptions and errors name them.
public struct Words: Sendable, Equatable {
  /// Words that cannot be listed, such as a custom role's number.
  public struct Others: Sendable, Equatable {
    /// A regular expression (ECMA 262, not anchored) that each of them matches. May let more pass than is meant: `meaning` says
    /// the rest.
    public let pattern: String
    /// The same for people.
    public let meaning: String

    /// Words by a pattern and what it means.
    public init(pattern: String, meaning: String) {
      self.pattern = pattern
      self.meaning = meaning
    }
  }

  /// The words that can be listed, in the order in which they are named.
  public let options: [String]
  /// What else there is; nil = nothing.
  public let others: Others?

  /// Some words, and others.
  public init(_ options: [String], or others: Others? = nil) {
    self.options = options
    self.others = others
  }

  /// All of them in a sentence: `High, Normal, Low`; with others `Admin, Member, or 100 to 2147483647`.
  public var sentence: String {
    let listed = options.joined(separator: ", ")
    guard let others else { return listed }
    return "\(listed), or \(others.meaning)"
  }

  /// The error of a text that is none of them.
  func fault(in name: StaticString) -> WireError {
    WireError(.badValue, "\(name) is one of \(sentence)", field: "\(name)")
  }

  /// The members of a JSON Schema: an enumeration, or a pattern with its meaning beside it.
  func write(into writer: inout JSONWriter) {
    writer.member("type", "string")
    guard let others else { return writer.member("enum", options) }
    writer.member("pattern", "^(\((options + [others.pattern]).joined(separator: "|")))$")
    writer.member("description", "one of \(sentence)")
  }
}
