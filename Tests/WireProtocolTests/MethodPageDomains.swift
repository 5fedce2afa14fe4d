/// The values that a member takes, values of the wrong JSON type, and (MethodPageRefusals.swift)
/// values outside the domain.
indirect enum Domain: Sendable {
  /// So many bytes of UTF-8, the code of a longer one, and of an empty one.
  case text(ClosedRange<Int>, Int = 10004, empty: Int? = nil)
  /// The same without control characters; too short and too long have one code.
  case name(ClosedRange<Int>, Int)
  /// At most so many characters, of up to four bytes each; a longer text is 10004.
  case characters(Int)
  /// Any text: whoever uses it judges it.
  case any
  case groupID, newGroupID, userID, mention
  /// A role to give: Owner is 10004.
  case role
  /// A role at the beginning: Owner is 8509.
  case initialRole
  case word([String])
  case integer(ClosedRange<Int64>)
  case flag
  case list(Domain, ClosedRange<Int>, empty: Int? = nil, tooMany: Int = 10004)
  case objects([Field], ClosedRange<Int>, empty: Int? = nil)
  /// A value of an object in a list whose answer is a row of its own: outside its domain it is taken,
  /// and the row fails.
  case ofRow(Domain)
  case customInfo(valueBytes: Int)
  case attributes
  /// An object of texts and nulls, of 16 at most.
  case expectations
  case counters
  /// ASCII letters, digits and `_`: 1 to 32.
  case counterKey
  /// The same, and `.` and `-`.
  case signalName

  /// Instants and opaque positions.
  static let instant = Domain.integer(0...(1 << 53))
  /// "A seq or an entry of seqList below 1 is 10004."
  static let seq = Domain.integer(1...(1 << 53))
  /// "Durations are seconds: 0 to 2³²−1"; unread counts alike.
  static let duration = Domain.integer(0...4_294_967_295)
  static let reaction = Domain.name(1...32, 10004)
  /// "`message`, `reason`, `attach` (applications, invitations, removals) are bounded by 512 characters".
  static let remark = Domain.characters(512)
  /// "kickUser's reason stays 512 bytes."
  static let shortText = Domain.text(0...512)
  /// "80002: message over 12,288 B; 10004: empty text or data".
  static let messageBody = Domain.text(1...12_288, 80002, empty: 10004)
  /// "A string ≤ limits.text.extension, 4096 B; over it 10004."
  static let messageExtension = Domain.text(0...4096)
  static let groupType = Domain.word(["Work", "Private", "Public", "Meeting", "ChatRoom", "AVChatRoom", "BChatRoom"])

  /// JSON texts of valid values; the first is a plain one.
  var valid: [String] {
    switch self {
    case .text(let bytes, _, _):
      bounds(bytes) + (bytes.upperBound == 12_288 ? [#""\u0000""#, #""\n\t""#] : [])
    case .name(let bytes, _): bounds(bytes)
    case .characters(let most):
      [#""a""#, #""""#, #""\u0000""#] + ["😀", "é", "a", #"\u0001"#].map { quoted(String(repeating: $0, count: most)) }
    case .any: [#""a""#, #""""#, #""\u0000""#, quoted(exactly(50_000))]
    case .groupID, .newGroupID:
      [#""g""#, quoted(String(repeating: "~", count: 48)), #""!""#, #""@x""#, #""@TGS""#] + (isNew ? [#""""#] : [#""@TGS#1""#])
    case .userID: [#""u""#, quoted(String(repeating: "!", count: 32)), #""Administrator""#, #""a@b""#]
    case .mention: [#""u""#, #""@all""#]
    case .role, .initialRole: [#""Member""#, #""Admin""#, #""100""#, #""2147483647""#]
    case .word(let words): words.map(quoted)
    case .integer(let range): ["\(range.lowerBound)", "\(range.upperBound)", "\(range.lowerBound + 1)"]
    case .flag: ["true", "false"]
    case .list(let element, let count, _, _):
      [array(element.valid[0], 1), array(element.valid[0], count.upperBound)] + (count.lowerBound == 0 ? ["[]"] : [])
        + element.valid.map { "[\($0)]" }
    case .objects(let fields, let count, _):
      [1, count.upperBound].map { array(fields.object(), $0) } + (count.lowerBound == 0 ? ["[]"] : [])
        + fields.flatMap { field in field.domain.valid.map { "[\(fields.object([field.name: $0]))]" } }
        + fields.filter { !$0.isRequired }.map { "[\(fields.object([$0.name: "null"]))]" }
    case .ofRow(let domain): domain.valid + domain.outside.map(\.json)
    case .customInfo(let bytes):
      [
        "{}", #"{"a":"b"}"#, #"{"a":null}"#, #"{"a":""}"#, #"{"abcdefghijklmn_9":\#(quoted(exactly(bytes)))}"#,
        #"{"a":"\u0000"}"#,
      ]
    case .attributes:
      [
        #"{"a":"b"}"#, "{}", #"{"a":"","b":"\u0000"}"#, "{\(quoted(exactly(32))):\(quoted(exactly(4096)))}", #"{"-é ":"b"}"#,
        #"{"a":null}"#,
      ]
    case .expectations:
      [
        #"{"a":"b"}"#, "{}", #"{"a":null}"#, #"{"a":"","b":null}"#, "{\(quoted(exactly(32))):\(quoted(exactly(4096)))}",
        "{\((0..<16).map { "\"\($0)\":null" }.joined(separator: ","))}",
      ]
    case .counters:
      [
        #"{"a":1}"#, #"{"a":null}"#, #"{"a":-9007199254740992,"b":9007199254740992}"#, #"{"_":1.0}"#, #"{"\u0061":1e3}"#,
        "{\(quoted(String(repeating: "Z", count: 32))):0}", "{\((0..<20).map { "\"\($0)\":\($0)" }.joined(separator: ","))}",
      ]
    case .counterKey: [#""a""#, #""_""#, #""0""#, quoted(String(repeating: "Z", count: 32))]
    case .signalName: [#""a""#, #""_""#, #""0""#, #"".""#, #""-""#, #""A.b-c_9""#, quoted(String(repeating: "Z", count: 32))]
    }
  }

  private func bounds(_ bytes: ClosedRange<Int>) -> [String] {
    [#""a""#, quoted(exactly(bytes.upperBound)), quoted(exactly(max(1, bytes.lowerBound))), #""\u0020""#]
      + (bytes.lowerBound == 0 ? [#""""#] : [])
  }

  /// JSON texts of another type than the member has.
  var wrongType: [String] {
    switch self {
    case .text, .characters, .name, .any, .groupID, .newGroupID, .userID, .mention, .role, .initialRole, .word, .counterKey,
      .signalName:
      ["5", "1.5", "true", "[]", #"["a"]"#, "{}"]
    case .counters:
      [#""a""#, "5", "true", "[]", #"{"a":"5"}"#, #"{"a":1.5}"#, #"{"a":true}"#, #"{"a":[]}"#, #"{"a":{}}"#, #"{"":"5"}"#]
    case .integer: [#""1""#, "1.5", "0.1e-3", "true", "[]", "[1]", "{}", #""""#]
    case .flag: ["0", "1", #""true""#, "[]", "{}", #""""#]
    case .list(let element, _, _, _):
      [#""a""#, "5", "true", "{}"] + element.wrongType.map { "[\($0)]" } + ["[\(element.valid[0]),null]"]
    case .objects(let fields, _, _):
      [#""a""#, "5", "true", "{}", "[5]", #"["a"]"#, "[null]", "[[]]"]
        + fields.flatMap { field in field.domain.wrongType.map { "[\(fields.object([field.name: $0]))]" } }
        + fields.filter(\.isRequired).flatMap { [fields.object([$0.name: nil]), fields.object([$0.name: "null"])] }.map {
          "[\($0)]"
        }
    case .ofRow(let domain): domain.wrongType
    case .customInfo, .attributes, .expectations:
      [#""a""#, "5", "true", "[]", #"{"a":5}"#, #"{"a":true}"#, #"{"a":[]}"#, #"{"a":{}}"#]
    }
  }

  var isNew: Bool { if case .newGroupID = self { true } else { false } }
}

func quoted(_ text: String) -> String { "\"\(text)\"" }

/// A text of so many bytes, of as few characters as that can have.
func exactly(_ bytes: Int) -> String {
  let characters = ["", "a", "é", "€"]
  return String(repeating: "😀", count: bytes / 4) + characters[bytes % 4]
}

/// A JSON array of so many equal elements.
func array(_ element: String, _ count: Int) -> String {
  "[" + Array(repeating: element, count: count).joined(separator: ",") + "]"
}
