import Foundation
import GroupModel
import Testing

@testable import WireProtocol

/// The OpenRPC document as another JSON library reads it.
@Suite struct DescriptionOpenRPCTests {
  private let methods = MethodTable()
  private let document: [String: Any]

  init() throws {
    let text = MethodTable().openRPC(version: "1.2.3")
    document = try #require(try JSONSerialization.jsonObject(with: Data(text)) as? [String: Any])
  }

  private func rows(_ name: String) throws -> [[String: Any]] { try #require(document[name] as? [[String: Any]]) }

  private var schemas: [String: [String: Any]] {
    get throws {
      let components = try #require(document["components"] as? [String: Any])
      return try #require(components["schemas"] as? [String: [String: Any]])
    }
  }

  /// Every object of the document, the document itself included.
  private func objects() -> [[String: Any]] { objects(in: document) }

  private func objects(in value: Any) -> [[String: Any]] {
    switch value {
    case let object as [String: Any]: [object] + object.values.flatMap(objects)
    case let array as [Any]: array.flatMap(objects)
    default: []
    }
  }

  @Test func theHeadIsOpenRPCs() throws {
    #expect(document["openrpc"] as? String == "1.2.6")
    let info = try #require(document["info"] as? [String: String])
    #expect(info["title"] == "Throng" && info["version"] == "1.2.3")
  }

  @Test func everyMethodIsNamedInOrder() throws {
    #expect(try rows("methods").map { $0["name"] as? String } == methods.entries.map(\.name))
    #expect(try rows("methods").contains { $0["name"] as? String == "sendGroupTextMessage" })
  }

  @Test func everyMethodSaysWhoMayCallIt() throws {
    #expect(try rows("methods").map { $0["x-callers"] as? String } == methods.entries.map(\.specification.callers.rawValue))
    let getStats = try #require(try rows("methods").first { $0["name"] as? String == "getStats" })
    #expect(getStats["x-callers"] as? String == "application")
  }

  @Test func everyParameterHasItsSchema() throws {
    for (method, entry) in zip(try rows("methods"), methods.entries) {
      let params = try #require(method["params"] as? [[String: Any]])
      #expect(method["paramStructure"] as? String == "by-name")
      #expect(params.map { $0["name"] as? String } == entry.parameters.map(\.name))
      #expect(params.map { $0["required"] as? Bool } == entry.parameters.map(\.isRequired))
      for param in params {
        let schema = try #require(param["schema"] as? [String: Any])
        #expect(schema["type"] is String, "\(entry.name).\(param["name"] ?? "")")
      }
    }
    let create = try #require(try rows("methods").first { $0["name"] as? String == "createGroup" })
    let first = try #require((create["params"] as? [[String: Any]])?.first?["schema"] as? [String: Any])
    #expect((first["enum"] as? [String])?.contains("AVChatRoom") == true)
  }

  /// A parameter, or a member of the objects that one takes.
  private struct Described {
    let path: String
    let schema: [String: Any]
    let description: String

    init(_ path: String, _ schema: [String: Any]) {
      self.path = path
      self.schema = schema
      description = schema["description"] as? String ?? ""
    }

    /// The members of the objects in its list.
    var members: [Described] {
      let items = schema["items"] as? [String: Any]
      let properties = items?["properties"] as? [String: [String: Any]] ?? [:]
      return properties.map { Described("\(path).\($0)", $1) }
    }
  }

  private func described() throws -> [Described] {
    try rows("methods").flatMap { method in
      let params = try #require(method["params"] as? [[String: Any]])
      return try params.flatMap { param in
        let one = Described("\(method["name"] ?? "").\(param["name"] ?? "")", try #require(param["schema"] as? [String: Any]))
        #expect(param["description"] as? String == one.description)
        return [one] + one.members
      }
    }
  }

  @Test func everyParameterSaysWhatItMeans() throws {
    let all = try described()
    #expect(all.count > 173)
    for one in all {
      #expect(one.description.hasSuffix(".") && one.description.split(separator: " ").count >= 2, "\(one.path)")
    }
  }

  @Test func everyIntegerSaysItsUnit() throws {
    let units = ["in seconds", "in milliseconds since 1970", "seq", "The most ", "How many ", "Where the page begins"]
    for one in try described() where one.schema["type"] as? String == "integer" {
      #expect(units.contains { one.description.contains($0) }, "\(one.path): \(one.description)")
    }
    // Durations have the range of a 32-bit number, instants and seqs that of JSON.
    for one in try described() where one.schema["maximum"] as? Int == Int(UInt32.max) && !one.path.hasSuffix(".unreadCount") {
      #expect(one.description.contains("in seconds"), "\(one.path)")
    }
  }

  @Test func everyDescriptionSaysTheBounds() throws {
    for one in try described() {
      let numbers = ["minimum", "minItems", "maxItems", "maxProperties"].compactMap { one.schema[$0] as? Int }
      var bounds = (one.schema["enum"] as? [String] ?? []) + numbers.map { "\($0)" }
      if let most = one.schema["maximum"] as? Int, most < 1 << 53 { bounds.append("\(most)") }
      if let least = one.schema["minLength"] as? Int { bounds.append("\(least) to ") }
      for bound in bounds { #expect(one.description.contains(bound), "\(one.path): \(bound)") }
    }
  }

  @Test func everyResultAndErrorIsDescribed() throws {
    for (method, entry) in zip(try rows("methods"), methods.entries) {
      let schema = try #require((method["result"] as? [String: Any])?["schema"] as? [String: Any])
      #expect(Set(try #require(schema["properties"] as? [String: Any]).keys) == Set(entry.specification.result.map(\.name)))
      #expect(schema["required"] as? [String] == entry.specification.result.filter { !$0.isOptional }.map(\.name))
      let errors = try #require(method["errors"] as? [[String: Any]])
      #expect(errors.map { $0["code"] as? Int } == entry.specification.errors.map(\.rawValue))
      #expect(errors.allSatisfy { ($0["message"] as? String)?.isEmpty == false })
    }
  }

  @Test func everyEventIsNamedWithItsFieldsAndAudience() throws {
    let events = try rows("x-events")
    #expect(events.map { $0["name"] as? String } == EventName.allCases.map(\.rawValue))
    for (event, name) in zip(events, EventName.allCases) {
      #expect((event["params"] as? [[String: Any]])?.map { $0["name"] as? String } == name.fields.map(\.name))
      #expect(event["audience"] as? String == name.audience)
    }
  }

  @Test func errorsAndCloseCodesAreWhole() throws {
    let errors = try #require((document["components"] as? [String: Any])?["errors"] as? [String: [String: Any]])
    #expect(Set(errors.values.compactMap { $0["code"] as? Int }) == Set(ErrorCode.allCases.map(\.rawValue)))
    #expect(errors["noRight"]?["code"] as? Int == 10007)
    let closes = try rows("x-close-codes")
    #expect(closes.map { $0["code"] as? Int } == CloseCode.allCases.map(\.rawValue))
    for close in closes {
      let code = try #require(close["code"] as? Int)
      #expect(close["reconnect"] as? Bool == (code < 4500 && code != 1000), "\(code)")
    }
  }

  @Test func everyReferenceResolves() throws {
    let references = objects().compactMap { $0["$ref"] as? String }
    #expect(references.contains("#/components/schemas/GroupInfo"))
    let known = Set(try schemas.keys.map { "#/components/schemas/\($0)" })
    #expect(Set(references).isSubset(of: known))
  }

  @Test func everyTypeInWordsIsUnderstood() {
    let wire = methods.entries.flatMap(\.specification.result) + EventName.allCases.flatMap(\.fields)
    let fields = wire + NamedType.all.flatMap(\.fields)
    for field in fields { #expect(unknown(in: field.type).isEmpty, "\(field.name): \(field.type)") }
    for (name, type) in NamedType.memberTypes { #expect(unknown(in: type).isEmpty, "\(name): \(type)") }
  }

  private func unknown(in words: String) -> [String] { TypeNotation(words).map(unknown) ?? [words] }

  private func unknown(in type: TypeNotation) -> [String] {
    switch type {
    case .name(let name):
      ["string", "integer", "boolean", "object", "map", "any"].contains(name) || NamedType.named(name) != nil ? [] : [name]
    case .literal: []
    case .array(let element): unknown(in: element)
    case .any(let types): types.flatMap(unknown)
    case .object(let members):
      members.flatMap { member in
        if let type = member.type { unknown(in: type) } else { NamedType.memberTypes[member.name] == nil ? [member.name] : [] }
      }
    }
  }
}
