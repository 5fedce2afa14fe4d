import GroupModel
import Testing

@testable import WireProtocol

/// The length of a text, in bytes or in characters.
@Suite struct TextDomainTests {
  private static let bytes = TextDomain(0...8)
  private static let characters = TextDomain(characters: 8)

  @Test(arguments: [
    ("", true, true), ("12345678", true, true), ("123456789", false, false), ("éééé", true, true), ("ééééé", false, true),
    ("😀😀😀😀😀😀😀😀", false, true), ("😀😀😀😀😀😀😀😀a", false, false),
    // A family of five code points, and a letter with an accent of its own: what one sees as one may be several.
    ("👨‍👩‍👧abc", false, true), ("👨‍👩‍👧abcd", false, false), ("e\u{301}e\u{301}e\u{301}e\u{301}", false, true),
    ("\r\n\r\n\r\n\r\n", true, true), ("\r\n\r\n\r\n\r\n1", false, false),
  ])
  func charactersAreCodePoints(text: String, fitsBytes: Bool, fitsCharacters: Bool) {
    #expect((Self.bytes.fault(of: text, in: "reason") == nil) == fitsBytes)
    #expect((Self.characters.fault(of: text, in: "reason") == nil) == fitsCharacters)
  }

  @Test func theErrorNamesTheUnit() {
    let text = "123456789"
    let faults = [Self.bytes, Self.characters].map { $0.fault(of: text, in: "reason") }
    #expect(faults.map { $0?.code } == [.badValue, .badValue])
    #expect(faults.map { $0?.field } == ["reason", "reason"])
    #expect(faults.map { $0?.message } == ["reason is at most 8 bytes", "reason is at most 8 characters"])
  }

  @Test func descriptionsNameTheUnit() throws {
    let described = try ParameterRecorder.parameters(servesApplication: false, textLimits: .standard) {
      (reader: inout ParameterRecorder) throws(WireError) in
      _ = try reader.optionalString("inBytes", Self.bytes, "A text.")
      _ = try reader.optionalString("inCharacters", Self.characters, "A text.")
    }
    #expect(described.map(\.value) == ["string, at most 8 bytes of UTF-8", "string, at most 8 characters"])
    #expect(described.map { $0.schema.contains(#""maxLength":8"#) } == [false, true])
    #expect(described.map { $0.schema.contains("maxLength") } == [false, true])
  }
}
