import GroupModel

/// The description of one parameter.
public struct ParameterDescription: Sendable, Equatable {
  public let name: String
  /// Meaning and unit, in sentences.
  public let meaning: String
  /// Meaning, unit and bound.
  public let description: String
  /// The type with its bound, as in `list of 1 to 50: string, 1 to 32 bytes of UTF-8`.
  public let value: String
  /// A JSON Schema (draft 2020-12) of the value, as JSON text, with the description.
  public let schema: String
  /// The type of the value, for the sources of clients.
  package let type: TypeNotation
  public let isRequired: Bool
}

/// The values that a parameter takes, in words and as a JSON Schema.
private struct ValueDomain {
  /// The type and the bound.
  let words: String
  /// Nil where the type is the only bound.
  let bound: String?
  let type: TypeNotation
  /// Writes the members of the schema, without a description.
  let encodeSchema: (inout JSONWriter) -> Void
}

/// Notes the parameters that a method reads, so that descriptions cannot drift from decoding.
struct ParameterRecorder: ParameterReader {
  private(set) var parameters: [ParameterDescription] = []
  let servesApplication: Bool
  let textLimits: TextLimits
  var hasUnread: Bool { true }

  /// The parameters that `read` reads.
  static func parameters<Value>(
    servesApplication: Bool, textLimits: TextLimits, of read: (inout ParameterRecorder) throws(WireError) -> Value
  ) throws(WireError) -> [ParameterDescription] {
    var recorder = ParameterRecorder(servesApplication: servesApplication, textLimits: textLimits)
    _ = try read(&recorder)
    return recorder.parameters
  }

  /// - Parameter remark: a sentence behind the meaning.
  private mutating func note(
    _ name: StaticString, _ meaning: StaticString, _ domain: ValueDomain, required: Bool = false, remark: String? = nil
  ) {
    let bound = domain.bound.map { $0.prefix(1).uppercased() + $0.dropFirst() + "." }
    let meaning = ["\(meaning)", remark].compactMap { $0 }.joined(separator: " ")
    let description = [meaning, bound].compactMap { $0 }.joined(separator: " ")
    let text = JSONWriter.text { writer in
      writer.object { writer in
        domain.encodeSchema(&writer)
        writer.member("description", description)
      }
    }
    parameters.append(
      ParameterDescription(
        name: "\(name)", meaning: meaning, description: description, value: domain.words,
        schema: String(decoding: text, as: UTF8.self), type: domain.type, isRequired: required))
  }

  func missing(_ name: StaticString) -> WireError { WireError(.invalidParams, field: "\(name)") }

  mutating func optionalString(
    _ name: StaticString, _ domain: TextDomain, _ meaning: StaticString
  ) throws(WireError) -> String? {
    note(name, meaning, .text(domain))
    return nil
  }

  mutating func requiredString(
    _ name: StaticString, _ domain: TextDomain, _ meaning: StaticString
  ) throws(WireError) -> String {
    note(name, meaning, .text(domain), required: true)
    return "example"
  }

  mutating func optionalInteger(
    _ name: StaticString, in range: ClosedRange<Int64>, _ meaning: StaticString
  ) throws(WireError) -> Int64? {
    note(name, meaning, .integer(range))
    return nil
  }

  mutating func requiredInteger(
    _ name: StaticString, in range: ClosedRange<Int64>, _ meaning: StaticString
  ) throws(WireError) -> Int64 {
    note(name, meaning, .integer(range), required: true)
    return range.lowerBound
  }

  mutating func optionalFlag(_ name: StaticString, _ meaning: StaticString) throws(WireError) -> Bool? {
    note(name, meaning, .flag)
    return nil
  }

  mutating func requiredFlag(_ name: StaticString, _ meaning: StaticString) throws(WireError) -> Bool {
    note(name, meaning, .flag, required: true)
    return true
  }

  mutating func optionalWord<Value>(
    _ name: StaticString, of words: @autoclosure () -> AllowedWords, _ meaning: StaticString, _ parse: (String) -> Value?
  ) throws(WireError) -> Value? {
    note(name, meaning, .word(words()))
    return nil
  }

  mutating func requiredWord<Value>(
    _ name: StaticString, of words: AllowedWords, _ meaning: StaticString, _ parse: (String) -> Value?
  ) throws(WireError) -> Value {
    note(name, meaning, .word(words), required: true)
    guard let value = words.listed.first.flatMap(parse) else { throw missing(name) }
    return value
  }

