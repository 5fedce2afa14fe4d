import Testing
import WireProtocol

/// The form of one request (Protocol.md, "Requests and replies").
@Suite struct EnvelopeTests {
  @Test(arguments: [
    ("17", "17"), ("0", "0"), ("-1", "-1"), ("9007199254740992", "9007199254740992"), ("-9007199254740992", "-9007199254740992"),
    (#""a""#, #""a""#), (#""""#, #""""#), (#""17""#, #""17""#), (#""é😀\u0000\n""#, "\"é😀\0\n\""),
  ])
  func anIDIsAStringOrAnIntegerWithin2To53AndComesBack(sent: String, back: String) {
    #expect(outline(#"{"jsonrpc":"2.0","id":\#(sent),"method":"ping"}"#) == "ping#\(back)")
  }

  @Test(arguments: [
    "9007199254740993", "-9007199254740993", "9223372036854775808", "18446744073709551616", "-9223372036854775809",
    "123456789012345678901234567890", "1e400", "-1e400", "1.5", "1.0", "1e2", "null", "true", "[]", "{}", "[1]",
  ])
  func anyOtherIDIsAnInvalidRequestWithoutID(id: String) {
    #expect(outline(#"{"jsonrpc":"2.0","id":\#(id),"method":"ping"}"#) == "invalid#-")
  }

  @Test func theIDIsWrittenAsItWasSent() {
    #expect(
      String(decoding: Reply.empty.text(id: .number(-(1 << 53))), as: UTF8.self)
        == #"{"jsonrpc":"2.0","id":-9007199254740992,"result":{}}"#)
    #expect(
      String(decoding: Reply.empty.text(id: .text("a\"\0")), as: UTF8.self) == #"{"jsonrpc":"2.0","id":"a\"\u0000","result":{}}"#)
    #expect(String(decoding: Reply.empty.text(id: nil), as: UTF8.self) == #"{"jsonrpc":"2.0","id":null,"result":{}}"#)
  }

  @Test(arguments: [
    #"{"id":1,"method":"ping"}"#, #"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, #"{"jsonrpc":2.0,"id":1,"method":"ping"}"#,
    #"{"jsonrpc":2,"id":1,"method":"ping"}"#, #"{"jsonrpc":null,"id":1,"method":"ping"}"#,
    #"{"jsonrpc":"2.0 ","id":1,"method":"ping"}"#,
    #"{"jsonrpc":"2.0","id":1}"#, #"{"jsonrpc":"2.0","id":1,"method":null}"#, #"{"jsonrpc":"2.0","id":1,"method":5}"#,
    #"{"jsonrpc":"2.0","id":1,"method":["ping"]}"#, "{}", "5", "1.5", #""ping""#, "null", "true", "false",
  ])
  func withoutVersionOrMethodItIsAnInvalidRequestWithoutID(text: String) {
    #expect(outline(text) == "invalid#-")
  }

  @Test func aRequestWithoutIDRunsAndIsNotAnswered() {
    #expect(outline(#"{"jsonrpc":"2.0","method":"ping"}"#) == "ping#-")
  }

  @Test(arguments: ["nope", "", "Ping", "ping ", "rpc.nope", "pin", "joinGroup\\u0000"])
  func anUnknownMethodKeepsItsID(method: String) {
    #expect(outline(#"{"jsonrpc":"2.0","id":1,"method":"\#(method)"}"#) == "?#1")
    #expect(outline(#"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":[]}"#) == "?#1")
  }

  @Test(arguments: ["[]", "[1]", "5", "1.5", #""x""#, "true", "false", "null", #"[{"groupID":"g"}]"#])
  func paramsThatAreNoObjectAreInvalidParams(params: String) {
    #expect(outline(#"{"jsonrpc":"2.0","id":1,"method":"ping","params":\#(params)}"#) == "ping!-32602:params#1")
  }

  @Test func absentParamsAreAnEmptyObject() {
    #expect(outline(#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#) == "ping#1")
    #expect(outline(#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}"#) == "ping#1")
    #expect(outline(#"{"jsonrpc":"2.0","id":1,"method":"joinGroup"}"#) == "joinGroup!-32602:groupID#1")
  }

  @Test func unknownMembersOfAnEnvelopeAndOfParamsAreIgnored() {
    #expect(outline(#"{"x":[{}],"jsonrpc":"2.0","result":1,"id":1,"method":"ping","params":{"y":{"groupID":5}}}"#) == "ping#1")
  }

  @Test func namesAndMethodsMayBeWrittenWithEscapes() {
    #expect(outline(#"{"json\u0072pc":"2\u002e0","i\u0064":1,"method":"\u0070ing"}"#) == "ping#1")
  }

  @Test func whiteSpaceAroundAndInsideIsAllowed() {
    #expect(outline(" \t\r\n{ \"jsonrpc\" :\n\"2.0\" , \"id\"\t: 1 , \"method\" : \"ping\" } \n") == "ping#1")
  }

  @Test func metricsCountWhatIsNoMethodUnderOneName() {
    for text in [#"{"jsonrpc":"2.0","id":1,"method":"secret"}"#, "{}"] {
      guard case .single(let call) = read(text) else { return #expect(Bool(false), "a single request") }
      #expect(call.methodName == "unknown")
    }
    guard case .single(let call) = read(#"{"jsonrpc":"2.0","id":1,"method":"joinGroup"}"#) else { return #expect(Bool(false)) }
    #expect(call.methodName == "joinGroup")
  }
}
