import GroupModel
import GroupRuntime
import StoreTables

/// How PostgreSQL finds messages whatever the case. One collation folds both sides, whatever the
/// database's is: Turkish, Azeri and Lithuanian ones fold i and j otherwise. Where it differs from
/// `MessageSearch`, which has the last word, a pattern takes any letter.
struct MessageFolding: Sendable {
  /// The name of the collation.
  let collation: String
  /// Folded letters that the collation writes otherwise: its Unicode is of another version.
  let differing: Set<Unicode.Scalar>
  /// Whether trigrams hold letters beyond ASCII: the database's LC_CTYPE decides.
  let hasTrigramsOfAllLetters: Bool

  /// Those that there may be, the best first: every PostgreSQL since 17 has the second.
  private static let collations = ["und-x-icu", "pg_c_utf8"]

  init(collation: String, differing: Set<Unicode.Scalar>, hasTrigramsOfAllLetters: Bool) {
    self.collation = collation
    self.differing = differing
    self.hasTrigramsOfAllLetters = hasTrigramsOfAllLetters
  }

  /// Asks the database, which has the extension pg_trgm.
  init(_ connection: PostgreSQLConnection) throws {
    let found = try connection.rows(
      "SELECT collname::text FROM pg_collation WHERE collnamespace = 'pg_catalog'::regnamespace AND collname = ANY ($1)",
      [Self.collations]
    ) { try $0.text() }
    guard let collation = Self.collations.first(where: found.contains) else {
      throw PostgreSQLOpenError(
        .version, "search.messages needs PostgreSQL 17 or later, or one that was built with ICU, as packages are")
    }
    self.collation = collation
    let letters = Self.letters
    let folded = try connection.rows(
      "SELECT lower(letter COLLATE \"\(collation)\") FROM unnest($1) WITH ORDINALITY AS l (letter, place) ORDER BY place",
      [letters.map(\.letter)]
    ) { try $0.text() }
    differing = Set(
      zip(letters, folded).compactMap { letter, other in
        letter.folded.utf8.elementsEqual(other.utf8) ? nil : letter.folded.unicodeScalars.first
      })
    let schema = try MessageTextIndex.extensionSchema(connection)
    hasTrigramsOfAllLetters =
      try connection.rows("SELECT cardinality(\(schema).show_trgm('жжж')) > 0", []) { try $0.flag() }.first ?? false
  }

  /// The folded text of a column, as the index has it and a search asks for it.
  func folded(_ column: String) -> String { "lower(\(column) COLLATE \"\(collation)\") COLLATE \"C\"" }

  /// Whether the index knows a letter or digit; other characters are spaces to it.
  fileprivate func isInTrigrams(_ scalar: Unicode.Scalar) -> Bool {
    (scalar.isASCII || hasTrigramsOfAllLetters) && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
  }

  /// All letters that have a lower case, with it. Those of two letters are a case of their own in
  /// patterns.
  private static let letters: [(letter: String, folded: String)] = (0..<0x2_0000 as Range<UInt32>).compactMap { number in
    guard let scalar = Unicode.Scalar(number) else { return nil }
    let folded = scalar.properties.lowercaseMapping
    guard folded.unicodeScalars.count == 1, folded.unicodeScalars.first != scalar else { return nil }
    return (String(scalar), folded)
  }
}

/// Patterns of LIKE that find every text with one of the keywords, and seldom others.
struct MessagePattern: Equatable {
  let alternatives: [String]
  /// Whether each has three letters or digits in a row, so that the index helps.
  let hasTrigrams: Bool

  init(_ keywords: [String], _ folding: MessageFolding) {
    let patterns = keywords.map { Self.pattern($0.lowercased(), folding.differing) }
    alternatives = patterns
    hasTrigrams = patterns.allSatisfy { pattern in
      pattern.unicodeScalars.split { !folding.isInTrigrams($0) }.contains { $0.count >= 3 }
    }
  }

  /// - A dotted capital I is two characters in our lower case, and may be one in PostgreSQL's.
  /// - A sigma at the end of a word is another one in PostgreSQL's.
  /// - A character that is in no Unicode of ours may have a lower case there.
  private static func pattern(_ folded: String, _ differing: Set<Unicode.Scalar>) -> String {
    var pattern = String.UnicodeScalarView()
    pattern.append("%")
    for scalar in folded.unicodeScalars {
      switch scalar {
      case "\\", "%", "_": pattern += ["\\", scalar]
      case "\u{307}":
        if pattern.last == "i" { pattern.removeLast() }
        pattern.append("%")
      case "σ", "ς": pattern.append("_")
      case _ where differing.contains(scalar) || scalar.properties.age == nil: pattern.append("_")
      default: pattern.append(scalar)
      }
    }
    pattern.append("%")
    return String(pattern)
  }
}
