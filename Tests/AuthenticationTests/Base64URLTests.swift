import Testing

@testable import Authentication

@Suite struct Base64URLTests {
  @Test(arguments: 0...40) func bytesOfAnyNumberComeBack(count: Int) {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 151 + count) }
    let text = Array(Base64URL.encode(bytes).utf8)
    #expect(Base64URL.isAlphabetic(text[...]))
    #expect(Base64URL.decode(text[...]) == bytes)
    // A part of a token stands between others.
    let token = Array("a.".utf8) + text + Array(".b".utf8)
    #expect(Base64URL.decode(token[2..<2 + text.count]) == bytes)
  }

  /// Impossible lengths, stray last bits, padding, and characters of other alphabets.
  @Test(arguments: ["A", "AAAAA", "AB", "AAB", "A=", "AA==", "A A", "A+AA", "A/AA", "é", "AA\0A", "AAA."])
  func otherTextsAreNone(text: String) {
    #expect(Base64URL.decode(Array(text.utf8)[...]) == nil)
  }
}
