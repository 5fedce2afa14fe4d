import GroupModel

/// The description of one parameter.
public struct ParameterDescription: Sendable, Equatable {
  public let name: String
  /// A JSON Schema (draft 2020-12) of the value, as JSON text.
  public let schema: String
  public let isRequired: Bool
}

/// Notes the parameters that a method reads, so that descriptions cannot drift from decoding.
struct ParameterRecorder: ParameterReader {
  private(set) var parameters: [ParameterDescription] = []
  var servesApplication: Bool { true }

  /// The parameters that `read` reads.
  static func parameters<Value>(
    of read: (inout ParameterRecorder) throws(WireError) -> Value
  ) throws(WireError) -> [ParameterDescription] {
    var recorder = ParameterRecorder()
    _ = try read(&recorder)
    return recorder.parameters
  }

  private mutating func note(_ name: StaticString, required: Bool = false, _ schema: (inout JSONWriter) -> Void) {
    let text = String(decoding: JSONWriter.text { $0.object(schema) }, as: UTF8.self)
    parameters.append(ParameterDescription(name: "\(name)", schema: text, isRequired: required))
  }

  /// - Parameter remark: follows the length in the description.
  private static func encodeSchema(of domain: TextDomain, remark: String? = nil, into writer: inout JSONWriter) {
    if case .word(let words, _) = domain.form { return words.encodeSchema(into: &writer) }
    writer.member("type", "string")
    if domain.bytes.lowerBound > 0 { writer.member("minLength", domain.bytes.lowerBound) }
    let length = domain.bytes.upperBound < Int.max ? "at most \(domain.bytes.upperBound) bytes of UTF-8" : nil
    let description = [length, remark].compactMap { $0 }
    if !description.isEmpty { writer.member("description", description.joined(separator: ", ")) }
  }

  func missing(_ name: StaticString) -> WireError { WireError(.invalidParams, field: "\(name)") }

  mutating func optionalString(_ name: StaticString, _ domain: TextDomain) throws(WireError) -> String? {
    note(name) { ParameterRecorder.encodeSchema(of: domain, into: &$0) }
    return nil
  }

  mutating func requiredString(_ name: StaticString, _ domain: TextDomain) throws(WireError) -> String {
    note(name, required: true) { ParameterRecorder.encodeSchema(of: domain, into: &$0) }
    return "example"
  }

  private mutating func noteInteger(_ name: StaticString, _ range: ClosedRange<Int64>, required: Bool) {
    note(name, required: required) { writer in
      writer.member("type", "integer")
      writer.member("minimum", range.lowerBound)
      writer.member("maximum", range.upperBound)
    }
  }

  mutating func optionalInteger(_ name: StaticString, in range: ClosedRange<Int64>) throws(WireError) -> Int64? {
    noteInteger(name, range, required: false)
    return nil
  }

  mutating func requiredInteger(_ name: StaticString, in range: ClosedRange<Int64>) throws(WireError) -> Int64 {
    noteInteger(name, range, required: true)
    return range.lowerBound
  }

  mutating func optionalFlag(_ name: StaticString) throws(WireError) -> Bool? {
    note(name) { $0.member("type", "boolean") }
    return nil
  }

  mutating func optionalWord<Value>(
    _ name: StaticString, of words: @autoclosure () -> AllowedWords, _ parse: (String) -> Value?
  ) throws(WireError) -> Value? {
    let words = words()
    note(name) { words.encodeSchema(into: &$0) }
    return nil
  }

  mutating func requiredWord<Value>(
    _ name: StaticString, of words: AllowedWords, _ parse: (String) -> Value?
  ) throws(WireError) -> Value {
    note(name, required: true) { words.encodeSchema(into: &$0) }
    guard let value = words.listed.first.flatMap(parse) else { throw missing(name) }
    return value
  }

  mutating func optionalStrings(
    _ name: StaticString, _ list: ListDomain, _ domain: TextDomain
  ) throws(WireError) -> [String]? {
    noteList(name, list) { writer in writer.object { ParameterRecorder.encodeSchema(of: domain, into: &$0) } }
    return ["example"]
  }

  mutating func optionalObjects<Value>(
    _ name: StaticString, _ list: ListDomain, _ element: (inout ParameterRecorder) throws(WireError) -> Value
  ) throws(WireError) -> [Value]? {
    var inner = ParameterRecorder()
    let value = try element(&inner)
    let members = inner.parameters
    noteList(name, list) { $0.objectSchema(members) }
    return [value]
  }

  private mutating func noteList(_ name: StaticString, _ list: ListDomain, _ items: (inout JSONWriter) -> Void) {
    note(name, required: list.isRequired) { writer in
      writer.member("type", "array")
      writer.key("items")
      items(&writer)
      if list.count.lowerBound > 0 { writer.member("minItems", list.count.lowerBound) }
      writer.member("maxItems", list.count.upperBound)
    }
  }

  mutating func requiredEither(
    _ first: StaticString, _ second: StaticString, _ domain: TextDomain
  ) throws(WireError) -> (isFirst: Bool, text: String) {
    note(first) { ParameterRecorder.encodeSchema(of: domain, remark: "this or \(second)", into: &$0) }
    note(second) { ParameterRecorder.encodeSchema(of: domain, remark: "this or \(first)", into: &$0) }
    return (true, "example")
  }

  func requireOne(
    _ first: StaticString, isThere isFirstThere: Bool, or second: StaticString, isThere isSecondThere: Bool
  ) throws(WireError) {}

  mutating func optionalEntries(_ name: StaticString, _ domain: MapDomain) throws(WireError) -> [MapEntry]? {
    noteMap(name, domain, required: false)
    return nil
  }

  mutating func requiredEntries(_ name: StaticString, _ domain: MapDomain) throws(WireError) -> [MapEntry] {
    noteMap(name, domain, required: true)
    return []
  }

  private mutating func noteMap(_ name: StaticString, _ domain: MapDomain, required: Bool) {
    note(name, required: required) { writer in
      writer.member("type", "object")
      writer.key("additionalProperties")
      writer.object { writer in
        writer.key("type")
        if domain.nullRemoves { writer.array(["string", "null"]) { $0.value($1) } } else { writer.value("string") }
      }
      writer.member("description", domain.description)
      writer.member("maxProperties", domain.entries)
    }
  }
}

extension JSONWriter {
  /// The JSON Schema of an object with those members.
  mutating func objectSchema(_ members: [ParameterDescription]) {
    object { writer in
      writer.member("type", "object")
      writer.key("properties")
      writer.object { writer in
        for member in members {
          writer.key(named: member.name)
          writer.raw(member.schema)
        }
      }
      writer.member("required", members.filter(\.isRequired).map(\.name))
    }
  }
}

extension MapDomain {
  /// The description of the domain.
  fileprivate var description: String {
    switch keys {
    case .names: "keys [A-Za-z0-9_]{1,16}, values at most \(valueBytes) bytes of UTF-8; null removes a key"
    case .texts(let limit): "keys 1 to \(limit) bytes, values at most \(valueBytes) bytes of UTF-8"
    }
  }
}
