import Testing

@testable import OutgoingHTTP
@testable import Webhooks

@Suite struct WebhookAnswerTests {
  private func answer(
    _ body: String, status: Int = 200, about subject: WebhookAnswer.Subject = .textMessage
  ) throws(WebhookAnswer.Fault) -> WebhookAnswer {
    try WebhookAnswer(HTTPResponse(status: status, body: Array(body.utf8)), about: subject)
  }

  @Test(
    arguments: [
      "{}", " {\n} ", #"{"action":"Allow"}"#, #"{"action":null}"#, #"{"action":"Allow","text":null,"data":null}"#,
      #"{"code":7,"message":[],"other":{"action":"Refuse"}}"#,
    ], [WebhookAnswer.Subject.textMessage, .customMessage, .other])
  func allowed(body: String, subject: WebhookAnswer.Subject) throws {
    #expect(try answer(body, about: subject) == .allow(replacement: nil))
  }

  @Test(arguments: [200, 201, 202, 204, 299])
  func everyStatusOfSuccessCounts(status: Int) throws {
    #expect(try answer("{}", status: status) == .allow(replacement: nil))
  }

  @Test(arguments: [0, 100, 199, 300, 301, 304, 307, 400, 401, 404, 410, 429, 500, 503])
  func noOtherStatusCounts(status: Int) {
    #expect(throws: WebhookAnswer.Fault.self) { try answer("{}", status: status) }
  }

