import Foundation
import Testing

@testable import WireProtocol

/// Types in `TypeNotation` become JSON Schemas.
@Suite struct DescriptionNotationTests {
  @Test(arguments: [
    ("string", #"{"type":"string"}"#),
    ("any", "{}"),
    ("map", #"{"type":"object","additionalProperties":{"type":"string"}}"#),
    ("[integer]", #"{"type":"array","items":{"type":"integer"}}"#),
    ("MemberInfo", ##"{"$ref":"#/components/schemas/MemberInfo"}"##),
    (#""Joined" or "Pending""#, #"{"type":"string","enum":["Joined","Pending"]}"#),
    (#""A", "B" or "C""#, #"{"type":"string","enum":["A","B","C"]}"#),
    (#""A""#, #"{"const":"A"}"#),
    (#"integer or "None""#, #"{"anyOf":[{"type":"integer"},{"const":"None"}]}"#),
    (
      "{userID, code?, count: [integer]}",
      #"{"type":"object","properties":{"userID":{"type":"string"},"code":{"type":"integer"},"count":{"type":"array","items":{"type":"integer"}}},"#
        + #""required":["userID","count"]}"#
    ),
    (
      #"[{role: string or "NotMember", key}]"#,
      #"{"type":"array","items":{"type":"object","properties":{"role":{"anyOf":[{"type":"string"},{"const":"NotMember"}]},"#
        + #""key":{"type":"string"}},"required":["role","key"]}}"#
    ),
  ])
  func aTypeHasItsSchema(words: String, schema: String) {
    #expect(String(decoding: JSONWriter.text { $0.schema(ofType: words) }, as: UTF8.self) == schema)
  }

  @Test(arguments: [
    "", "[", "[string", "{}", "{a", "{a:}", "{a: }", "\"a", "string or", "string, integer", "a b", "[]", "string]",
  ])
  func textsThatAreNoTypeAreRefused(words: String) {
    #expect(TypeNotation(words) == nil)
    #expect(String(decoding: JSONWriter.text { $0.schema(ofType: words) }, as: UTF8.self).hasPrefix(#"{"description":"#))
  }
}