  mutating func optionalStrings(
    _ name: StaticString, _ list: ListDomain, _ domain: TextDomain, _ meaning: StaticString
  ) throws(WireError) -> [String]? {
    let elements = ValueDomain.text(domain)
    let domain = ValueDomain.list(list, of: elements) { writer in
      writer.object { elements.encodeSchema(&$0) }
    }
    note(name, meaning, domain, required: list.isRequired)
    return ["example"]
  }

  mutating func optionalIntegers(
    _ name: StaticString, _ list: ListDomain, in range: ClosedRange<Int64>, _ meaning: StaticString
  ) throws(WireError) -> [Int64]? {
    let elements = ValueDomain.integer(range)
    let domain = ValueDomain.list(list, of: elements) { writer in
      writer.object { elements.encodeSchema(&$0) }
    }
    note(name, meaning, domain, required: list.isRequired)
    return [range.lowerBound]
  }

  mutating func optionalObjects<Value>(
    _ name: StaticString, _ list: ListDomain, _ meaning: StaticString,
    _ element: (inout ParameterRecorder) throws(WireError) -> Value
  ) throws(WireError) -> [Value]? {
    var inner = ParameterRecorder(servesApplication: servesApplication, textLimits: textLimits)
    let value = try element(&inner)
    let members = inner.parameters
    let words = members.map { "\($0.name)\($0.isRequired ? "" : "?"): \($0.value)" }.joined(separator: "; ")
    let type = TypeNotation.object(
      members.map { TypeNotation.Member(name: $0.name, isOptional: !$0.isRequired, type: $0.type) })
    let element = ValueDomain(words: "{\(words)}", bound: nil, type: type) { $0.objectSchema(members) }
    let domain = ValueDomain.list(list, of: element) { $0.objectSchema(members) }
    note(name, meaning, domain, required: list.isRequired)
    return [value]
  }

  mutating func requiredEither(
    _ first: StaticString, _ second: StaticString, _ domain: TextDomain, _ meaning: StaticString
  ) throws(WireError) -> (isFirst: Bool, text: String) {
    note(first, meaning, .text(domain), remark: "Either this or \(second) is given.")
    note(second, meaning, .text(domain), remark: "Either this or \(first) is given.")
    return (true, "example")
  }

  mutating func optionalEither(
    _ first: StaticString, _ second: StaticString, _ domain: TextDomain, _ meaning: StaticString
  ) throws(WireError) -> (isFirst: Bool, text: String)? {
    note(first, meaning, .text(domain), remark: "Not together with \(second).")
    note(second, meaning, .text(domain), remark: "Not together with \(first).")
    return (true, "example")
  }

  func exclude(_ name: StaticString, by other: StaticString, where areGiven: Bool) throws(WireError) {}

  func requireOne(_ first: StaticString, or second: StaticString) throws(WireError) {}

  mutating func optionalEntries(
    _ name: StaticString, _ domain: MapDomain, _ meaning: StaticString
  ) throws(WireError) -> [MapEntry]? {
    note(name, meaning, .map(domain))
    return nil
  }

  mutating func requiredEntries(
    _ name: StaticString, _ domain: MapDomain, _ meaning: StaticString
  ) throws(WireError) -> [MapEntry] {
    note(name, meaning, .map(domain), required: true)
    return []
  }
}

extension ParameterRecorder {
  mutating func requiredCounters(
    _ name: StaticString, _ meaning: StaticString
  ) throws(WireError) -> [GroupCounters.Entry] {
    note(name, meaning, .counters, required: true)
    return []
  }
}

extension ParameterRecorder {
  mutating func optionalExpectations(
    _ name: StaticString, _ meaning: StaticString
  ) throws(WireError) -> [SetGroupAttributes.Expectation]? {
    note(name, meaning, .expectations)
    return nil
  }
}

extension ValueDomain {
  static var expectations: ValueDomain {
    let domain = MapDomain.attributes
    let bound = "at most \(domain.entries) members, \(domain.description), or null"
    return ValueDomain(words: "object of \(bound)", bound: bound, type: .name("mapChanges")) { writer in
      writer.member("type", "object")
      writer.key("additionalProperties")
      writer.object { writer in
        writer.key("type")
        writer.array(["string", "null"]) { $0.value($1) }
      }
      writer.member("maxProperties", domain.entries)
    }
  }

