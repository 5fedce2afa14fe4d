import Testing
import ThrongTestKit

@testable import GroupRuntime

/// The list of words: its file, and what it finds (Protocol.md, "Words").
@Suite struct WordListTests {
  private func list(_ lines: String...) throws -> WordList { try WordList(parsing: Array(lines.joined(separator: "\n").utf8)) }

  // MARK: Finding

  /// Every term at every place: nothing of it is shared with the automaton.
  private struct Oracle {
    let terms: [(text: [Character], isWholeWord: Bool)]

    /// Which characters of an ASCII text take part in a word.
    func hidden(in text: [Character]) -> [Bool] {
      var hidden = [Bool](repeating: false, count: text.count)
      let folded = text.map { Character($0.lowercased()) }
      for (term, isWholeWord) in terms where term.count <= text.count {
        for start in 0...(text.count - term.count) {
          let end = start + term.count
          guard Array(folded[start..<end]) == term.map({ Character($0.lowercased()) }) else { continue }
          if isWholeWord, start > 0 && isPart(folded[start - 1]) || end < text.count && isPart(folded[end]) { continue }
          for index in start..<end { hidden[index] = true }
        }
      }
      return hidden
    }

    private func isPart(_ character: Character) -> Bool { character.isLetter || character.isNumber || character == "_" }
  }

