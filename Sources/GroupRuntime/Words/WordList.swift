/// The words that users may not write (Protocol.md, "Words").
public final class WordList: Sendable {
  /// The most bytes of a file.
  public static let maxFileBytes = 1 << 20
  /// The most characters of a term, before it is folded.
  static let maxCharacters = 128

  /// The terms, each once.
  public let count: Int
  private let automaton: WordAutomaton

  /// Reads a list: UTF-8, a term a line. A `#` at the beginning of a line, or behind a blank, begins a
  /// comment; a term that begins with `=` is found as a whole word alone.
  public init(parsing file: [UInt8]) throws(WordFileFault) {
    guard file.count <= WordList.maxFileBytes else { throw .tooLarge }
    let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let lines = file.dropFirst(file.starts(with: byteOrderMark) ? byteOrderMark.count : 0)
      .split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    var terms: Set<WordAutomaton.Term> = []
    for (index, line) in lines.enumerated() {
      guard let line = String(validating: line, as: UTF8.self) else { throw .notUTF8(line: index + 1) }
      if let term = try WordList.term(of: line, number: index + 1) { terms.insert(term) }
    }
    count = terms.count
    automaton = WordAutomaton(terms)
  }

  /// - Returns: nil where the line has no term.
  private static func term(of line: String, number: Int) throws(WordFileFault) -> WordAutomaton.Term? {
    let text = line.utf8.withoutComment.trimmed
    guard let first = text.first else { return nil }
    let isWholeWord = first == UInt8(ascii: "=")
    let term = String(decoding: isWholeWord ? text.dropFirst().trimmed : text, as: UTF8.self)
    guard !term.isEmpty else { throw .emptyTerm(line: number) }
    guard term.unicodeScalars.count <= maxCharacters else { throw .longTerm(line: number) }
    return WordAutomaton.Term(bytes: FoldedText(term).bytes, isWholeWord: isWholeWord)
  }

  /// About the memory that it takes.
  public var byteCount: Int { automaton.byteCount }

  /// Whether a text has one of the words.
  public func hasMatch(in text: String) -> Bool {
    var isFound = false
    automaton.scan(FoldedText(text)) { _ in
      isFound = true
      return false
    }
    return isFound
  }

  /// The text with a star in place of each character that takes part in one of the words; nil = it has
  /// none.
  public func masked(_ text: String) -> String? {
    guard hasMatch(in: text) else { return nil }
    let folded = FoldedText(text, keepsOrigins: true)
    var matches: [Range<Int>] = []
    automaton.scan(folded) { match in
      // They come by their ends.
      var start = match.lowerBound
      while let last = matches.last, last.upperBound >= start {
        start = min(start, last.lowerBound)
        matches.removeLast()
      }
      matches.append(start..<match.upperBound)
      return true
    }
    return folded.masking(matches, of: text)
  }
}

/// The reason why a list of words cannot be used, in a sentence for the operator.
public enum WordFileFault: Error, Sendable, Equatable, CustomStringConvertible {
  case tooLarge
  case notUTF8(line: Int)
  case emptyTerm(line: Int)
  case longTerm(line: Int)

  public var description: String {
    switch self {
    case .tooLarge: "it has more than 1 MiB"
    case .notUTF8(let line): "line \(line) is not UTF-8"
    case .emptyTerm(let line): "line \(line) has no word behind ="
    case .longTerm(let line): "the word of line \(line) has more than \(WordList.maxCharacters) characters"
    }
  }
}

extension BidirectionalCollection<UInt8> {
  /// The line up to a `#` at its beginning or behind a blank.
  fileprivate var withoutComment: SubSequence {
    var isBehindBlank = true
    let end = firstIndex { byte in
      defer { isBehindBlank = byte.isBlank }
      return isBehindBlank && byte == UInt8(ascii: "#")
    }
    return self[..<(end ?? endIndex)]
  }
}

extension BidirectionalCollection<UInt8> where SubSequence == Self {
  /// Without blanks at both ends.
  fileprivate var trimmed: Self {
    var rest = drop { $0.isBlank }
    while let last = rest.last, last.isBlank { rest.removeLast() }
    return rest
  }
}

extension UInt8 {
  /// A space, a tab, or the carriage return of another system's lines.
  fileprivate var isBlank: Bool { self == 0x20 || self == 0x09 || self == 0x0D }
}
