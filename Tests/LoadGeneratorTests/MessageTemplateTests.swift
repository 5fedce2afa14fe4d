import Testing

@testable import LoadGenerator

@Suite struct MessageTemplateTests {
  private func text(_ template: MessageTemplate, connection: Int = 0, id: Int = 0, stamp: UInt64 = 0) -> String {
    String(
      decoding: [UInt8](unsafeUninitializedCapacity: template.longest + 1) { buffer, count in
        count = template.write(
          to: UnsafeMutableRawPointer(buffer.baseAddress!), connection: connection, id: id, stamp: stamp)
        #expect(count <= template.longest)
      }, as: UTF8.self)
  }

  @Test func placesAreFilledIn() {
    let template = MessageTemplate(#"{"d":%d,"i":%i,"t":"%t"}"#)
    #expect(text(template, connection: 12, id: 3, stamp: 4) == #"{"d":12,"i":3,"t":"~T000000000000000004~"}"#)
    #expect(template.hasStamp)
    #expect(!MessageTemplate("%d").hasStamp)
  }

  @Test func otherPercentSignsStandForThemselves() {
    #expect(text(MessageTemplate("100% %x %")) == "100% %x %")
    #expect(text(MessageTemplate("")) == "")
  }

  @Test(arguments: [0, 9, 10, 99_999]) func paddingFillsUpToTheSize(connection: Int) {
    let padded = text(MessageTemplate("%d:%t%p!", paddedSize: 60), connection: connection)
    #expect(padded.utf8.count == 60)
    #expect(padded.hasSuffix("x!"))
    let long = text(MessageTemplate("%t%p", paddedSize: 5), connection: connection)
    #expect(long.utf8.count == Stamp.length, "a text that is longer already keeps its length")
  }

  @Test func largeNumbersHaveRoom() {
    #expect(text(MessageTemplate("%i"), id: .max) == String(Int.max))
    #expect(text(MessageTemplate("%d"), connection: 60_000) == "60000")
  }

  @Test func aLineOfTheTextsFollowsFromTheMessagesNumber() throws {
    let texts = try MessageTexts(lines: "eins\n\nsays \"two\"\nback\\slash\ttab\n", name: "f")
    let template = MessageTemplate("%t %l", texts: texts)
    func text(_ id: Int) -> String {
      var bytes = [UInt8](repeating: 0, count: template.longest)
      let length = bytes.withUnsafeMutableBytes { template.write(to: $0.baseAddress!, connection: 0, id: id, stamp: 0) }
      return String(decoding: bytes[..<length].dropFirst(Stamp.length + 1), as: UTF8.self)
    }
    let first = (1...1000).map(text)
    #expect(first == (1...1000).map(text))
    #expect(Set(first) == ["eins", #"says \"two\""#, #"back\\slash tab"#])
    for line in Set(first) { #expect((250...420).contains(first.count { $0 == line }), "\(line)") }
    #expect(zip(first, first.dropFirst()).contains { $0 == $1 }, "in no order")
  }

  @Test func withoutTextsTheirPlaceholderIsLiteral() {
    #expect(String(decoding: MessageTemplate("a%lb").text(connection: 1), as: UTF8.self) == "a%lb")
  }

  @Test func textsNeedALineAndNoneThatIsTooLong() {
    #expect(throws: BenchmarkError.self) { try MessageTexts(lines: "\n\n", name: "f") }
    #expect(throws: BenchmarkError.self) { try MessageTexts(lines: String(repeating: "x", count: 12_001), name: "f") }
  }
}
