/// Summarizes the schemas of parameters for the reference page, as in "list of at most 50: string".
struct SchemaSummary {
  /// The largest whole number of JSON: such a bound is not the parameter's own.
  private static let largest: Int64 = 1 << 53

  private let parser = JSONParser()

  /// The summary of a schema that `ParameterRecorder` wrote.
  func text(of parameter: ParameterDescription) -> String {
    parser.parse(Array(parameter.schema.utf8)).map(summary) ?? ""
  }

  private func summary(_ schema: JSONValue) -> String {
    let type = schema["type"]?.string ?? ""
    let base: String? =
      switch type {
      case "string": text(schema)
      case "integer": number(schema)
      case "array": list(schema)
      case "object": object(schema)
      default: type
      }
    return [base, schema["description"]?.string].compactMap { $0 }.joined(separator: ", ")
  }

  /// Nil where a pattern has its meaning in the description.
  private func text(_ schema: JSONValue) -> String? {
    if schema["pattern"] != nil { return nil }
    guard let options = schema["enum"] else { return schema["minLength"] == nil ? "string" : "string, not empty" }
    return "one of " + strings(options).joined(separator: ", ")
  }

  private func number(_ schema: JSONValue) -> String {
    let least = schema["minimum"]?.integer ?? 0
    let most = schema["maximum"]?.integer ?? SchemaSummary.largest
    return most >= SchemaSummary.largest ? "integer from \(least)" : "integer from \(least) to \(most)"
  }

  private func list(_ schema: JSONValue) -> String {
    let least = schema["minItems"]?.integer ?? 0
    let most = schema["maxItems"]?.integer ?? SchemaSummary.largest
    return (least == 0 ? "list of at most \(most): " : "list of \(least) to \(most): ") + (schema["items"].map(summary) ?? "")
  }

  private func object(_ schema: JSONValue) -> String {
    guard let properties = schema["properties"] else {
      return "object of at most \(schema["maxProperties"]?.integer ?? SchemaSummary.largest) members"
    }
    let required = schema["required"].map(strings) ?? []
    var members: [String] = []
    properties.forEachMember { name, schema in
      members.append("\(name)\(required.contains(name) ? "" : "?"): \(summary(schema))")
    }
    return "{" + members.joined(separator: "; ") + "}"
  }

  private func strings(_ array: JSONValue) -> [String] {
    var strings: [String] = []
    array.forEachElement { element in
      if let text = element.string { strings.append(text) }
    }
    return strings
  }
}
