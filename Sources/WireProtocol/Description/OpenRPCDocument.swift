extension MethodTable {
  /// The OpenRPC 1.2 document of all methods, errors, events (`x-events`) and close codes
  /// (`x-close-codes`), as JSON (Protocol.md, "Server information"). `x-callers` of a method is one
  /// of `MethodSpecification.Callers`.
  /// - Parameter version: the server's release.
  public func openRPC(version: String) -> [UInt8] {
    JSONWriter.text(capacity: 65_536) { writer in
      writer.object { writer in
        writer.member("openrpc", "1.2.6")
        writer.key("info")
        writer.object { writer in
          writer.member("title", "Throng")
          writer.member("description", "Real-time group messaging: JSON-RPC 2.0 over WebSocket, protocol throng.v1.")
          writer.member("version", version)
        }
        writer.member("methods", entries)
        writer.member("x-events", EventName.allCases)
        writer.member("x-close-codes", CloseCode.allCases)
        writer.key("components")
        writer.object { $0.components() }
      }
    }
  }
}

extension MethodTable.Entry: WireEncodable {
  /// The method as an OpenRPC Method Object.
  public func encode(into writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("name", name)
      writer.member("summary", specification.summary)
      writer.member("paramStructure", "by-name")
      writer.member("params", parameters)
      writer.key("result")
      writer.object { writer in
        writer.member("name", "result")
        writer.key("schema")
        writer.schema(ofObject: specification.result)
      }
      writer.member("errors", specification.errors)
      writer.member("x-callers", specification.callers.rawValue)
    }
  }
}

extension ParameterDescription: WireEncodable {
  /// The parameter as an OpenRPC Content Descriptor Object.
  public func encode(into writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("name", name)
      writer.member("description", description)
      writer.member("required", isRequired)
      writer.key("schema")
      writer.raw(schema)
    }
  }
}

extension ErrorCode: WireEncodable {
  /// The error as an OpenRPC Error Object.
  public func encode(into writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("code", rawValue)
      writer.member("message", title)
      writer.key("data")
      writer.object { $0.member("temporary", isTemporary) }
    }
  }
}

extension EventName: WireEncodable {
  /// The event as a row of `x-events`: its params are described as those of a method.
  public func encode(into writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("name", rawValue)
      writer.member("audience", audience)
      writer.member("paramStructure", "by-name")
      writer.key("params")
      writer.array(fields) { writer, field in
        writer.object { writer in
          writer.member("name", field.name)
          writer.member("required", !field.isOptional)
          writer.key("schema")
          writer.schema(ofType: field.type)
        }
      }
    }
  }
}

extension CloseCode: WireEncodable {
  /// Whether a client should connect again: below 4500, except after logout (Protocol.md, "Close
  /// codes").
  package var meansReconnect: Bool { rawValue < 4500 && self != .normal }

  /// The code as a row of `x-close-codes`.
  public func encode(into writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("code", rawValue)
      writer.member("reason", reason)
      writer.member("reconnect", meansReconnect)
    }
  }
}

extension JSONWriter {
  /// The members of the Components Object: every named type, and every error by its name.
  fileprivate mutating func components() {
    key("schemas")
    objectOfNamedTypes()
    key("errors")
    object { writer in
      for code in ErrorCode.allCases {
        writer.key(named: "\(code)")
        writer.value(code)
      }
    }
  }
}
