/// JSON texts of the right type that are refused, with the code of Reference.md, "Errors".
extension Domain {
  typealias Refusal = (json: String, code: Int)

  var outside: [Refusal] {
    switch self {
    case .text(let bytes, let code, let empty):
      [(quoted(exactly(bytes.upperBound + 1)), code)] + (empty.map { [(#""""#, $0)] } ?? [])
    case .characters(let most):
      ["😀", "é", "a", #"\u0001"#].map { (quoted(String(repeating: $0, count: most + 1)), 10004) }
    case .name(let bytes, let code):
      [(quoted(exactly(bytes.upperBound + 1)), code)] + (bytes.lowerBound > 0 ? [(#""""#, code)] : [])
        + ["\\u0000", "a\\n", "\\u007f", "\\u0085"].map { ("\"\($0)\"", 10004) }
    case .any, .flag, .ofRow: []
    case .groupID, .newGroupID:
      ["a b", "é", "\\u007f", "\\u0000", String(repeating: "a", count: 49)].map { ("\"\($0)\"", isNew ? 8501 : 10015) }
        + (isNew ? [(#""@TGS#""#, 8501), (#""@TGS#1""#, 8501)] : [(#""""#, 10015)])
    case .userID:
      ["", "@a", "administrator", "a b", "é", "\\u0000", String(repeating: "a", count: 33)].map { ("\"\($0)\"", 10004) }
    case .mention: ["", "@ALL", "a b", "administrator"].map { ("\"\($0)\"", 10004) }
    case .role: Domain.refusedRoles(owner: 10004)
    case .initialRole: Domain.refusedRoles(owner: 8509)
    case .word(let words): Domain.otherWords(than: words)
    case .integer(let range): Domain.numbers(outside: range)
    case .list(let element, let count, let empty, let tooMany):
      [(array(element.valid[0], count.upperBound + 1), tooMany)] + (empty.map { [("[]", $0)] } ?? [])
        + element.outside.map { ("[\($0.json)]", $0.code) }
    case .objects(let fields, let count, let empty):
      [(array(fields.object(), count.upperBound + 1), 10004)] + (empty.map { [("[]", $0)] } ?? [])
        + fields.flatMap { field in field.domain.outside.map { ("[\(fields.object([field.name: $0.json]))]", $0.code) } }
    case .customInfo(let bytes): Domain.refusedCustomInfo(valueBytes: bytes)
    case .counters:
      ([
        "{}", #"{"":1}"#, #"{"a b":1}"#, #"{"é":1}"#, #"{"a\u0000":1}"#, #"{"a-b":null}"#, #"{"a":9007199254740993}"#,
        #"{"a":-9007199254740993}"#, #"{"a":1e300}"#, "{\(quoted(String(repeating: "a", count: 33))):1}",
        "{\((0..<21).map { "\"\($0)\":\($0)" }.joined(separator: ","))}",
      ]).map { ($0, 10004) }
    case .counterKey:
      ["", "a b", "a-b", "é", "\\u0000", String(repeating: "a", count: 33)].map { ("\"\($0)\"", 10004) }
    case .signalName:
      ["", "a b", "a/b", "a:b", "é", "\\u0000", String(repeating: "a", count: 33)].map { ("\"\($0)\"", 10004) }
    case .expectations:
      [
        (#"{"":null}"#, 10004), ("{\(quoted(exactly(33))):null}", 10045), ("{\"a\":\(quoted(exactly(4097)))}", 10046),
        ("{\((0..<17).map { "\"\($0)\":null" }.joined(separator: ","))}", 10004),
      ]
    case .attributes:
      [
        (#"{"":"x"}"#, 10004), ("{\(quoted(exactly(33))):\"x\"}", 10045), ("{\"a\":\(quoted(exactly(4097)))}", 10046),
        ("{\"a\":\"b\",\(quoted(exactly(33))):\"x\"}", 10045),
      ]
    }
  }

  private static func refusedRoles(owner: Int) -> [Refusal] {
    [(#""Owner""#, owner)]
      + ["owner", "", "99", "2147483648", "-100", "+100", "0100", "1e3", "admin", "NotMember"].map { ("\"\($0)\"", 10004) }
  }

  private static func otherWords(than words: [String]) -> [Refusal] {
    ["", "x", " \(words[0])", words[0] + "\\u0000", words[0].lowercased() == words[0] ? "X" : words[0].lowercased()].map {
      ("\"\($0)\"", 10004)
    }
  }

  private static func numbers(outside range: ClosedRange<Int64>) -> [Refusal] {
    [
      "\(range.lowerBound - 1)", "\(range.upperBound + 1)", "-1", "1e400", "-1e400", "1e30", "18446744073709551616",
      "-9223372036854775808", "123456789012345678901234567890",
    ].map { ($0, 10004) }
  }

  private static func refusedCustomInfo(valueBytes: Int) -> [Refusal] {
    [
      #"{"":"x"}"#, #"{"abcdefghijklmnopq":"x"}"#, #"{"a-b":"x"}"#, #"{"é":"x"}"#, #"{"a\u0000":"x"}"#, #"{"a-b":null}"#,
      #"{"a":\#(quoted(exactly(valueBytes + 1)))}"#,
    ]
    .map { ($0, 10004) }
  }
}
