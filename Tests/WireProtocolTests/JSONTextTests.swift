import Testing
import WireProtocol

/// A text that is not JSON, or is nested deeper than 32 levels, is -32700 (Protocol.md, "Frames").
@Suite struct JSONTextTests {
  private func ping(_ params: String) -> String { #"{"jsonrpc":"2.0","id":1,"method":"ping","params":\#(params)}"# }

  /// Arrays in each other, `levels` deep, with a number inside.
  private func nest(_ levels: Int) -> String {
    String(repeating: "[", count: levels) + "1" + String(repeating: "]", count: levels)
  }

  private func nestObjects(_ levels: Int) -> String {
    String(repeating: #"{"a":"#, count: levels) + "1" + String(repeating: "}", count: levels)
  }

  @Test func theEnvelopeIsLevel1OfAtMost32() {
    // Envelope 1, params 2, x 3…32.
    #expect(outline(ping(#"{"x":\#(nest(30))}"#)) == "ping#1")
    #expect(outline(ping(#"{"x":\#(nest(31))}"#)) == "notJSON")
    #expect(outline(ping(nestObjects(31))) == "ping#1")
    #expect(outline(ping(nestObjects(32))) == "notJSON")
  }

  @Test func aBatchsArrayIsLevel1() {
    #expect(outline("[\(ping(#"{"x":\#(nest(29))}"#))]") == "[ping#1]")
    #expect(outline("[\(ping(#"{"x":\#(nest(30))}"#))]") == "notJSON")
  }

  @Test func emptyArraysAndObjectsCountAsLevels() {
    #expect(outline(ping(#"{"x":\#(String(repeating: "[", count: 30) + String(repeating: "]", count: 30))}"#)) == "ping#1")
    #expect(outline(ping(#"{"x":\#(String(repeating: "[", count: 31) + String(repeating: "]", count: 31))}"#)) == "notJSON")
    #expect(
      outline(ping(#"{"x":\#(String(repeating: "[", count: 30))"# + "{}" + String(repeating: "]", count: 30) + "}")) == "notJSON")
  }

  @Test func veryDeepNestingIsAnsweredToo() {
    #expect(outline(String(repeating: "[", count: 60_000)) == "notJSON")
    #expect(outline(nest(30_000)) == "notJSON")
  }

  @Test(arguments: [
    #"\ud800"#, #"\udbff"#, #"\udc00"#, #"\udfff"#, #"\ud800\ud800"#, #"\udc00\ud800"#, #"\ud800a"#, #"a\udc00b"#,
    #"\ud83d\u0041"#,
    #"\ud83d\n"#, #"\ud83d\ude00\ude00"#, #"\uD83D"#, #"\uDE00"#, #"\ud83d \ude00"#,
  ])
  func anUnpairedSurrogateIsNoJSONWhereverItStands(text: String) {
    #expect(outline(ping(#"{"x":"\#(text)"}"#)) == "notJSON", "as a value")
    #expect(outline(ping(#"{"\#(text)":1}"#)) == "notJSON", "as a key")
    #expect(outline(#"{"jsonrpc":"2.0","id":"\#(text)","method":"ping"}"#) == "notJSON", "as an id")
  }

  @Test func anEscapedPairIsOneCharacter() {
    #expect(outline(#"{"jsonrpc":"2.0","id":"\ud83d\ude00 \uD83D\uDE00","method":"ping"}"#) == #"ping#"😀 😀""#)
    #expect(outline(#"{"jsonrpc":"2.0","id":"\ud800\udc00\udbff\udfff","method":"ping"}"#) == "ping#\"\u{10000}\u{10FFFF}\"")
  }

  @Test(arguments: [
    "1e400", "-1e400", "18446744073709551616", "123456789012345678901234567890", "-99999999999999999999", "1e-400",
  ])
  func aHugeNumberIsJSON(number: String) {
    #expect(outline(ping(#"{"x":\#(number)}"#)) == "ping#1", "ignored where nobody asks for it")
    #expect(outline(number) == "invalid#-")
    #expect(outline("[\(number)]") == "[invalid#-]")
  }

  @Test(arguments: ["1e400", "18446744073709551616", "123456789012345678901234567890", "9007199254740993", "1e30"])
  func aHugeNumberIsOutsideEveryDomain(number: String) {
    let text = #"{"jsonrpc":"2.0","id":1,"method":"getJoinedGroupList","params":{"nextSeq":\#(number)}}"#
    #expect(outline(text) == "getJoinedGroupList!10004:nextSeq#1")
  }

  @Test func aHugeNumberChangesNothingElseInItsText() {
    #expect(outline(#"{"jsonrpc":"2.0","id":9007199254740992,"method":"ping","params":{"x":1e400}}"#) == "ping#9007199254740992")
    #expect(
      outline(#"{"jsonrpc":"2.0","id":-9007199254740992,"method":"ping","params":{"x":1e400}}"#) == "ping#-9007199254740992")
    #expect(outline(#"{"jsonrpc":"2.0","id":"a \" 1e400 \\","method":"ping","params":{"x":1e400}}"#) == #"ping#"a " 1e400 \""#)
    #expect(
      outline(#"{"jsonrpc":"2.0","id":1,"method":"getJoinedGroupList","params":{"count":1e2,"x":1e999}}"#)
        == "getJoinedGroupList#1")
    #expect(outline(#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":1e400,}}"#) == "notJSON")
    #expect(outline(#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":1e400,"y":"\ud800"}}"#) == "notJSON")
  }

  @Test(arguments: [
    "01", "-", "+1", "1.", ".5", "1e", "1e+", "0x10", "NaN", "Infinity", "-Infinity", "1_000", "--1", "1.e5", "00", "-01",
  ])
  func aTextThatIsNoNumberIsNoJSON(number: String) {
    #expect(outline(ping(#"{"x":\#(number)}"#)) == "notJSON")
    #expect(outline(ping(#"{"y":1e400,"x":\#(number)}"#)) == "notJSON", "beside a huge number")
  }

  @Test(arguments: [
    "", " ", "\n", "{", "}", "[", "]", "{]", "[}", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, "[1,]", "[,1]", "{,}", #"{a:1}"#,
    "{'a':1}",
    "tru", "nul", "True", "undefined", #"""#, #""abc"#, #""\x""#, #""\u12""#, #""\u12g4""#, "\"a\nb\"", "\"a\tb\"", "\"a\u{0}b\"",
    "{} {}",
    "{}x", "[] []", "1 2", "// c\n{}", "{}//", "/**/{}", "\u{0}", "{}\u{0}", "{\"a\":1 \"b\":2}",
  ])
  func textsThatAreNoJSONAreParseErrors(text: String) {
    #expect(outline(text) == "notJSON")
  }

  @Test func aTruncatedTextIsNoJSON() {
    let whole =
      #"{"jsonrpc":"2.0","id":"é😀","method":"joinGroup","params":{"groupID":"g","message":"\ud83d\ude00","x":[1,-2.5e3,true,null]}}"#
    let bytes = Array(whole.utf8)
    #expect(outline(read(bytes)) == #"joinGroup#"é😀""#)
    for length in 0..<bytes.count { #expect(outline(read(Array(bytes.prefix(length)))) == "notJSON", "cut at \(length)") }
  }

  @Test(
    arguments: [
      [0x80], [0xc0, 0x80], [0xc3], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xed, 0xb0, 0x80], [0xf4, 0x90, 0x80, 0x80],
      [0xf5, 0x80, 0x80, 0x80], [0xff],
      [0xfe],
    ] as [[UInt8]])
  func invalidUTF8IsNoJSON(bytes: [UInt8]) {
    let text = Array(#"{"jsonrpc":"2.0","id":""#.utf8) + bytes + Array(#"","method":"ping"}"#.utf8)
    #expect(outline(read(text)) == "notJSON")
  }

  @Test func aByteOrderMarkIsNoJSON() {
    #expect(outline("\u{feff}" + ping("{}")) == "notJSON")
  }

  @Test func theFirstOfADoubledKeyCounts() {
    #expect(outline(#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping","method":"logout"}"#) == "ping#1")
  }

  @Test func anEscapedNULIsACharacter() {
    #expect(outline(#"{"jsonrpc":"2.0","id":"a\u0000b","method":"ping"}"#) == "ping#\"a\0b\"")
    #expect(outline(#"{"jsonrpc\u0000":"2.0","id":1,"method":"ping"}"#) == "invalid#-")
  }

  @Test func theMostBytesAMessageMayHaveAreRead() {
    let padding = String(repeating: "x", count: 65_536 - ping(#"{"x":""}"#).utf8.count)
    #expect(outline(ping(#"{"x":"\#(padding)"}"#)) == "ping#1")
  }
}
