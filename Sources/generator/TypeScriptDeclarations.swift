import WireProtocol

extension MethodTable {
  /// The last part of throng.d.ts: every named type, the parameters and the result of every method
  /// that a client may call, and every event and code.
  func typeScriptDeclarations() -> String {
    var text = DeclarationText()
    for type in NamedType.all { text.interface(type.name, type.summary, type.fields.map(DeclarationText.member)) }
    text.interface("Methods", "The parameters and the result of each method.", methodMembers)
    text.interface(
      "ServerEvents", "The parameters of each event of the server.",
      EventName.allCases.map { "/** To \($0.audience). */\n\($0.rawValue): \(DeclarationText.object($0.fields));" })
    text.constants("ErrorCode", "The codes of errors.", ErrorCode.constants)
    text.constants("CloseCode", "The codes with which the server closes a connection.", CloseCode.constants)
    return text.lines
  }

  private var methodMembers: [String] {
    entries.filter { $0.specification.callers != .application }.map { entry in
      let name = entry.name.contains(".") ? "\"\(entry.name)\"" : entry.name
      let parameters = entry.parameters.map { parameter in
        "    /** \(parameter.description) */\n    \(parameter.name)\(parameter.isRequired ? "" : "?"): \(parameter.type.typeScript);\n"
      }
      let params = parameters.isEmpty ? "{}" : "{\n\(parameters.joined())  }"
      let result = DeclarationText.object(entry.specification.result, margin: "  ")
      return "/** \(entry.specification.summary) */\n\(name): {\n  params: \(params);\n  result: \(result);\n};"
    }
  }

  /// The last part of throng.js: the codes by their names, and the events.
  func javaScriptConstants() -> String {
    let table = { (name: String, rows: [(String, Int)]) in
      "export const \(name) = Object.freeze({\n" + rows.map { "  \($0): \($1),\n" }.joined() + "});\n"
    }
    let events = EventName.allCases.map { "  \"\($0.rawValue)\",\n" }.joined()
    return table("ErrorCode", ErrorCode.constants) + "\n" + table("CloseCode", CloseCode.constants)
      + "\nconst serverEvents = [\n\(events)];\n"
  }
}

extension TypeNotation {
  /// The type in TypeScript.
  fileprivate var typeScript: String {
    switch self {
    case .name("integer"): "number"
    case .name("object"): "Record<string, unknown>"
    case .name("map"): "Record<string, string>"
    case .name("mapChanges"): "Record<string, string | null>"
    case .name("counterChanges"): "Record<string, number | null>"
    case .name(let name) where name == "string" || name == "boolean" || NamedType.named(name) != nil: name
    case .name: "unknown"
    case .literal(let text): "\"\(text)\""
    case .array(.any(let types)): "(\(TypeNotation.any(types).typeScript))[]"
    case .array(let element): "\(element.typeScript)[]"
    case .object(let members): "{ " + members.map(\.typeScript).joined(separator: "; ") + " }"
    case .any(let types): types.map(\.typeScript).joined(separator: " | ")
    }
  }
}

extension TypeNotation.Member {
  fileprivate var typeScript: String {
    let type = type ?? NamedType.memberTypes[name].flatMap { TypeNotation($0) }
    return "\(name)\(isOptional ? "?" : ""): \(type?.typeScript ?? "unknown")"
  }
}

/// Declarations with an empty line between them.
private struct DeclarationText {
  private(set) var lines = ""

  /// Several lines of a member are indented alike.
  mutating func interface(_ name: String, _ summary: String, _ members: [String]) {
    declare("export interface \(name)", summary, members)
  }

  mutating func constants(_ name: String, _ summary: String, _ rows: [(String, Int)]) {
    declare("export declare const \(name):", summary, rows.map { "readonly \($0): \($1);" })
  }

  private mutating func declare(_ head: String, _ summary: String, _ members: [String]) {
    if !lines.isEmpty { lines += "\n" }
    let body = members.map { "  " + $0.replacing("\n", with: "\n  ") + "\n" }.joined()
    lines += "/** \(summary) */\n\(head) {\n\(body)}\n"
  }

  static func member(_ field: ResultField) -> String {
    "\(field.name)\(field.isOptional ? "?" : ""): \(TypeNotation(field.type)?.typeScript ?? "unknown");"
  }

  /// - Parameter margin: that of the line in which the object begins.
  static func object(_ fields: [ResultField], margin: String = "") -> String {
    fields.isEmpty ? "{}" : "{\n" + fields.map { "\(margin)  \(member($0))\n" }.joined() + "\(margin)}"
  }
}