  @Test(arguments: UInt64(0)..<40)
  func itFindsWhatTrialFinds(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let alphabets = ["ab", "abA", "aB ", "ab_ ", "abc-1"].map { Array($0) }
    for _ in 0..<150 {
      let alphabet = alphabets[Int.random(in: 0..<alphabets.count, using: &random)]
      func text(_ length: Int) -> [Character] {
        (0..<length).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &random)] }
      }
      let terms = (0..<Int.random(in: 1...12, using: &random)).compactMap { _ -> (text: [Character], isWholeWord: Bool)? in
        let term = text(Int.random(in: 1...6, using: &random))
        // Blanks at its ends are no part of a term.
        guard term.first != " ", term.last != " " else { return nil }
        return (term, Bool.random(using: &random))
      }
      let lines = terms.map { ($0.isWholeWord ? "=" : "") + String($0.text) }.joined(separator: "\n")
      let list = try WordList(parsing: Array(lines.utf8))
      let oracle = Oracle(terms: terms)
      for _ in 0..<20 {
        let sent = text(Int.random(in: 0...60, using: &random))
        let hidden = oracle.hidden(in: sent)
        let expected = hidden.contains(true) ? String(zip(sent, hidden).map { $1 ? "*" : $0 }) : nil
        #expect(list.masked(String(sent)) == expected, "\(lines) in \(String(sent))")
        #expect(list.hasMatch(in: String(sent)) == (expected != nil))
      }
    }
  }

  @Test func textsAreComparedFolded() throws {
    let list = try list("bad", "straße", "é", "ガ", "각")
    for text in [
      "BAD", "ｂａｄ", "𝐛𝐚𝐝", "xbadx", "STRASSE", "straẞe", "E\u{301}", "ｶﾞ", "\u{1100}\u{1161}\u{11A8}", "\u{212F}\u{301}",
    ] {
      #expect(list.hasMatch(in: text), "\(text)")
    }
    for text in ["ba d", "bаd", "strase", "e", "カ", "가", "", "*"] { #expect(!list.hasMatch(in: text), "\(text)") }
  }

  /// A letter and its mark are another letter.
  @Test func aPartOfALetterWithAMarkIsNoWord() throws {
    let list = try list("cafe")
    #expect(!list.hasMatch(in: "cafe\u{301}") && !list.hasMatch(in: "café") && list.hasMatch(in: "cafes"))
  }

  @Test(arguments: [
    ("you bad one", "you *** one"), ("ＢＡＤ", "***"), ("ofﬁce", "o**ce"), ("caﬀfire", "ca***re"), ("weiß", "wei*"),
    ("WEISS", "WEI**"),
    ("e\u{301}cole", "**cole"), ("école", "*cole"),
    ("\u{1100}\u{1161}\u{11A8}!", "***!"), ("각!", "*!"), ("badad", "*****"),
    ("bad bad", "*** ***"), ("👨\u{200D}👩\u{200D}👧x", "*****x"), ("x\u{0}bad", "x\u{0}***"),
  ])
  func starsStandForTheCharactersAsSent(text: String, expected: String) throws {
    let list = try list("bad", "ada", "dad", "ffi", "fi", "ss", "é", "각", "👨\u{200D}👩\u{200D}👧")
    let masked = list.masked(text) ?? text
    #expect(Array(masked.unicodeScalars) == Array(expected.unicodeScalars), "\(masked)")
    #expect(masked.utf8.count <= text.utf8.count)
  }

  @Test func aWholeWordEndsWhereNoLetterDigitOrUnderscoreStands() throws {
    let list = try list("=ass", "=c++", "=ein wort")
    for text in ["ass", "ASS!", "(ass)", "an ass.", "ass-hat", "中 ass", "c++", "c++!", "ein wort", "\u{332}ass\u{332}"] {
      #expect(list.hasMatch(in: text), "\(text)")
    }
    for text in [
      "class", "asset", "ass1", "1ass", "_ass", "ass_", "éass", "assé", "中ass", "ass٣", "c++a", "ac++", "kein wort", "ein worte",
    ] {
      #expect(!list.hasMatch(in: text), "\(text)")
    }
    // The longer one is none here, the shorter is one.
    let nested = try self.list("=b", "=a b")
    #expect(nested.masked("xa b") == "xa *" && nested.masked("a b") == "***" && nested.masked("a bx") == nil)
    // A plain term is found where the same whole word is not.
    #expect(try self.list("=ab", "b").masked("xab") == "xa*")
  }

  /// A long text that nearly has each of many terms at each of its places.
  @Test func manyTermsMayBeginAlike() throws {
    let plain = (1...120).map { String(repeating: "a", count: $0) + "b" }
    let whole = (1...60).map { "=" + String(repeating: "ac", count: $0) + "d" }
    let list = try WordList(parsing: Array((plain + whole).joined(separator: "\n").utf8))
    let text = String(repeating: "a", count: 12_288)
    #expect(!list.hasMatch(in: text) && list.hasMatch(in: text + "b"))
    let masked = String(repeating: "a", count: 12_168) + String(repeating: "*", count: 121)
    #expect(list.masked(text + "b") == masked)
    #expect(list.hasMatch(in: String(repeating: "ac", count: 60) + "d"))
    #expect(!list.hasMatch(in: String(repeating: "ac", count: 61) + "d"), "no whole word begins inside one")
  }

  // MARK: The file

  @Test func aFileHasATermALine() throws {
    let list = try list(
      "# words", "  bad  ", "", "Bad", "=worse # by itself", "\tugly\t", "c#", "   ", "#", "a b\r", " # no word", "foo #bar")
    #expect(list.count == 6)
    for text in ["bad", "ugly", "c#", "a b", "foo", "worse"] { #expect(list.hasMatch(in: text), "\(text)") }
    for text in ["words", "c", "bar", "by itself", "no word", "worsened", "ab"] { #expect(!list.hasMatch(in: text), "\(text)") }
  }

  @Test func aByteOrderMarkIsNoPartOfATerm() throws {
    let list = try WordList(parsing: [0xEF, 0xBB, 0xBF] + Array("bad\r\nworse\r\n".utf8))
    #expect(list.count == 2 && list.masked("bad worse") == "*** *****")
  }

  @Test func anEmptyFileFindsNothing() throws {
    for file in ["", "\n\n", "# nothing\n"] {
      let list = try WordList(parsing: Array(file.utf8))
      #expect(list.count == 0 && !list.hasMatch(in: "") && !list.hasMatch(in: "x") && list.masked("x") == nil)
    }
  }

  @Test func aFileMayHaveOneMebibyte() throws {
    let line = Array("bad\n".utf8)
    let file = (0..<(1 << 18)).flatMap { _ in line }
    #expect(file.count == 1 << 20)
    #expect(try WordList(parsing: file).count == 1)
    #expect(throws: WordFileFault.tooLarge) { try WordList(parsing: file + [0x0A]) }
  }

  @Test func badLinesAreNamed() {
    #expect(throws: WordFileFault.notUTF8(line: 2)) { try WordList(parsing: Array("a\n".utf8) + [0xFF, 0x0A]) }
    #expect(throws: WordFileFault.emptyTerm(line: 3)) { try WordList(parsing: Array("a\nb\n=\n".utf8)) }
    #expect(throws: WordFileFault.emptyTerm(line: 1)) { try WordList(parsing: Array(" =  # none".utf8)) }
    let long = String(repeating: "ß", count: 128)
    #expect(throws: Never.self) { try WordList(parsing: Array(("=" + long).utf8)) }
    #expect(throws: WordFileFault.longTerm(line: 1)) { try WordList(parsing: Array((long + "ß").utf8)) }
    #expect(WordFileFault.emptyTerm(line: 3).description == "line 3 has no word behind =")
  }

  // MARK: The list in use

  @Test func aListIsReplaced() throws {
    let words = CurrentWords(try list("bad"), .mask)
    #expect(try words.filter("bad worse", .text) == "*** worse")
    words.replace(with: try list("worse"))
    #expect(try words.filter("bad worse", .text) == "bad *****")
    #expect(try words.filter("fine", .nickName) == "fine")
    #expect(words.matchCounts == [.text: 2])
    #expect(try words.filter("worse", .text, counts: false) == "*****" && words.matchCounts == [.text: 2])
  }
}
