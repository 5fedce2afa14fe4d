import Foundation
import Testing
import ThrongTestKit
import WireProtocol

@testable import Gateway

/// Any value for any parameter is answered with a result or an error of the table: the largest
/// numbers, numbers as texts, and what is no value at all. Whatever traps would end the server, and
/// this test with it.
@Suite(.serialized) struct HostileValueTests {
  private static let values = [
    "null", "true", "[]", "{}", "[{}]", "[null]", #""""#, #""x""#, #""0""#, #""\u0000""#, "0", "-1", "1", "1.5", "1e308", "-0",
    "4294967295", "4294967296", "9007199254740992", "9007199254740993", "9223372036854775807", "-9223372036854775808",
    "9223372036854775808", #""9223372036854775806""#, #""9223372036854775807""#, #""-9223372036854775808""#,
  ]

  @Test(arguments: MethodTable().entries.map(\.name)) func everyValueIsAnswered(method: String) async throws {
    let backend = Backend()
    try await backend.found(method.hasSuffix("Attributes") ? "AVChatRoom" : "Public", with: "mary")
    _ = try await backend.result("sendGroupTextMessage", as: "mary", #""groupID":"g","text":"x""#)
    let entry = try #require(MethodTable()[method])
    for params in try variants(entry) {
      let user = entry.specification.callers == .application ? nil : "olga"
      let answer = try await backend.rpc(method, as: user, members: params)
      if let code = answer["error"]["code"].integer {
        #expect(ErrorCode(rawValue: Int(code)).map { $0 != .internalError } == true, "\(params): \(answer)")
      } else {
        #expect(answer["result"] != .null, "\(params): \(answer)")
      }
    }
  }

  /// The sample of a method with each of its members, and each member of its members, put in turn
  /// to each value.
  private func variants(_ entry: MethodTable.Entry) throws -> [[String: Any]] {
    let sample = try object("{\(sampleCalls[entry.name] ?? "")}")
    let values = try Self.values.map { try JSONSerialization.jsonObject(with: Data($0.utf8), options: .fragmentsAllowed) }
    var variants: [[String: Any]] = []
    for name in entry.parameters.map(\.name) {
      variants += values.map { sample.merging([name: $0]) { $1 } }
      for inner in ((sample[name] as? [[String: Any]])?.first ?? [:]).keys.sorted() + ["role", "joinTime", "unreadCount", "seq"] {
        guard let first = (sample[name] as? [[String: Any]])?.first else { break }
        variants += values.map { value in sample.merging([name: [first.merging([inner: value]) { $1 }]]) { $1 } }
      }
    }
    return variants
  }

  private func object(_ text: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }
}

extension Backend {
  /// One call whose params are given as values.
  fileprivate func rpc(_ method: String, as user: String?, members: [String: Any]) async throws -> JSON {
    let params = user.map { members.merging(["asUser": $0]) { $1 } } ?? members
    return try await rpc(method, String(decoding: try JSONSerialization.data(withJSONObject: params), as: UTF8.self))
  }
}