  static var counters: ValueDomain {
    let (keyBytes, count) = (GroupCounters.maxKeyBytes, GroupCounters.maxCount)
    let bound = "1 to \(count) members, keys [A-Za-z0-9_]{1,\(keyBytes)}, values integers within ±2⁵³; null removes a key"
    return ValueDomain(words: "object of \(bound)", bound: bound, type: .name("counterChanges")) { writer in
      writer.member("type", "object")
      writer.key("additionalProperties")
      writer.object { writer in
        writer.key("type")
        writer.array(["integer", "null"]) { $0.value($1) }
      }
      writer.member("minProperties", 1)
      writer.member("maxProperties", count)
    }
  }

  static func text(_ domain: TextDomain) -> ValueDomain {
    if case .word(let words, _) = domain.form { return word(words) }
    let (least, most) = (domain.length.lowerBound, domain.length.upperBound)
    let unit =
      switch domain.unit {
      case .bytes: "bytes of UTF-8"
      case .characters: "characters"
      }
    let length = most == Int.max ? nil : least > 0 ? "\(least) to \(most) \(unit)" : "at most \(most) \(unit)"
    let form: String? =
      switch domain.form {
      case .printable: "no control characters"
      case .name: "letters, digits and _ alone"
      case .signalName: "letters, digits, _, . and - alone"
      default: nil
      }
    let bound = [length, form].compactMap { $0 }.joined(separator: ", ")
    let words = bound.isEmpty ? "string" : "string, \(bound)"
    return ValueDomain(words: words, bound: bound.isEmpty ? nil : bound, type: .name("string")) { writer in
      writer.member("type", "string")
      if least > 0 { writer.member("minLength", least) }
      if domain.unit == .characters { writer.member("maxLength", most) }
    }
  }

  static func word(_ words: AllowedWords) -> ValueDomain {
    let sentence = "one of \(words.sentence)"
    let type = words.pattern == nil ? TypeNotation.any(words.listed.map(TypeNotation.literal)) : .name("string")
    return ValueDomain(words: sentence, bound: sentence, type: type) { words.encodeSchema(into: &$0) }
  }

  static func integer(_ range: ClosedRange<Int64>) -> ValueDomain {
    // The largest whole number of JSON is no bound of the parameter's own.
    let isOpen = range.upperBound >= 1 << 53
    let bound = isOpen ? "\(range.lowerBound) or more" : "\(range.lowerBound) to \(range.upperBound)"
    return ValueDomain(words: "integer, \(bound)", bound: bound, type: .name("integer")) { writer in
      writer.member("type", "integer")
      writer.member("minimum", range.lowerBound)
      writer.member("maximum", range.upperBound)
    }
  }

  static var flag: ValueDomain {
    ValueDomain(words: "boolean", bound: nil, type: .name("boolean")) { $0.member("type", "boolean") }
  }

  static func list(
    _ list: ListDomain, of element: ValueDomain, items: @escaping (inout JSONWriter) -> Void
  ) -> ValueDomain {
    let (least, most) = (list.count.lowerBound, list.count.upperBound)
    let count = least > 0 ? "\(least) to \(most)" : "at most \(most)"
    let bound = "\(count) elements" + (element.bound.map { ", each \($0)" } ?? "")
    return ValueDomain(words: "list of \(count): \(element.words)", bound: bound, type: .array(element.type)) { writer in
      writer.member("type", "array")
      writer.key("items")
      items(&writer)
      if least > 0 { writer.member("minItems", least) }
      writer.member("maxItems", most)
    }
  }

  static func map(_ domain: MapDomain) -> ValueDomain {
    let bound = "at most \(domain.entries) members, \(domain.description)"
    let type = TypeNotation.name(domain.nullRemoves ? "mapChanges" : "map")
    return ValueDomain(words: "object of \(bound)", bound: bound, type: type) { writer in
      writer.member("type", "object")
      writer.key("additionalProperties")
      writer.object { writer in
        writer.key("type")
        if domain.nullRemoves { writer.array(["string", "null"]) { $0.value($1) } } else { writer.value("string") }
      }
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
