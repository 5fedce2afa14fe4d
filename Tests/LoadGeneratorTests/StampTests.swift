import Testing

@testable import LoadGenerator

@Suite struct StampTests {
  private func found(in bytes: [UInt8]) -> [UInt64] {
    var values: [UInt64] = []
    let count = bytes.withUnsafeBytes { raw in
      Stamp.forEach(in: raw.baseAddress ?? UnsafeRawPointer(bitPattern: 8)!, count: raw.count) { values.append($0) }
    }
    #expect(count == values.count)
    return values
  }

  private func found(in text: String) -> [UInt64] { found(in: Array(text.utf8)) }

  private func written(_ value: UInt64) -> String {
    String(
      decoding: [UInt8](unsafeUninitializedCapacity: Stamp.length) { buffer, count in
        Stamp.write(value, to: UnsafeMutableRawPointer(buffer.baseAddress!))
        count = Stamp.length
      }, as: UTF8.self)
  }

  @Test(
    arguments: [0, 1, 9, 10, 12_345_678, 99_999_999, 100_000_000, 123_456_789_012_345_678, 999_999_999_999_999_999] as [UInt64])
  func aWrittenStampIsFound(value: UInt64) {
    let text = written(value)
    #expect(text.utf8.count == Stamp.length)
    #expect(found(in: text) == [value])
    #expect(found(in: "{\"text\":\"\(text)xxxx\"}") == [value])
  }

  @Test func severalInOneText() {
    #expect(found(in: written(1) + written(2) + ", ~ and ~T " + written(3) + "~") == [1, 2, 3])
  }

  @Test func nearMissesAreNone() {
    let text = written(42)
    for place in 0..<Stamp.length {
      for other: UInt8 in [0x20, 0x2f, 0x3a, 0x7f, 0xb5] {
        var bytes = Array(text.utf8)
        bytes[place] = other
        #expect(found(in: bytes) == [], "byte \(place) is \(other)")
      }
    }
    #expect(found(in: String(text.dropLast())) == [])
    #expect(found(in: "") == [])
  }

  @Test func aStampRightBehindAFalseBeginningIsFound() {
    #expect(found(in: "~T~T" + written(7)) == [7])
    #expect(found(in: "~T00000000000000000" + written(7)) == [7])
  }

  @Test func anyTextGivesWhatASlowSearchGives() {
    var generator = SystemRandomNumberGenerator()
    let pieces = ["~", "~T", "0", "7", written(5), written(123_456_789), "T", "x"]
    for _ in 0..<2000 {
      let text = (0..<Int.random(in: 0..<12, using: &generator)).map { _ in pieces.randomElement()! }.joined()
      #expect(found(in: text) == slowly(Array(text.utf8)), "\(text)")
    }
  }

  private func slowly(_ bytes: [UInt8]) -> [UInt64] {
    var values: [UInt64] = []
    var place = 0
    while place + Stamp.length <= bytes.count {
      let part = bytes[place..<place + Stamp.length]
      let text = String(decoding: part, as: UTF8.self)
      if text.hasPrefix("~T"), text.hasSuffix("~"), let value = UInt64(text.dropFirst(2).dropLast()) {
        values.append(value)
        place += Stamp.length
      } else {
        place += 1
      }
    }
    return values
  }

  @Test func theFlowIsInTheLowestBits() {
    for flow in 0..<Stamp.flows {
      let value = Stamp.value(at: 1_000_003, flow: flow)
      #expect(value & 3 == UInt64(flow))
      #expect(value & ~3 == 1_000_000)
    }
  }
}
