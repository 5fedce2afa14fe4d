import Foundation
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// NFKC and full case folding, by scalar and of whole texts.
@Suite struct FoldingTests {
  private func folded(_ text: String) -> String { String(decoding: FoldedText(text).bytes, as: UTF8.self) }

  /// FNV-1a over the foldings of the scalars that Unicode 14 has, each with a byte FF behind it, for
  /// each 4096 of planes 0 to 2. They were made from the tables of Python 3.11:
  /// `normalize("NFKC", "".join(x.casefold() for x in normalize("NFKC", scalar)))`.
  private static let digests: [UInt64] = [
    0x8A2AE3114C7B5A6E, 0x9E0B878F40C45848, 0xA88E41321A85339F, 0x4D9E4D23A68954CC,
    0xFDDF8C1AEDF3CC25, 0xE717FCD8D1568925, 0x65474195CE7A7F25, 0x3217EFDD4C76A225,
    0x1FFB742149AB2825, 0xF88727321DD4E325, 0x89C98ABE8273D353, 0x16BA88A65D9DCC25,
    0x711A9F098F07A025, 0xF9202D4CE822C765, 0x01A5A34C27773F25, 0xECCE0B0CBA513961,
    0x4569AAEFD47437E8, 0xF4FA1BF4227F65B5, 0xDFD91572127B4184, 0xB94B19CF952A97A6,
    0x78D820E9008E39B0, 0xCBF29CE484222325, 0xE43CCAEEEE88DF6E, 0xB2E6D6655CD2F425,
    0xB9CA08899A4855D9, 0xCBF29CE484222325, 0xB0504B7C06685CE4, 0x31A7552B6CCD158E,
    0xFFF5C1F9C0A371D1, 0x44BA49F742F40C80, 0xD2D3E1EC4F7785AE, 0xAB2114DD06F10A09,
    0xB770A3B64990A025, 0xCCA55E311748B625, 0x16C062A8C06E0725, 0x9018FC5AB55AA625,
    0x978C730F339EC625, 0xAA9CF6A06376AF25, 0x6CA9D84503C42825, 0x2E0F77EED8470C25,
    0x1733B5148B41B425, 0x4CC97F3DD5269825, 0xDE852507179A3465, 0x77BE40300FEE32AC,
    0x55B5ACF9A9BC221E, 0x6B19CBA0C3FEBD25, 0x470889398EA865F9, 0x125D82D456D1B28B,
  ]

  @Test(arguments: FoldingTests.digests.indices)
  func eachScalarIsFoldedAsUnicodeHasIt(block: Int) {
    var digest: UInt64 = 0xCBF2_9CE4_8422_2325
    func add(_ byte: UInt8) { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01B3 }
    for value in UInt32(block) << 12..<UInt32(block + 1) << 12 {
      guard let scalar = Unicode.Scalar(value), let age = scalar.properties.age, age.major <= 14,
        !scalar.properties.isNoncharacterCodePoint
      else { continue }
      for byte in FoldedText(String(scalar)).bytes { add(byte) }
      add(0xFF)
    }
    #expect(digest == FoldingTests.digests[block], "\(String(block << 12, radix: 16))")
  }

  /// Foundation folds all scalars alike, but for Cherokee, which it brings to small letters, and the nine
  /// forms of Cyrillic letters that came with Unicode 9.
  @Test func foundationFoldsTheSame() {
    var different: [UInt32] = []
    for value in UInt32(0x80)..<0x3_0000 {
      guard let scalar = Unicode.Scalar(value), scalar.properties.age.map({ $0.major <= 14 }) == true else { continue }
      let whole = String(scalar).precomposedStringWithCompatibilityMapping.folding(options: .caseInsensitive, locale: nil)
        .precomposedStringWithCompatibilityMapping
      if Array(whole.utf8) != FoldedText(String(scalar)).bytes { different.append(value) }
    }
    let isKnown = { (value: UInt32) in
      0x13A0...0x13FD ~= value || 0xAB70...0xABBF ~= value || 0x1C80...0x1C88 ~= value
    }
    #expect(different.filter { !isKnown($0) } == [])
  }

