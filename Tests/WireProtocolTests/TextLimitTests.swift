import Foundation
import GroupModel
import Testing
import WireProtocol

/// The bounds of `limits.text.…`: another bound keeps the code.
@Suite struct TextLimitTests {
  /// A method, the member, other members, the bound, and the codes of an empty and of a longer text.
  struct Row: Sendable, CustomTestStringConvertible {
    let method: String
    let field: String
    let others: String
    let bound: @Sendable (inout TextLimits, Int) -> Void
    let empty: Int
    let longer: Int

    var testDescription: String { "\(method) \(field)" }
  }

  private static let group = #""groupID":"g""#
  private static let newGroup = #""groupType":"Work""#
  private static let rows: [Row] = [
    Row(method: "createGroup", field: "groupName", others: newGroup, bound: { $0.groupName = $1 }, empty: 8502, longer: 8502),
    Row(method: "setGroupInfo", field: "groupName", others: group, bound: { $0.groupName = $1 }, empty: 8502, longer: 8502),
    Row(method: "setGroupInfo", field: "introduction", others: group, bound: { $0.introduction = $1 }, empty: 0, longer: 8503),
    Row(method: "setGroupInfo", field: "notification", others: group, bound: { $0.notification = $1 }, empty: 0, longer: 8504),
    Row(method: "setGroupInfo", field: "faceURL", others: group, bound: { $0.faceURL = $1 }, empty: 0, longer: 8505),
    Row(
      method: "setGroupMemberInfo", field: "nameCard", others: group + #","userID":"u""#, bound: { $0.nameCard = $1 }, empty: 0,
      longer: 8506),
    Row(method: "sendGroupTextMessage", field: "text", others: group, bound: { $0.message = $1 }, empty: 10004, longer: 80002),
    Row(method: "sendGroupCustomMessage", field: "data", others: group, bound: { $0.message = $1 }, empty: 10004, longer: 80002),
    Row(
      method: "sendGroupTextMessage", field: "extension", others: group + #","text":"t""#, bound: { $0.extension = $1 }, empty: 0,
      longer: 10004),
    Row(
      method: "sendGroupCustomMessage", field: "extension", others: group + #","data":"d""#, bound: { $0.extension = $1 },
      empty: 0, longer: 10004),
    Row(
      method: "modifyGroupMessage", field: "extension", others: group + #","seq":1"#, bound: { $0.extension = $1 }, empty: 0,
      longer: 10004),
  ]

  /// The code of a text of so many bytes; 0 = it is taken.
  private func code(_ row: Row, _ bytes: Int, _ limits: TextLimits) -> Int {
    let params = #"{\#(row.others),"\#(row.field)":"\#(exactly(bytes))"}"#
    let text = Array(request(row.method, params).utf8)
    let padded = text + [UInt8](repeating: 0, count: JSONParser.padding)
    let envelope = padded.withUnsafeBytes {
      Envelope(
        padded: UnsafeRawBufferPointer(rebasing: $0.prefix(text.count)), parser: JSONParser(),
        methods: MethodTable(textLimits: limits))
    }
    guard case .single(let call) = envelope else { return -1 }
    switch call.content {
    case .request: return 0
    case .badParameters(let error): return error.field == row.field ? error.code.rawValue : -1
    case .unknownMethod, .invalid: return -1
    }
  }

  @Test(arguments: rows, [1, 7, 65_000])
  func theBoundIsTheConfigured(row: Row, bound: Int) {
    var limits = TextLimits.standard
    row.bound(&limits, bound)
    #expect(code(row, bound, limits) == 0)
    #expect(code(row, bound + 1, limits) == row.longer)
    #expect(code(row, 0, limits) == row.empty)
  }

  @Test func anImportedMessageHasTheBoundOfASentOne() throws {
    var limits = TextLimits.standard
    limits.message = 3
    let schema = try #require(MethodTable(textLimits: limits)["importGroupMessages"]?.parameters.last?.schema)
    #expect(schema.contains("1 to 3 bytes"))
  }

  @Test func theDescriptionsNameTheConfiguredBounds() throws {
    var limits = TextLimits.standard
    limits.groupName = 77
    let document = String(decoding: MethodTable(textLimits: limits).openRPC(version: "1"), as: UTF8.self)
    #expect(document.contains("1 to 77 bytes of UTF-8") && !document.contains("1 to 30 bytes of UTF-8"))
  }

  @Test func theErrorNamesTheBound() {
    #expect(fault("setGroupInfo", #"{"groupID":"g","groupName":"\#(exactly(31))"}"#)?.message == "groupName is at most 30 bytes")
  }

  @Test(arguments: [
    ("setGroupInfo", #""customInfo":{"a-b":"v"}"#, "A key of customInfo is 1 to 16 ASCII letters, digits or _"),
    ("setGroupAttributes", #""attributes":{"":"v"}"#, "A key of attributes is 1 to 32 bytes"),
    ("setGroupCounters", #""counters":{"a-b":1}"#, "A key of counters is 1 to 32 ASCII letters, digits or _"),
    (
      "kickGroupMember", #""userIDList":["@bob"]"#,
      "A userID is 1 to 32 visible ASCII characters, does not begin with @ and is not administrator"
    ),
    (
      "sendGroupTextMessage", #""text":"t","atUserIDList":["administrator"]"#,
      "A userID is 1 to 32 visible ASCII characters, does not begin with @ and is not administrator"
    ),
  ])
  func theErrorSaysTheRule(method: String, members: String, sentence: String) {
    #expect(fault(method, #"{"groupID":"g",\#(members)}"#)?.message == sentence)
  }
}
