import Foundation
import GroupModel
import GroupRuntime

/// A value of which a column keeps a list.
public protocol ListedValue: Sendable {
  static var listKind: ColumnKind { get }
  static var listDomain: StoredDomain { get }
  /// What NULL stands for; nil = the column is never NULL.
  static var listOfNull: [Self]? { get }
  /// Reads the next column; nil = NULL.
  static func readList<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) -> [Self]?
  /// Appends a list.
  static func write<Writer: ColumnWriter>(_ list: [Self], to writer: inout Writer) throws(StoreError)
}

extension Array: ColumnValue where Element: ListedValue {
  @inlinable public static var kind: ColumnKind { Element.listKind }
  public static var domain: StoredDomain { Element.listDomain }
  @inlinable public static var ofNull: [Element]? { Element.listOfNull }
  @inlinable public static func read<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) -> [Element]? {
    try Element.readList(&reader)
  }
  @inlinable public func write<Writer: ColumnWriter>(to writer: inout Writer) throws(StoreError) {
    try Element.write(self, to: &writer)
  }
}

/// Bytes are one value, no list.
extension UInt8: ListedValue {
  @inlinable public static var listKind: ColumnKind { .bytes }
  public static var listDomain: StoredDomain { .bytes }
  @inlinable public static var listOfNull: [UInt8]? { nil }
  @inlinable public static func readList<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) -> [UInt8]? {
    try reader.optionalBytes()
  }
  @inlinable public static func write<Writer: ColumnWriter>(_ list: [UInt8], to writer: inout Writer) {
    writer.append(bytes: list)
  }
}

/// The members of a group when a message was sent. UserIDs have no spaces; one stands between two.
extension UserID: ListedValue {
  public static var listKind: ColumnKind { .text }
  public static var listDomain: StoredDomain { .text("userIDs with a space between two") { users(in: $0) != nil } }
  public static var listOfNull: [UserID]? { nil }
  public static func readList<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) -> [UserID]? {
    guard let text = try reader.optionalText() else { return nil }
    guard let users = users(in: text) else { throw reader.unexpectedValue() }
    return users
  }
  public static func write<Writer: ColumnWriter>(_ list: [UserID], to writer: inout Writer) {
    writer.append(list.map(\.rawValue).joined(separator: " "))
  }

  private static func users(in text: String) -> [UserID]? {
    let names = text.utf8.split(separator: UInt8(ascii: " "))
    let users = names.compactMap { UserID(stored: String(Substring($0))) }
    return users.count == names.count ? users : nil
  }
}

// MARK: - JSON

extension ColumnReader {
  /// The next column, a list or a dictionary as JSON; nil = NULL.
  @inlinable public mutating func json<Value: Decodable>(_ type: Value.Type = Value.self) throws(StoreError) -> Value? {
    guard let text = try optionalText() else { return nil }
    guard let value = decoded(text, as: type) else { throw unexpectedValue() }
    return value
  }
}

@usableFromInline func decoded<Value: Decodable>(_ json: String, as type: Value.Type) -> Value? {
  try? JSONDecoder().decode(Value.self, from: Data(json.utf8))
}

/// A list or a dictionary as JSON with sorted keys; nil for the empty one. JSON writes NUL as
/// \u0000.
public func jsonColumn<Value: Encodable & Collection>(_ value: Value) throws(StoreError) -> String? {
  if value.isEmpty { return nil }
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  do {
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  } catch {
    throw StoreError(.inconsistent, "a value that is no JSON: \(error)")
  }
}

/// Fields of the application.
extension Dictionary: ColumnValue where Key == String, Value == String {
  @inlinable public static var kind: ColumnKind { .text }
  public static var domain: StoredDomain { .json("a JSON object of texts", as: Self.self) { _ in true } }
  @inlinable public static var ofNull: [String: String]? { [:] }
  @inlinable public static func read<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) -> [String: String]? {
    try reader.json()
  }
  @inlinable public func write<Writer: ColumnWriter>(to writer: inout Writer) throws(StoreError) {
    writer.append(try jsonColumn(self))
  }
}

/// A value of which a column keeps a list as JSON; NULL is the empty one.
public protocol JSONListed: ListedValue {
  associatedtype JSON: Codable & Sendable
  /// Nil where the JSON stands for no such value.
  init?(json: JSON)
  /// The JSON that `init(json:)` reads.
  var json: JSON { get }
  /// What is expected of a list, as part of a sentence.
  static var listMeaning: String { get }
}

extension JSONListed {
  @inlinable public static var listKind: ColumnKind { .text }
  public static var listDomain: StoredDomain {
    .json(listMeaning, as: [JSON].self) { $0.allSatisfy { Self(json: $0) != nil } }
  }
  @inlinable public static var listOfNull: [Self]? { [] }
  @inlinable public static func readList<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) -> [Self]? {
    guard let list = try reader.json([JSON].self) else { return nil }
    let values = list.compactMap(Self.init(json:))
    guard values.count == list.count else { throw reader.unexpectedValue() }
    return values
  }
  @inlinable public static func write<Writer: ColumnWriter>(_ list: [Self], to writer: inout Writer) throws(StoreError) {
    // Each message has one, as a rule the empty one.
    if list.isEmpty { return writer.append(null: .text) }
    writer.append(try jsonColumn(list.map { $0.json }))
  }
}

extension String: JSONListed {
  public static var listMeaning: String { "a JSON list of texts" }
  public init?(json: String) { self = json }
  public var json: String { self }
}

extension Role: JSONListed {
  public static var listMeaning: String { "a JSON list of roles" }
  public init?(json: String) { self.init(wireName: json) }
  public var json: String { wireName }
}

/// Attributes are lists: a JSON object would merge two keys that are equal to Unicode and different
/// on the wire. Behind key and value stands the holder, where there is one, and behind it "1" where
/// the key goes with its holder.
extension GroupAttributes.Entry: JSONListed {
  public static var listMeaning: String { "a JSON list of attributes, each key, value, holder?, \"1\"?" }
  public init?(json: [String]) {
    switch json.count {
    case 2: self.init(key: json[0], value: json[1])
    case 3, 4:
      guard let holder = UserID(json[2]), json.count == 3 || json[3] == "1" else { return nil }
      self.init(key: json[0], value: json[1], holder: holder, isDeletedAfterHolderLeft: json.count == 4)
    default: return nil
    }
  }
  public var json: [String] {
    [key, value] + (holder.map { [$0.rawValue] + (isDeletedAfterHolderLeft ? ["1"] : []) } ?? [])
  }
}

/// Ranges of `seq`, each written as its bounds.
extension ClosedRange: ListedValue, JSONListed where Bound == Int64 {
  public static var listMeaning: String { "a JSON list of ranges" }
  public static var listDomain: StoredDomain {
    .json(listMeaning, as: [[Int64]].self) { list in
      list.allSatisfy { Self(json: $0) != nil && $0.allSatisfy(StoredDomain.numbers.contains) }
    }
  }
  public init?(json: [Int64]) {
    guard json.count == 2, json[0] <= json[1] else { return nil }
    self = json[0]...json[1]
  }
  public var json: [Int64] { [lowerBound, upperBound] }
}