  /// What stands alone in the table, and what is folded with its neighbours, make the same as the whole
  /// text folded at once.
  @Test(arguments: UInt64(0)..<8)
  func partsMakeTheWhole(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    // Letters and marks of many scripts, full-width forms, and the parts of Hangul.
    let ranges: [ClosedRange<UInt32>] = [
      0xA0...0x5FF, 0x900...0xFFF, 0x1E00...0x21FF, 0x3040...0x312F, 0x1100...0x11FF, 0xFF00...0xFF9F,
    ]
    for _ in 0..<2000 {
      var scalars: [Unicode.Scalar] = []
      let count = Int.random(in: 2...6, using: &random)
      while scalars.count < count {
        let range = ranges[Int.random(in: 0..<ranges.count, using: &random)]
        guard let scalar = Unicode.Scalar(UInt32.random(in: range, using: &random)), let age = scalar.properties.age,
          age.major <= 14
        else { continue }
        scalars.append(scalar)
      }
      var text = String.UnicodeScalarView()
      text.append(contentsOf: scalars)
      #expect(FoldedText(String(text)).bytes == FoldingTable.fold([scalars])[0].utf8, "\(scalars.map { $0.value })")
    }
  }

  @Test func foldingTwiceIsFoldingOnce() {
    for text in ["Straße", "ΑΣ", "İ", "ﬃ", "ＡＢＣ", "e\u{301}", "ᾳ", "각", "①", "Ꭰꭰ", "ẞ", "ŉ", "㍿", "ﷺ"] {
      #expect(folded(folded(text)) == folded(text), "\(text)")
    }
  }

  @Test(arguments: [
    ("BAD", "bad"), ("ＢＡＤ", "bad"), ("Straße", "strasse"), ("STRASSE", "strasse"), ("ẞ", "ss"), ("ΑΣΣ", "ασσ"), ("ας", "ασ"),
    ("İ", "i\u{307}"), ("ı", "ı"), ("ﬁ", "fi"), ("①", "1"), ("e\u{301}", "é"), ("É", "é"), ("ｶﾞ", "ガ"),
    ("\u{1100}\u{1161}\u{11A8}", "각"), ("ㄱㅏ", "가"), ("x\u{301}", "x\u{301}"), ("a\u{323}\u{302}", "ậ"), ("a\u{302}\u{323}", "ậ"),
    ("❤\u{FE0F}", "❤\u{FE0F}"), ("\u{301}a", "\u{301}a"),
    ("\n\u{301}", "\n\u{301}"), ("中文", "中文"), ("", ""), ("\u{0}A", "\u{0}a"),
  ])
  func examples(text: String, expected: String) {
    #expect(FoldedText(text).bytes == Array(expected.utf8), "\(text)")
  }

  /// Each folded byte knows the scalars that it was made of.
  @Test func originsAreTheScalarsAsSent() {
    let folded = FoldedText("aße\u{301}ﬁ中", keepsOrigins: true)
    #expect(String(decoding: folded.bytes, as: UTF8.self) == "asséfi中")
    // a, ss, é (two bytes of two scalars), fi, and three bytes of 中.
    #expect(folded.origins == [0..<1, 1..<2, 1..<2, 2..<4, 2..<4, 4..<5, 4..<5, 5..<6, 5..<6, 5..<6])
    #expect(FoldedText("abc", keepsOrigins: true).origins.isEmpty && FoldedText("ß").origins.isEmpty)
  }

  /// So many marks are ordered at once: all of a message's would cost the square of their number.
  @Test func longRunsOfMarksAreCut() {
    let marks = (0..<6000).map { $0 % 2 == 0 ? "\u{301}" : "\u{323}" }.joined()
    let folded = FoldedText("a" + marks, keepsOrigins: true)
    #expect(folded.origins.allSatisfy { $0.count <= FoldedText.longestRun })
    #expect(folded.origins.last?.upperBound == 6001)
  }

  @Test func wordsEndAtLettersDigitsAndUnderscores() {
    let text = FoldedText("a-bß c_1é.٣")
    let places = text.bytes.indices.filter { text.bytes[$0] & 0xC0 != 0x80 }
    // a - b s s (space) c _ 1 é . ٣
    let parts = [true, false, true, true, true, false, true, true, true, true, false, true]
    #expect(places.map { text.isFree(behind: $0) } == parts.map { !$0 })
    #expect(places.map { text.isFree(before: $0) } == [true] + parts.dropLast().map { !$0 })
    #expect(text.isFree(behind: text.bytes.count) && !text.isFree(before: text.bytes.count))
  }
}
