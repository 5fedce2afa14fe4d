import Testing
import WireProtocol

/// A batch has 1 to 20 requests, which run in their order (Protocol.md, "Batches").
@Suite struct BatchTests {
  private func batch(_ count: Int) -> String {
    "[" + (0..<count).map { #"{"jsonrpc":"2.0","id":\#($0),"method":"ping"}"# }.joined(separator: ",") + "]"
  }

  @Test(arguments: [0, 21, 22, 1000])
  func aBatchOfNoneOrOver20IsOneInvalidRequest(count: Int) {
    #expect(outline(batch(count)) == "badBatch")
  }

  @Test(arguments: [1, 2, 19, 20])
  func aBatchOf1To20KeepsItsOrder(count: Int) {
    #expect(outline(batch(count)) == "[" + (0..<count).map { "ping#\($0)" }.joined(separator: " ") + "]")
  }

  @Test func eachElementIsJudgedForItself() {
    let text = #"""
      [1, "x", null, [], {}, {"jsonrpc":"2.0","id":1.5,"method":"ping"}, {"jsonrpc":"2.0","id":"a","method":"nope"},
       {"jsonrpc":"2.0","id":2,"method":"joinGroup","params":{"groupID":5}}, {"jsonrpc":"2.0","method":"ping"},
       {"jsonrpc":"2.0","id":3,"method":"ping"}]
      """#
    #expect(
      outline(text)
        == #"[invalid#- invalid#- invalid#- invalid#- invalid#- invalid#- ?#"a" joinGroup!-32602:groupID#2 ping#- ping#3]"#)
  }

  @Test func valuesOfOneElementDoNotReachTheNext() {
    let text =
      #"[{"jsonrpc":"2.0","id":1,"method":"joinGroup","params":{"groupID":"g"}},{"jsonrpc":"2.0","id":2,"method":"joinGroup"}]"#
    #expect(outline(text) == "[joinGroup#1 joinGroup!-32602:groupID#2]")
  }

  @Test func aParserReadsOneTextAfterTheOther() {
    let parser = JSONParser()
    let methods = MethodTable()
    for text in [batch(20), "{", batch(1), "[]", #""\ud800""#, batch(3)] {
      let padded = Array(text.utf8) + [UInt8](repeating: 0x41, count: JSONParser.padding)
      let again = padded.withUnsafeBytes {
        Envelope(padded: UnsafeRawBufferPointer(rebasing: $0.dropLast(JSONParser.padding)), parser: parser, methods: methods)
      }
      #expect(outline(again) == outline(text))
    }
  }
}
