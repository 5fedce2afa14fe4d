/// What values a member takes, what is of the wrong JSON type, and what is outside, with the code of contract section 7.
indirect enum Domain: Sendable {
  /// So many bytes of UTF-8.
  case text(ClosedRange<Int>, Int = 10004, empty: Int? = nil)
  case groupID, newGroupID, userID, mention, role
  case word([String])
  case integer(ClosedRange<Int64>)
  case flag
  case list(Domain, ClosedRange<Int>, empty: Int? = nil, tooMany: Int = 10004)
  case objects([Field], ClosedRange<Int>)
  case customInfo

  /// Instants and opaque positions.
  static let instant = Domain.integer(0...(1 << 53))

  /// JSON texts of valid values; the first is a plain one.
  var valid: [String] {
    switch self {
    case .text(let bytes, _, _):
      [#""a""#, quoted(exactly(bytes.upperBound)), quoted(exactly(max(1, bytes.lowerBound))), #""\u0020""#]
        + (bytes.lowerBound == 0 ? [#""""#] : []) + (bytes.upperBound == 12_288 ? [#""\u0000""#, #""\n\t""#] : [])
    case .groupID, .newGroupID:
      [#""g""#, quoted(String(repeating: "~", count: 48)), #""!""#, #""@x""#, #""@TGS""#] + (isNew ? [] : [#""@TGS#1""#])
    case .userID: [#""u""#, quoted(String(repeating: "!", count: 32)), #""Administrator""#, #""a@b""#]
    case .mention: [#""u""#, #""@all""#]
    case .role: [#""Member""#, #""Admin""#, #""100""#, #""2147483647""#]
    case .word(let words): words.map(quoted)
    case .integer(let range): ["\(range.lowerBound)", "\(range.upperBound)", "\(range.lowerBound + 1)"]
    case .flag: ["true", "false"]
    case .list(let element, let count, _, _):
      [array(element.valid[0], 1), array(element.valid[0], count.upperBound)] + (count.lowerBound == 0 ? ["[]"] : [])
    case .objects(let fields, let count):
      [1, count.upperBound].map { array(MethodPage("", fields).params(), $0) } + (count.lowerBound == 0 ? ["[]"] : [])
    case .customInfo:
      ["{}", #"{"a":"b"}"#, #"{"a":null}"#, #"{"a":""}"#, #"{"abcdefghijklmn_9":\#(quoted(exactly(512)))}"#, #"{"a":"\u0000"}"#]
    }
  }

  /// JSON texts of another type than the member has.
  var wrongType: [String] {
    switch self {
    case .text, .groupID, .newGroupID, .userID, .mention, .role, .word: ["5", "1.5", "true", "[]", #"["a"]"#, "{}"]
    case .integer: [#""1""#, "1.5", "0.1e-3", "true", "[]", "[1]", "{}", #""""#]
    case .flag: ["0", "1", #""true""#, "[]", "{}", #""""#]
    case .list(let element, _, _, _):
      [#""a""#, "5", "true", "{}"] + element.wrongType.map { "[\($0)]" } + ["[\(element.valid[0]),null]"]
    case .objects(let fields, _):
      [#""a""#, "5", "true", "{}", "[5]", #"["a"]"#, "[null]", "[[]]"]
        + fields.flatMap { field in field.domain.wrongType.map { "[\(MethodPage("", fields).params([field.name: $0]))]" } }
        + fields.filter(\.isRequired).map { "[\(MethodPage("", fields).params([$0.name: nil]))]" }
    case .customInfo: [#""a""#, "5", "true", "[]", #"{"a":5}"#, #"{"a":true}"#, #"{"a":[]}"#, #"{"a":{}}"#]
    }
  }

  /// JSON texts of the right type that are refused, with the code.
  var outside: [(json: String, code: Int)] {
    switch self {
    case .text(let bytes, let code, let empty):
      (bytes.upperBound == 60_000 ? [] : [(quoted(exactly(bytes.upperBound + 1)), code)]) + (empty.map { [(#""""#, $0)] } ?? [])
        + (bytes.upperBound == 30 ? ["\\u0000", "a\\n", "\\u007f", "\\u0085"].map { ("\"\($0)\"", 10004) } : [])
    case .groupID, .newGroupID:
      ["", "a b", "é", "\\u007f", "\\u0000", String(repeating: "a", count: 49)].map { ("\"\($0)\"", isNew ? 8501 : 10015) }
        + (isNew ? [(#""@TGS#""#, 8501), (#""@TGS#1""#, 8501)] : [])
    case .userID:
      ["", "@a", "administrator", "a b", "é", "\\u0000", String(repeating: "a", count: 33)].map { ("\"\($0)\"", 10004) }
    case .mention: ["", "@ALL", "a b", "administrator"].map { ("\"\($0)\"", 10004) }
    case .role:
      [(#""Owner""#, 8509)] + ["owner", "", "99", "2147483648", "-100", "0100", "1e3", "admin"].map { ("\"\($0)\"", 10004) }
    case .word(let words):
      ["", "x", " \(words[0])", words[0] + "\\u0000", words[0].lowercased() == words[0] ? "X" : words[0].lowercased()].map {
        ("\"\($0)\"", 10004)
      }

    case .integer(let range):
      [
        "\(range.lowerBound - 1)", "\(range.upperBound + 1)", "-1", "1e400", "-1e400", "1e30", "18446744073709551616",
        "-9223372036854775808",
        "123456789012345678901234567890",
      ].map { ($0, 10004) }
    case .flag: []
    case .list(let element, let count, let empty, let tooMany):
      [(array(element.valid[0], count.upperBound + 1), tooMany)] + (empty.map { [("[]", $0)] } ?? [])
        + element.outside.map { ("[\($0.json)]", $0.code) }
    case .objects(let fields, let count):
      [(array(MethodPage("", fields).params(), count.upperBound + 1), 10004)] + (count.lowerBound > 0 ? [("[]", 10004)] : [])
        + fields.flatMap { field in
          field.domain.outside.map { ("[\(MethodPage("", fields).params([field.name: $0.json]))]", $0.code) }
        }
    case .customInfo:
      [
        #"{"":"x"}"#, #"{"abcdefghijklmnopq":"x"}"#, #"{"a-b":"x"}"#, #"{"é":"x"}"#, #"{"a\u0000":"x"}"#,
        #"{"a":\#(quoted(exactly(513)))}"#,
      ]
      .map { ($0, 10004) }
    }
  }

  private var isNew: Bool { if case .newGroupID = self { true } else { false } }
}

func quoted(_ text: String) -> String { "\"\(text)\"" }

/// A text of so many bytes, of as few characters as that can have.
func exactly(_ bytes: Int) -> String {
  let characters = ["", "a", "é", "€"]
  return String(repeating: "😀", count: bytes / 4) + characters[bytes % 4]
}

private func array(_ element: String, _ count: Int) -> String {
  "[" + Array(repeating: element, count: count).joined(separator: ",") + "]"
}
