import Foundation
import Testing
import ThrongTestKit

@testable import WireProtocol

/// Whatever bytes come, an envelope comes of them, and nothing that Foundation calls broken is
/// taken for JSON.
@Suite struct MutationTests {
  private static let requests = [
    #"{"jsonrpc":"2.0","id":1,"method":"login","params":{"token":"ey.\ud83d\ude00","platform":"Web","deviceID":"d"}}"#,
    #"{"jsonrpc":"2.0","id":"é😀","method":"createGroup","params":{"groupType":"Work","groupName":"n","memberList":[{"userID":"u","role":"Admin"}],"customInfo":{"a":null,"b":"x"},"maxMemberNum":10}}"#,
    #"{"jsonrpc":"2.0","id":-9007199254740992,"method":"sendGroupTextMessage","params":{"groupID":"g","text":"\u0000\n","atUserIDList":["@all","u"],"onlineUserOnly":true}}"#,
    #"[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","method":"joinGroup","params":{"groupID":"g"}},{"jsonrpc":"2.0","id":3,"method":"syncGroups","params":{"groups":[{"groupID":"g","epoch":"e","seq":5}]}}]"#,
    #" { "jsonrpc" : "2.0" , "id" : 4 , "method" : "getJoinedGroupList" , "params" : { "count" : 1e2 , "nextSeq" : -0 , "x":[[[]],{"y":1.5e-3}] } } "#,
  ]

  /// Bytes that mean something in JSON come more often than others.
  private static let likely = Array("{}[]\",:\\u0123456789eE+-.dDcC tfn\0\n".utf8) + [0x80, 0xc3, 0xe2, 0xed, 0xf0, 0xff]

  private func mutate(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
    let at = bytes.isEmpty ? 0 : Int.random(in: 0..<bytes.count, using: &random)
    let end = min(bytes.count, at + Int.random(in: 1...8, using: &random))
    let byte = MutationTests.likely.randomElement(using: &random) ?? 0
    switch Int.random(in: 0..<7, using: &random) {
    case 0: if !bytes.isEmpty { bytes[at] = byte }
    case 1: if !bytes.isEmpty { bytes[at] ^= 1 << UInt8.random(in: 0...7, using: &random) }
    case 2: bytes.insert(byte, at: at)
    case 3: bytes.removeSubrange(at..<end)
    case 4: bytes.insert(contentsOf: bytes[at..<end], at: at)
    case 5: bytes.removeSubrange(at...)
    default: bytes.insert(contentsOf: Array("99999999999999999999".utf8), at: at)
    }
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func aMutatedRequestGivesAnEnvelopeWhoseAnswersAreJSON(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for round in 0..<1500 {
      var bytes = Array((MutationTests.requests.randomElement(using: &random) ?? "").utf8)
      for _ in 0..<Int.random(in: 1...4, using: &random) { mutate(&bytes, &random) }
      let envelope = read(bytes)
      for answer in answers(to: envelope) {
        let object = try JSONSerialization.jsonObject(with: Data(answer)) as? [String: Any]
        #expect(object?["jsonrpc"] as? String == "2.0", "seed \(seed), round \(round)")
      }
      #expect(isRefused(envelope) == (fault(of: bytes) != nil), "seed \(seed), round \(round)")
      if case .notJSON = envelope { continue }
      #expect(isJSON(bytes), "seed \(seed), round \(round): \(String(decoding: bytes, as: UTF8.self))")
    }
  }

  @Test func randomBytesGiveAnEnvelope() {
    var random = SeededGenerator(seed: 11)
    for round in 0..<5000 {
      let bytes = (0..<Int.random(in: 0...80, using: &random)).map { _ in MutationTests.likely.randomElement(using: &random) ?? 0
      }
      let envelope = read(bytes)
      #expect(isRefused(envelope) == (fault(of: bytes) != nil), "round \(round): \(bytes)")
      if case .notJSON = envelope { continue }
      #expect(isJSON(bytes), "round \(round): \(String(decoding: bytes, as: UTF8.self))")
    }
  }

  private func isRefused(_ envelope: Envelope) -> Bool { if case .notJSON = envelope { true } else { false } }

  /// The place that a refused text's answer names.
  private func fault(of bytes: [UInt8]) -> JSONFault? { bytes.withUnsafeBytes { JSONFault(of: $0) } }

  private func answers(to envelope: Envelope) -> [[UInt8]] {
    switch envelope {
    case .single(let call): [answer(to: call)]
    case .batch(let calls): calls.map(answer)
    case .badBatch: [Reply.error(.invalidRequest).text(id: nil)]
    case .notJSON(let error): [Reply.failure(error).text(id: nil)]
    }
  }

  private func answer(to call: Call) -> [UInt8] {
    switch call.content {
    case .request: Reply.empty.text(id: call.id)
    case .badParameters(let error): Reply.failure(error).text(id: call.id)
    case .unknownMethod(let error, sent: _): Reply.failure(error).text(id: call.id)
    case .invalid: Reply.error(.invalidRequest).text(id: nil)
    }
  }

  /// The verdict of Foundation. Numbers that it cannot hold are JSON all the same, so a text that
  /// it refuses gets a second hearing with short ones.
  private func isJSON(_ bytes: [UInt8]) -> Bool {
    guard let text = String(validating: bytes, as: UTF8.self) else { return false }
    let short = text.replacing(/\\u[0-9a-fA-F]{4}/) { _ in "x" }.replacing(/[0-9]{15,}/) { _ in "111111111111111" }
      .replacing(/([0-9][eE][+-]?)[0-9]{3,}/) { "\($0.output.1)1" }
    return [text, short].contains { (try? JSONSerialization.jsonObject(with: Data($0.utf8), options: .fragmentsAllowed)) != nil }
  }
}
