import WireProtocol

extension MethodTable {
  /// Every method, named type, event, error and close code in Markdown.
  func referencePage() -> String {
    var page = ReferenceText()
    page.paragraph("# Reference")
    page.paragraph("For everybody who writes a client or a backend: every method, type, event, error and close code.")
    page.paragraph("## Overview")
    page.paragraph(
      "Generated from the method table; `Scripts/generate` rewrites it. A question mark behind a name says that the "
        + "member may be absent. The rules are in <doc:Protocol>; who may call a method in which group is in <doc:Permissions>.")
    page.paragraph(
      "The parts: <doc:Reference#Methods>, <doc:Reference#Only-for-the-application's-backend>, <doc:Reference#Types>, "
        + "<doc:Reference#Events>, <doc:Reference#Errors>, <doc:Reference#Close-codes>.")
    page.paragraph("## Methods")
    page.paragraph(
      "Besides the errors it lists, a method can answer those of JSON-RPC (-32700 to -32600), 6014 before sign-in, 7008 when "
        + "requests come too fast, and 10002 when the server cannot do its work.")
    for entry in entries where entry.specification.callers != .application { page.method(entry) }
    page.paragraph("## Only for the application's backend")
    page.paragraph("By `POST /rpc` of the internal listener: on a WebSocket these methods are -32601, and with `asUser` 10007.")
    for entry in entries where entry.specification.callers == .application { page.method(entry) }
    page.types()
    page.paragraph("## Events")
    for event in EventName.allCases { page.event(event) }
    page.codes()
    return page.text
  }
}

extension MethodSpecification.Callers {
  /// A sentence for the page; nil where there is nothing to say, or the section says it.
  fileprivate var note: String? {
    switch self {
    case .connection: "Only on a connection: `POST /rpc` answers -32601."
    case .user: "Needs a user: `POST /rpc` without `asUser` answers -32602."
    case .anyone, .application: nil
    }
  }
}

/// The page as far as it is written: blocks with an empty line between them.
private struct ReferenceText {
  private(set) var text = ""

  /// The last column of a line of prose.
  private static let lastColumn = 100

  /// Prose, its lines broken between words; words in code stay together.
  mutating func paragraph(_ words: String) {
    var lines: [String] = []
    for word in words.matches(of: /(?:`[^`]*`|[^ `])+/).map(\.0) {
      if let line = lines.last, line.count + word.count < ReferenceText.lastColumn {
        lines[lines.count - 1] += " " + word
      } else {
        lines.append(String(word))
      }
    }
    block(lines.joined(separator: "\n"))
  }

  private mutating func block(_ lines: String) {
    if !text.isEmpty { text += "\n" }
    text += lines + "\n"
  }

  mutating func table(_ head: [String], _ rows: [[String]]) {
    let rule = Array(repeating: "---", count: head.count)
    block(([head, rule] + rows).map(ReferenceText.line).joined(separator: "\n"))
  }

  private static func line(_ cells: [String]) -> String {
    "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |"
  }

  mutating func fields(_ fields: [ResultField], head: String) {
    table([head, "type"], fields.map { ["`\($0.name)\($0.isOptional ? "?" : "")`", "`\($0.type)`"] })
  }

  mutating func method(_ entry: MethodTable.Entry) {
    paragraph("### \(entry.name)")
    paragraph([entry.specification.summary, entry.specification.callers.note].compactMap { $0 }.joined(separator: " "))
    if entry.parameters.isEmpty {
      paragraph("No parameters.")
    } else {
      table(
        ["parameter", "value", "meaning"],
        entry.parameters.map { ["`\($0.name)\($0.isRequired ? "" : "?")`", $0.value, $0.meaning] })
    }
    if entry.specification.result.isEmpty {
      paragraph("Result: `{}`.")
    } else {
      fields(entry.specification.result, head: "result")
    }
    if !entry.specification.errors.isEmpty {
      paragraph("Errors: " + entry.specification.errors.map { "\($0.rawValue)" }.joined(separator: ", ") + ".")
    }
  }

  mutating func types() {
    paragraph("## Types")
    for type in NamedType.all {
      paragraph("### \(type.name)")
      paragraph(type.summary)
      fields(type.fields, head: "member")
    }
  }

  mutating func codes() {
    paragraph("## Errors")
    table(
      ["code", "when", "may succeed later"],
      ErrorCode.allCases.sorted { $0.rawValue < $1.rawValue }.map { ["\($0.rawValue)", $0.title, $0.isTemporary ? "yes" : ""] })
    paragraph("## Close codes")
    table(
      ["code", "reason", "connect again"],
      CloseCode.allCases.map { ["\($0.rawValue)", $0.reason, $0.meansReconnect ? "yes" : $0 == .normal ? "" : "not unchanged"] })
  }

  mutating func event(_ event: EventName) {
    paragraph("### \(event.rawValue)")
    paragraph("To \(event.audience).")
    fields(event.fields, head: "member")
  }
}
