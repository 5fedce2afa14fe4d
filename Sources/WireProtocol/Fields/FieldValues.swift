import GroupModel

/// A value whose JSON text is made already, because its bytes are counted or it is sent many times.
public struct Encoded<Value: WireEncodable>: Sendable, WireEncodable {
  public let text: [UInt8]

  /// - Parameter capacity: how many bytes the text will have, about.
  public init(_ value: Value, capacity: Int = 256) { text = JSONWriter.text(capacity: capacity) { $0.value(value) } }

  /// - Parameter text: of a value that another node has encoded.
  public init(text: [UInt8]) { self.text = text }

  public func encode(into writer: inout JSONWriter) { writer.raw(text) }
}

extension Encoded: FieldValue where Value: FieldValue {
  public static var notation: String { Value.notation }
}

extension Array {
  /// The bytes of all texts, with a comma behind each.
  func byteCount<Value>() -> Int where Element == Encoded<Value> { reduce(0) { $0 + $1.text.count + 1 } }
}

/// An object of any members, encoded.
public struct EncodedObject: FieldValue {
  public static let notation = "object"
  let text: [UInt8]

  /// The text of an object.
  public init(_ value: some WireEncodable) { text = JSONWriter.text(capacity: 1024) { $0.value(value) } }

  /// - Parameter text: of an object that is encoded already.
  public init(text: [UInt8]) { self.text = text }

  /// The bytes of its text.
  public var byteCount: Int { text.count }

  public func encode(into writer: inout JSONWriter) { writer.raw(text) }
}

/// An object of numbers, in the order given.
public struct NumberMap: FieldValue {
  public static let notation = "object"
  let entries: [(key: String, value: Int64)]

  /// An object with those members; each key stands there once.
  public init(_ entries: [(key: String, value: Int64)]) { self.entries = entries }

  public func encode(into writer: inout JSONWriter) {
    writer.object { writer in
      for entry in entries {
        writer.key(named: entry.key)
        writer.value(entry.value)
      }
    }
  }
}

/// An object of whole numbers, or null where a counter was removed, in the order given.
public struct CounterMap: FieldValue, Equatable {
  public static let notation = "object"
  public let entries: [GroupCounters.Entry]

  /// About the bytes of its text.
  var byteCount: Int { entries.count * 48 }

  /// An object with those members; each key stands there once.
  public init(_ entries: [GroupCounters.Entry]) { self.entries = entries }

  public func encode(into writer: inout JSONWriter) {
    writer.object { writer in
      for entry in entries {
        writer.key(named: entry.key)
        if let value = entry.value { writer.value(value) } else { writer.null() }
      }
    }
  }
}

/// An object of texts, in the order given.
public struct TextMap: FieldValue, Equatable {
  public static let notation = "map"
  public let entries: [GroupAttributes.Entry]

  /// About the bytes of its text.
  var byteCount: Int { entries.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count + 8 } }

  /// An object with those members; each key stands there once.
  public init(_ entries: [GroupAttributes.Entry]) { self.entries = entries }

  public func encode(into writer: inout JSONWriter) {
    writer.object { writer in
      for entry in entries {
        writer.key(named: entry.key)
        writer.value(entry.value)
      }
    }
  }
}
