/// A text as it is compared with words: NFKC, full case folding, and NFKC again, in UTF-8.
struct FoldedText {
  private(set) var bytes: [UInt8] = []
  /// Of each byte the scalars of the text as sent that it was made of. Empty where they were not asked
  /// for, and for ASCII, whose bytes are its scalars.
  private(set) var origins: [Range<Int32>] = []
  let isASCII: Bool

  /// So many scalars are folded together at most: to order the marks of one letter costs the square of
  /// their number (Stream-Safe Text Format of UAX #15 has 31).
  static let longestRun = 32

  /// - Parameter keepsOrigins: for `masking`.
  init(_ text: String, keepsOrigins: Bool = false, by table: FoldingTable = .shared) {
    var text = text
    // One loop without a branch, which the compiler makes of vectors.
    let ascii: [UInt8]? = text.withUTF8 { utf8 in
      var all: UInt8 = 0
      let folded = [UInt8](unsafeUninitializedCapacity: utf8.count) { folded, count in
        var bits: UInt8 = 0
        for index in 0..<utf8.count {
          bits |= utf8[index]
          folded[index] = utf8[index].foldedASCII
        }
        (all, count) = (bits, utf8.count)
      }
      return all < 0x80 ? folded : nil
    }
    isASCII = ascii != nil
    if let ascii { bytes = ascii } else { fold(Array(text.unicodeScalars), keepsOrigins: keepsOrigins, by: table) }
  }

  private mutating func fold(_ scalars: [Unicode.Scalar], keepsOrigins: Bool, by table: FoldingTable) {
    var reader = FoldingReader(table)
    let runs = FoldedText.runs(of: scalars, &reader)
    let folded = FoldingTable.fold(runs.map { Array(scalars[$0]) })
    bytes.reserveCapacity(scalars.count * 3)
    var (index, run) = (0, 0)
    while index < scalars.count {
      var end = index + 1
      if run < runs.count, runs[run].lowerBound == index {
        for scalar in folded[run] { bytes.append(contentsOf: scalar.utf8) }
        end = runs[run].upperBound
        run += 1
      } else {
        switch reader.folding(of: scalars[index]) {
        case .bytes(let folded): bytes += folded
        // What combines stands in a run.
        case .itself, .combines: bytes.append(contentsOf: scalars[index].utf8)
        }
      }
      if keepsOrigins {
        let origin = Int32(index)..<Int32(end)
        origins.append(contentsOf: repeatElement(origin, count: bytes.count - origins.count))
      }
      index = end
    }
  }

  /// The scalars that can only be folded together: what combines, with the scalar before it.
  private static func runs(of scalars: [Unicode.Scalar], _ reader: inout FoldingReader) -> [Range<Int>] {
    var runs: [Range<Int>] = []
    var start = 0
    while start < scalars.count {
      var end = start + 1
      // Nothing is put together with a control character, and a line feed may be in no run.
      if scalars[start].value >= 0x20 {
        while end < scalars.count, end - start < longestRun, reader.folding(of: scalars[end]) == .combines { end += 1 }
      }
      if end > start + 1 || reader.folding(of: scalars[start]) == .combines { runs.append(start..<end) }
      start = end
    }
    return runs
  }

  // MARK: Whole words

  /// Whether neither letters, digits nor `_` stand directly before and behind these bytes, which are
  /// whole scalars.
  func isWholeWord(_ range: Range<Int>) -> Bool { isFree(behind: range.upperBound) && isFree(before: range.lowerBound) }

  /// Whether no part of a word begins there.
  func isFree(behind index: Int) -> Bool { index == bytes.count || !isWordPart(at: index) }

  /// Whether no part of a word ends there.
  func isFree(before index: Int) -> Bool {
    guard index > 0 else { return true }
    var start = index - 1
    while start > 0, bytes[start] & 0xC0 == 0x80 { start -= 1 }
    return !isWordPart(at: start)
  }

  private func isWordPart(at index: Int) -> Bool {
    let first = bytes[index]
    if first < 0x80 {
      return first &- UInt8(ascii: "a") < 26 || first &- UInt8(ascii: "0") < 10 || first == UInt8(ascii: "_")
    }
    let length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
    let scalar = String(decoding: bytes[index..<min(index + length, bytes.count)], as: UTF8.self).unicodeScalars.first
    switch scalar?.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber: return true
    default: return false
    }
  }

  // MARK: Masks

  /// The text as sent, with a star in place of each scalar that some of these bytes were made of.
  /// - Parameter text: that of `init`, whose origins are kept.
  func masking(_ ranges: [Range<Int>], of text: String) -> String {
    if isASCII {
      var masked = Array(text.utf8)
      for range in ranges { for index in range { masked[index] = UInt8(ascii: "*") } }
      return String(decoding: masked, as: UTF8.self)
    }
    var isHidden = [Bool](repeating: false, count: text.unicodeScalars.count)
    for range in ranges {
      for index in range { for origin in origins[index] { isHidden[Int(origin)] = true } }
    }
    var masked = String.UnicodeScalarView()
    for (scalar, isHidden) in zip(text.unicodeScalars, isHidden) { masked.append(isHidden ? "*" : scalar) }
    return String(masked)
  }
}
