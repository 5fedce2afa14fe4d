import Foundation
import GroupModel
import Testing

@testable import WireProtocol

/// The closed tables of Reference.md, "Errors", and the descriptions that are made from the
/// methods.
@Suite struct TableTests {
  @Test(arguments: ErrorCode.allCases)
  func everyErrorHasATitleAndItsPlaceOnTheWire(code: ErrorCode) throws {
    #expect(!code.title.isEmpty)
    let text = Reply.error(code).text(id: .number(1))
    let reply = try #require(try JSONSerialization.jsonObject(with: Data(text)) as? [String: Any])
    let error = try #require(reply["error"] as? [String: Any])
    #expect(reply["result"] == nil)
    #expect(error["code"] as? Int == code.rawValue)
    #expect(error["message"] as? String == code.title)
    let data = try #require(error["data"] as? [String: Any])
    #expect(data["temporary"] is Bool)
    #expect(data.count == 1, "field and retryAfterMs only where they help")
  }

  @Test func titlesAreDistinct() {
    #expect(Set(ErrorCode.allCases.map(\.title)).count == ErrorCode.allCases.count)
  }

  /// -32603 does not say what was changed, so nobody repeats it unseen.
  @Test func whatMayPassIsTemporaryAndARefusalOrAFaultIsNot() {
    #expect(ErrorCode.temporary.isTemporary)
    #expect(ErrorCode.requestRate.isTemporary)
    for code in [ErrorCode.noRight, .noSuchGroup, .badValue, .invalidParams, .internalError, .muted, .tokenExpired] {
      #expect(!code.isTemporary)
    }
  }

  @Test func anErrorIsWrittenInTheOrderOfThePage() {
    let error = WireError(.noSuchGroup, "m", field: "groupID", retryAfterMs: 0)
    #expect(
      String(decoding: Reply.failure(error).text(id: .number(17)), as: UTF8.self)
        == #"{"jsonrpc":"2.0","id":17,"error":{"code":10010,"message":"m","data":{"temporary":false,"field":"groupID","retryAfterMs":0}}}"#
    )
  }

  @Test func closeCodesSayWhetherToReconnect() {
    let page = Array(4001...4008) + Array(4500...4503)
    #expect(CloseCode.allCases.map(\.rawValue).filter { $0 >= 4000 } == page)
    // A close frame carries at most 123 bytes of reason.
    for code in CloseCode.allCases { #expect((1...123).contains(code.reason.utf8.count)) }
  }

  @Test func everyMethodDescribesItsParametersInJSONSchema() throws {
    for entry in MethodTable().entries {
      #expect(!entry.specification.summary.isEmpty)
      for parameter in entry.parameters {
        let schema = try JSONSerialization.jsonObject(with: Data(parameter.schema.utf8)) as? [String: Any]
        let type = try #require(schema?["type"] as? String, "\(entry.name).\(parameter.name)")
        #expect(["string", "integer", "boolean", "array", "object"].contains(type))
        if type == "array" { #expect(schema?["items"] is [String: Any], "\(entry.name).\(parameter.name)") }
      }
      #expect(Set(entry.parameters.map(\.name)).count == entry.parameters.count, "\(entry.name) names a parameter once")
    }
  }

  @Test func everyMethodIsFoundByItsNameAndNoOther() {
    let table = MethodTable()
    for entry in table.entries {
      #expect(table[entry.name]?.name == entry.name)
      #expect(table[entry.name.uppercased()] == nil)
    }
    #expect(table[""] == nil)
  }

  @Test func everyEventIsANotificationWithoutID() throws {
    for event in EventName.allCases {
      let text = String(decoding: event.example.frame, as: UTF8.self)
      #expect(text.hasPrefix(#"{"jsonrpc":"2.0","method":"\#(event.rawValue)","params":{"#))
      #expect(!event.fields.isEmpty && !event.audience.isEmpty)
    }
  }

  @Test func everyErrorThatAMethodNamesIsOfItsOwn() {
    for entry in MethodTable().entries {
      #expect(Set(entry.specification.errors).count == entry.specification.errors.count, "\(entry.name)")
    }
  }

  @Test func everyMethodWritesThatDoesNotOnlyAsk() {
    let asking = /(get|list|search|sync|subscribe|unsubscribe|export)[A-Z].*|ping|rpc\.discover|login|logout/
    for entry in MethodTable().entries {
      #expect(entry.writes == (entry.name.wholeMatch(of: asking) == nil), "\(entry.name)")
    }
  }
}
