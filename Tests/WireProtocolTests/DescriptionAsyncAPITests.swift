import Foundation
import Testing

@testable import WireProtocol

/// The AsyncAPI document as another JSON library reads it. `Tests/Live/test_descriptions.py` holds
/// it against the rules of AsyncAPI, and real events against it.
@Suite struct DescriptionAsyncAPITests {
  private let document: [String: Any]

  init() throws {
    let text = AsyncAPIDocument.text(version: "1.2.3", path: "/chat/ws")
    document = try #require(try JSONSerialization.jsonObject(with: Data(text)) as? [String: Any])
  }

  /// The object at that place.
  private func object(_ place: String...) throws -> [String: Any] {
    try place.reduce(document) { try #require($0[$1] as? [String: Any], "\(place)") }
  }

  @Test func theHeadIsAsyncAPIs() throws {
    #expect(document["asyncapi"] as? String == "3.0.0")
    #expect(try object("info")["version"] as? String == "1.2.3")
    #expect(try object("channels").keys.sorted() == ["socket"])
    #expect(try object("channels", "socket")["address"] as? String == "/chat/ws")
  }

  @Test(arguments: EventName.allCases) func everyEventIsAnOperationAndAMessage(_ event: EventName) throws {
    let name = event.rawValue
    #expect(try object("channels", "socket", "messages", name)["$ref"] as? String == "#/components/messages/\(name)")
    let operation = try object("operations", name)
    #expect(operation["action"] as? String == "send")
    #expect((operation["messages"] as? [[String: String]]) == [["$ref": "#/channels/socket/messages/\(name)"]])
    let message = try object("components", "messages", name)
    #expect(message["name"] as? String == name)
    #expect((message["summary"] as? String)?.contains(event.audience) == true)
    let payload = try object("components", "messages", name, "payload", "properties")
    #expect((payload["method"] as? [String: String]) == ["const": name])
    let params = try object("components", "messages", name, "payload", "properties", "params")
    #expect(Set(try #require(params["properties"] as? [String: Any]).keys) == Set(event.fields.map(\.name)))
    #expect(params["required"] as? [String] == event.fields.filter { !$0.isOptional }.map(\.name))
  }

  @Test func thereIsNothingElse() throws {
    let events = EventName.allCases.map(\.rawValue).sorted()
    #expect(try object("operations").keys.sorted() == events)
    #expect(try object("components", "messages").keys.sorted() == events)
    #expect(try object("components", "schemas").keys.sorted() == NamedType.all.map(\.name).sorted())
  }

  @Test func closeCodesAreWhole() throws {
    let codes = try #require(try object("channels", "socket")["x-close-codes"] as? [[String: Any]])
    #expect(codes.map { $0["code"] as? Int } == CloseCode.allCases.map(\.rawValue))
  }

  @Test func everyReferenceResolves() throws {
    let references = references(in: document)
    #expect(references.contains("#/components/schemas/Message"))
    for reference in Set(references) {
      var value: Any? = document
      for step in reference.dropFirst(2).split(separator: "/") { value = (value as? [String: Any])?[String(step)] }
      #expect(value != nil, "\(reference)")
    }
  }

  private func references(in value: Any) -> [String] {
    switch value {
    case let object as [String: Any]: (object["$ref"] as? String).map { [$0] } ?? object.values.flatMap(references)
    case let array as [Any]: array.flatMap(references)
    default: []
    }
  }
}
