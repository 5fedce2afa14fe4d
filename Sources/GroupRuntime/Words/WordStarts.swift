/// Tells where in a text terms may begin, so that the automaton looks at few of its bytes: the first four
/// bytes of each term, or two of a shorter one, are looked up in a set that may hold more than was added.
struct WordStarts: Sendable {
  /// The pairs of bytes with which terms of less than four bytes begin, a bit each.
  private var pairs = [UInt64](repeating: 0, count: 1024)
  /// The first four bytes of all others, a bit of their hash each.
  private var fours: [UInt64]
  /// 32 less the bits of a hash.
  private let shift: UInt32

  init(_ terms: Set<WordAutomaton.Term>) {
    // Of 16 bits about one is set, in at most 128 KiB.
    var hashBits: UInt32 = 6
    while hashBits < 20, 1 << hashBits < terms.count * 16 { hashBits += 1 }
    fours = [UInt64](repeating: 0, count: 1 << (hashBits - 6))
    shift = 32 - hashBits
    for term in terms { insert(term.bytes) }
  }

  private mutating func insert(_ term: [UInt8]) {
    guard let first = term.first else { return }
    let window = WordStarts.window(of: term, at: 0)
    if term.count >= 4 {
      let hash = hash(of: window)
      fours[hash >> 6] |= 1 &<< UInt64(hash & 63)
    } else if term.count > 1 {
      let pair = Int(window >> 16)
      pairs[pair >> 6] |= 1 &<< UInt64(pair & 63)
    } else {
      // Anything may stand behind it.
      for word in 0..<4 { pairs[Int(first) << 2 | word] = .max }
    }
  }

  var byteCount: Int { (pairs.count + fours.count) * 8 }

  /// The first place of a text, not before another, at which a term may begin; the text's end = none.
  @inline(__always)
  func next(in bytes: [UInt8], from start: Int) -> Int {
    var index = start
    var window = WordStarts.window(of: bytes, at: start)
    while index < bytes.count {
      let (pair, hash) = (Int(window >> 16), hash(of: window))
      let isStart = pairs[pair >> 6] &>> UInt64(pair & 63) | fours[hash >> 6] &>> UInt64(hash & 63)
      if isStart & 1 != 0 { return index }
      index += 1
      window = window << 8 | (index + 3 < bytes.count ? UInt32(bytes[index + 3]) : 0)
    }
    return index
  }

  /// Four bytes, with zeros behind the end.
  private static func window(of bytes: [UInt8], at start: Int) -> UInt32 {
    (start..<start + 4).reduce(0) { $0 << 8 | ($1 < bytes.count ? UInt32(bytes[$1]) : 0) }
  }

  private func hash(of window: UInt32) -> Int { Int((window &* 0x9E37_79B1) &>> shift) }
}
