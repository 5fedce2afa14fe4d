/// The texts of a run's messages, such as sentences of a corpus.
public struct MessageTexts: Sendable {
  /// The longest line in bytes.
  private static let longestLine = 12_000

  /// The name of their file.
  let name: String
  /// The length of the longest text, in bytes.
  let longest: Int
  /// Each as the inside of a JSON string.
  private let texts: [[UInt8]]

  /// Reads one text a line; empty lines are none. Throws without any, or for a line that is too long.
  public init(lines: String, name: String) throws(BenchmarkError) {
    self.name = name
    texts = lines.split { $0.isNewline }.map(MessageTexts.escaped)
    longest = texts.map(\.count).max() ?? 0
    guard !texts.isEmpty else { throw BenchmarkError("there is no line in it") }
    guard longest <= MessageTexts.longestLine else {
      throw BenchmarkError("a line has more than \(MessageTexts.longestLine) bytes as JSON")
    }
  }

  /// The text of a message: the same in every run with the same texts, and in no order.
  func line(_ number: Int) -> [UInt8] {
    // SplitMix64, whose outputs for consecutive numbers are as good as random.
    var mixed = UInt64(truncatingIfNeeded: number) &* 0x9e37_79b9_7f4a_7c15
    mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return texts[Int((mixed ^ mixed >> 31) % UInt64(texts.count))]
  }

  private static func escaped(_ line: Substring) -> [UInt8] {
    var bytes: [UInt8] = []
    for byte in line.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      case ..<0x20: bytes.append(UInt8(ascii: " "))
      default: bytes.append(byte)
      }
    }
    return bytes
  }
}
