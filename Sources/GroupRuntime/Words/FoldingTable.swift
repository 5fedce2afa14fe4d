import Foundation
import Synchronization

/// The folding of a scalar: NFKC, full case folding, and NFKC again.
enum Folding: Sendable, Equatable {
  case itself
  /// The UTF-8 of other scalars.
  case bytes([UInt8])
  /// It may become one with the scalar before it, so only both together can be folded.
  case combines
}

/// The foldings of scalars that stand alone, made in pages when texts need them.
final class FoldingTable: Sendable {
  static let shared = FoldingTable()

  /// The foldings of 256 scalars.
  final class Page: Sendable {
    private let foldings: [Folding]

    /// - Parameter number: of the scalars, without their last eight bits.
    fileprivate init(_ number: UInt32) {
      // The others of these 256 are surrogates.
      let scalars = (UInt32(0)..<256).map { Unicode.Scalar(number << 8 | $0) }
      // ASCII is folded without Foundation: a line feed among the texts would end one of them.
      let texts = scalars.map { scalar -> [Unicode.Scalar] in
        guard let scalar, !scalar.isASCII else { return [] }
        return [scalar]
      }
      let composed = FoldingTable.compose(texts)
      let folded = FoldingTable.foldComposed(composed)
      foldings = scalars.indices.map { index -> Folding in
        guard let scalar = scalars[index] else { return .itself }
        if scalar.isASCII {
          let byte = UInt8(scalar.value)
          return byte.foldedASCII == byte ? .itself : .bytes([byte.foldedASCII])
        }
        if composed[index].first?.joins == true || folded[index].first?.joins == true { return .combines }
        return folded[index] == [scalar] ? .itself : .bytes(folded[index].utf8)
      }
    }

    /// The folding of one of the page's scalars.
    subscript(_ scalar: Unicode.Scalar) -> Folding { foldings[Int(scalar.value & 0xFF)] }
  }

  /// Of up to 4352 pages.
  private let pages = Mutex<[UInt32: Page]>([:])

  /// The page of the scalars that have this number, without their last eight bits.
  func page(_ number: UInt32) -> Page {
    if let page = pages.withLock({ $0[number] }) { return page }
    // Two may make it at once: one of the two equal pages stays.
    let page = Page(number)
    pages.withLock { $0[number] = page }
    return page
  }

  // MARK: Several scalars

  /// Folds texts, each for itself. No text may hold a line feed.
  static func fold(_ texts: [[Unicode.Scalar]]) -> [[Unicode.Scalar]] { foldComposed(compose(texts)) }

  /// - Parameter texts: in NFKC.
  private static func foldComposed(_ texts: [[Unicode.Scalar]]) -> [[Unicode.Scalar]] {
    compose(texts.map { text in text.flatMap { $0.caseFolded.unicodeScalars } })
  }

  /// NFKC of each text, by one call of Foundation for all: it neither makes a line feed nor takes one
  /// away, nor moves anything over one.
  private static func compose(_ texts: [[Unicode.Scalar]]) -> [[Unicode.Scalar]] {
    guard !texts.isEmpty else { return [] }
    let lineFeed: Unicode.Scalar = "\n"
    var lines = String.UnicodeScalarView()
    for text in texts {
      lines.append(contentsOf: text)
      lines.append(lineFeed)
    }
    let composed = String(lines).precomposedStringWithCompatibilityMapping
    // Behind the last line feed there is nothing.
    return composed.unicodeScalars.split(separator: lineFeed, omittingEmptySubsequences: false).dropLast().map { Array($0) }
  }
}

/// Reads a table, with the page that the last scalar has needed at hand.
struct FoldingReader {
  private let table: FoldingTable
  private var number: UInt32 = 0
  private var page: FoldingTable.Page

  init(_ table: FoldingTable) {
    self.table = table
    page = table.page(0)
  }

  mutating func folding(of scalar: Unicode.Scalar) -> Folding {
    switch scalar.value {
    // Unified ideographs and Hangul syllables: a text in them would go from page to page.
    case 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xAC00...0xD7A3: return .itself
    default: break
    }
    let number = scalar.value >> 8
    if number != self.number { (self.number, page) = (number, table.page(number)) }
    return page[scalar]
  }
}

extension UInt8 {
  /// A small letter in place of a capital one.
  var foldedASCII: UInt8 { self &- UInt8(ascii: "A") < 26 ? self | 0x20 : self }
}

extension [Unicode.Scalar] {
  /// The bytes of the scalars.
  var utf8: [UInt8] { reduce(into: []) { bytes, scalar in bytes.append(contentsOf: scalar.utf8) } }
}

extension Unicode.Scalar {
  /// Whether NFKC may put it together with what stands before it, or order it there: marks, and the
  /// vowels and final consonants of Hangul. Variation selectors change nothing.
  fileprivate var joins: Bool {
    switch properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark: !properties.isVariationSelector
    default: 0x1160...0x11FF ~= value
    }
  }

  /// The full case folding (C and F of CaseFolding.txt), which the standard library has not by itself.
  fileprivate var caseFolded: String {
    switch value {
    // It has no folding, though its capital letter is that of i.
    case 0x131: return String(self)
    // Cherokee folds to capital letters.
    case 0x13A0...0x13F5: return String(self)
    case 0x13F8...0x13FD, 0xAB70...0xABBF: return properties.uppercaseMapping
    default: break
    }
    var folded = ""
    for small in properties.lowercaseMapping.unicodeScalars {
      for capital in small.properties.uppercaseMapping.unicodeScalars { folded += capital.properties.lowercaseMapping }
    }
    return folded
  }
}
