import Testing
import WireProtocol

/// A reader of parameters, apart from methods.
@Suite struct ParameterReaderTests {
  @Test func membersAreLeftUntilEachWasRead() throws {
    let parser = JSONParser()
    // The object lives as long as its parser.
    defer { withExtendedLifetime(parser) {} }
    let object = try #require(parser.parse(Array(#"{"a":"x","b":null,"c":[1],"d":"y"}"#.utf8)))
    var reader = JSONParameterReader(object)
    #expect(reader.hasUnread)
    let (text, missing) = (try reader.optionalString("a", .any, ""), try reader.optionalString("e", .any, ""))
    let flag = try reader.optionalFlag("b", "")
    #expect(text == "x" && missing == nil && flag == nil && reader.hasUnread)
    let list = try reader.optionalIntegers("c", .optional(upTo: 3), in: 0...9, "")
    // A look at whether one is there reads none.
    try reader.requireOne("d", or: "e")
    #expect(list == [1] && reader.hasUnread)
    let last = try reader.requiredString("d", .any, "")
    #expect(last == "y" && !reader.hasUnread)
  }

  @Test func withoutParamsNothingIsLeft() throws {
    let parser = JSONParser()
    defer { withExtendedLifetime(parser) {} }
    #expect(!JSONParameterReader(nil).hasUnread)
    let empty = try #require(parser.parse(Array("{}".utf8)))
    #expect(!JSONParameterReader(empty).hasUnread)
    // Members that no method has are left for ever: the rare ones are looked for then.
    let other = try #require(parser.parse(Array(#"{"z":1}"#.utf8)))
    #expect(JSONParameterReader(other).hasUnread)
  }
}
