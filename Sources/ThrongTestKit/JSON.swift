import Foundation
import GroupModel

/// A JSON value for comparisons. Foundation reads it, so that the server's parser does not test
/// itself.
public enum JSON: Sendable, Hashable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  /// The value of a text; fails where it is no JSON.
  public init(_ text: some Sequence<UInt8>) throws { self = try JSONDecoder().decode(JSON.self, from: Data(text)) }

  /// The value of a text; fails where it is no JSON.
  public init(_ text: String) throws { try self.init(text.utf8) }

  /// A member of an object; `.null` where there is none.
  public subscript(name: String) -> JSON {
    if case .object(let members) = self { members[name] ?? .null } else { .null }
  }

  /// An element of an array; `.null` where there is none.
  public subscript(index: Int) -> JSON {
    if case .array(let elements) = self, elements.indices.contains(index) { elements[index] } else { .null }
  }

  /// The elements of an array; none for any other kind.
  public var elements: [JSON] { if case .array(let elements) = self { elements } else { [] } }

  /// The names of an object's members, ascending; none for any other kind.
  public var names: [String] { if case .object(let members) = self { members.keys.sorted() } else { [] } }

  /// The text of a string.
  public var string: String? { if case .string(let text) = self { text } else { nil } }

  /// A whole number.
  public var integer: Int64? { if case .number(let number) = self { Int64(exactly: number) } else { nil } }

  /// A whole number of milliseconds.
  public var instant: WallInstant? { integer.map(WallInstant.init(milliseconds:)) }

  /// The number that stands for an instant.
  public static func instant(_ instant: WallInstant) -> JSON { .number(Double(instant.milliseconds)) }

  /// True or false.
  public var bool: Bool? { if case .bool(let flag) = self { flag } else { nil } }
}

extension JSON: Decodable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    // The most frequent first: Swift Testing notes a backtrace of every attempt that fails.
    if let text = try? container.decode(String.self) {
      self = .string(text)
    } else if let members = try? container.decode([String: JSON].self) {
      self = .object(members)
    } else if let number = try? container.decode(Double.self) {
      self = .number(number)
    } else if let elements = try? container.decode([JSON].self) {
      self = .array(elements)
    } else if container.decodeNil() {
      self = .null
    } else {
      self = .bool(try container.decode(Bool.self))
    }
  }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
  public init(stringLiteral text: String) { self = .string(text) }
  public init(integerLiteral number: Int64) { self = .number(Double(number)) }
  public init(booleanLiteral flag: Bool) { self = .bool(flag) }
  public init(arrayLiteral elements: JSON...) { self = .array(elements) }
  public init(dictionaryLiteral members: (String, JSON)...) { self = .object(Dictionary(members) { $1 }) }
  public init(nilLiteral: ()) { self = .null }
}
