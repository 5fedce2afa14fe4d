/// The AsyncAPI document of the events (Protocol.md, "Server information").
public enum AsyncAPIDocument {
  /// The AsyncAPI 3.0 document of all events and close codes (`x-close-codes`), as JSON. Its one
  /// channel is the WebSocket; an operation of the server stands for each event.
  /// - Parameters:
  ///   - version: the server's release.
  ///   - path: the path of the WebSocket.
  public static func text(version: String, path: String) -> [UInt8] {
    JSONWriter.text(capacity: 65_536) { writer in
      writer.object { writer in
        writer.member("asyncapi", "3.0.0")
        writer.key("info")
        writer.object { writer in
          writer.member("title", "Throng")
          writer.member("description", "The events of a group-messaging server: JSON-RPC 2.0 notifications, protocol throng.v1.")
          writer.member("version", version)
        }
        writer.member("defaultContentType", "application/json")
        writer.key("channels")
        writer.object { writer in
          writer.key("socket")
          writer.channel(path: path)
        }
        writer.key("operations")
        writer.objectOfEvents { $0.operation($1) }
        writer.key("components")
        writer.object { writer in
          writer.key("messages")
          writer.objectOfEvents { $0.message($1) }
          writer.key("schemas")
          writer.objectOfNamedTypes()
        }
      }
    }
  }
}

extension JSONWriter {
  /// An object with a member for each event, by its name.
  fileprivate mutating func objectOfEvents(_ body: (inout JSONWriter, EventName) -> Void) {
    object { writer in
      for event in EventName.allCases {
        writer.key(named: event.rawValue)
        body(&writer, event)
      }
    }
  }

  /// The connection as a Channel Object, with what the upgrade takes as its binding.
  fileprivate mutating func channel(path: String) {
    object { writer in
      writer.member("address", path)
      writer.member(
        "description", "A WebSocket of text frames. A signed-in user gets the events of all the user's groups.")
      writer.key("messages")
      writer.objectOfEvents { $0.reference(to: "#/components/messages/\($1.rawValue)") }
      writer.key("bindings")
      writer.object { writer in
        writer.key("ws")
        writer.object { writer in
          writer.member("method", "GET")
          writer.key("query")
          writer.schema(ofObject: [
            ResultField("token?", "string"), ResultField("platform?", "string"), ResultField("deviceID?", "string"),
          ])
          writer.member("bindingVersion", "0.1.0")
        }
      }
      writer.member("x-close-codes", CloseCode.allCases)
    }
  }

  /// The event as an Operation Object: the server sends it.
  fileprivate mutating func operation(_ event: EventName) {
    object { writer in
      writer.member("action", "send")
      writer.key("channel")
      writer.reference(to: "#/channels/socket")
      writer.member("summary", event.receivers)
      writer.key("messages")
      writer.array(CollectionOfOne(event)) { $0.reference(to: "#/channels/socket/messages/\($1.rawValue)") }
    }
  }

  /// The event as a Message Object: its payload is the whole frame.
  fileprivate mutating func message(_ event: EventName) {
    object { writer in
      writer.member("name", event.rawValue)
      writer.member("summary", event.receivers)
      writer.key("payload")
      writer.schema(
        ofObject: [
          .init(name: "jsonrpc", isOptional: false, type: .literal("2.0")),
          .init(name: "method", isOptional: false, type: .literal(event.rawValue)),
          .init(
            name: "params", isOptional: false,
            type: .object(event.fields.map(TypeNotation.Member.init(field:)))),
        ])
    }
  }

  private mutating func reference(to place: String) {
    object { $0.member("$ref", place) }
  }
}

extension EventName {
  /// The receivers as a sentence.
  fileprivate var receivers: String { "To \(audience)." }
}