  @Test(arguments: [
    "", " ", "null", "true", "1", #""Allow""#, "[]", "[{}]", "{", "{}{}", "{} x", "<html></html>", #"{"action":"Allow",}"#,
    "{'action':'Allow'}", #"{"action":"\ud800"}"#,
    String(repeating: #"{"a":"#, count: 40) + "1" + String(repeating: "}", count: 40),
  ])
  func aBodyThatIsNoObject(body: String) {
    #expect(throws: WebhookAnswer.Fault("the body is no JSON object")) { try answer(body) }
  }

  @Test func invalidUTF8() {
    #expect(throws: WebhookAnswer.Fault.self) {
      try WebhookAnswer(HTTPResponse(status: 200, body: Array(#"{"action":""#.utf8) + [0xff] + Array(#""}"#.utf8)), about: .other)
    }
  }

  @Test(arguments: [
    #"{"action":""}"#, #"{"action":"allow"}"#, #"{"action":"ALLOW"}"#, #"{"action":"Deny"}"#, #"{"action":"Allow "}"#,
    #"{"action":true}"#, #"{"action":1}"#, #"{"action":["Allow"]}"#, #"{"action":{}}"#,
  ])
  func anotherAction(body: String) {
    #expect(throws: WebhookAnswer.Fault.self) { try answer(body) }
  }

  // MARK: - New content

  @Test func contentOfTheSameKindReplaces() throws {
    #expect(try answer(#"{"action":"Allow","text":"***"}"#) == .allow(replacement: .text("***")))
    #expect(try answer(#"{"text":"\u0000é😀"}"#) == .allow(replacement: .text("\0é😀")))
    #expect(try answer(#"{"action":"Allow","data":"{}","text":null}"#, about: .customMessage) == .allow(replacement: .data("{}")))
  }

  @Test(arguments: [
    (#"{"data":"x"}"#, WebhookAnswer.Subject.textMessage), (#"{"text":"x"}"#, .customMessage),
    (#"{"text":"x","data":"x"}"#, .textMessage), (#"{"text":"x","data":"x"}"#, .customMessage), (#"{"text":"x"}"#, .other),
    (#"{"data":"x"}"#, .other), (#"{"text":7}"#, .textMessage), (#"{"text":["x"]}"#, .textMessage),
    (#"{"data":{}}"#, .customMessage), (#"{"text":"x","data":7}"#, .textMessage), (#"{"text":""}"#, .textMessage),
    (#"{"data":""}"#, .customMessage),
  ])
  func contentThatMakesNoSense(body: String, subject: WebhookAnswer.Subject) {
    #expect(throws: WebhookAnswer.Fault.self) { try answer(body, about: subject) }
  }

  @Test func contentHasTheLimitOfAMessage() throws {
    // Bytes count, not characters.
    let text = String(repeating: "é", count: 6144)
    #expect(try answer(#"{"text":"\#(text)"}"#) == .allow(replacement: .text(text)))
    #expect(throws: WebhookAnswer.Fault.self) { try answer(#"{"text":"\#(text)a"}"#) }
    #expect(throws: WebhookAnswer.Fault.self) { try answer(#"{"data":"\#(text)a"}"#, about: .customMessage) }
  }

  // MARK: - Refusals and drops

  @Test(arguments: [WebhookAnswer.Subject.textMessage, .customMessage, .other])
  func refused(subject: WebhookAnswer.Subject) throws {
    #expect(try answer(#"{"action":"Refuse"}"#, about: subject) == .refuse(code: 10016, message: nil))
    #expect(
      try answer(#"{"action":"Refuse","code":10120,"message":"No ads"}"#, about: subject)
        == .refuse(code: 10120, message: "No ads"))
    // Content beside a refusal is not looked at.
    #expect(try answer(#"{"action":"Refuse","text":7,"data":""}"#, about: subject) == .refuse(code: 10016, message: nil))
  }

  @Test(arguments: ["10016", "10120", "10125", "10130", "10130.0", "1.012e4"])
  func codesOfARefusal(code: String) throws {
    #expect(try answer(#"{"action":"Refuse","code":\#(code)}"#) == .refuse(code: Int(Double(code) ?? 0), message: nil))
  }

  @Test(arguments: [
    "0", "-10016", "10015", "10017", "10119", "10131", "10120.5", "1e30", "9223372036854775808", "\"10120\"", "true", "[]", "{}",
  ])
  func aRefusalRefusesWhateverItsCode(code: String) throws {
    #expect(try answer(#"{"action":"Refuse","code":\#(code)}"#) == .refuseWithUnknownCode(message: nil))
    #expect(
      try answer(#"{"action":"Refuse","code":\#(code),"message":"No ads"}"#, about: .other)
        == .refuseWithUnknownCode(message: "No ads"))
  }

  @Test func nullIsAbsentInARefusal() throws {
    #expect(try answer(#"{"action":"Refuse","code":null,"message":null}"#) == .refuse(code: 10016, message: nil))
    #expect(try answer(#"{"action":"Refuse","message":""}"#) == .refuse(code: 10016, message: nil))
  }

  @Test(arguments: ["7", "true", "[]", "{}"])
  func aRefusalRefusesWhateverItsMessage(message: String) throws {
    #expect(try answer(#"{"action":"Refuse","message":\#(message)}"#) == .refuse(code: 10016, message: nil))
  }

  @Test(arguments: [
    (String(repeating: "a", count: 512), String(repeating: "a", count: 512)),
    (String(repeating: "a", count: 513), String(repeating: "a", count: 512)),
    (String(repeating: "a", count: 511) + "é", String(repeating: "a", count: 511)),
    (String(repeating: "😀", count: 200), String(repeating: "😀", count: 128)),
    ("aa" + String(repeating: "😀", count: 200), "aa" + String(repeating: "😀", count: 127)),
  ])
  func aLongMessageIsCutBetweenCharacters(message: String, cut: String) throws {
    #expect(try answer(#"{"action":"Refuse","message":"\#(message)"}"#) == .refuse(code: 10016, message: cut))
  }

  @Test func onlyMessagesAreDropped() throws {
    #expect(try answer(#"{"action":"Drop"}"#, about: .textMessage) == .drop)
    #expect(try answer(#"{"action":"Drop","code":1,"text":7}"#, about: .customMessage) == .drop)
    #expect(throws: WebhookAnswer.Fault("only messages can be dropped")) { try answer(#"{"action":"Drop"}"#, about: .other) }
  }

  @Test func faultsHoldNothingOfTheAnswer() {
    for body in [#"{"action":"s3cret"}"#, #"{"text":["s3cret"]}"#, "s3cret"] {
      let fault = #expect(throws: WebhookAnswer.Fault.self) { try answer(body) }
      #expect(fault?.description.contains("s3cret") == false)
    }
  }
}
