import GroupRuntime

/// The kind of values in a column.
public enum ColumnKind: Sendable, Equatable {
  case integer, flag, text, bytes
  /// The messages of a block that a user has confirmed, as `SeqBlock.bytes`.
  case block
}

/// A column of a table and what it holds; a NULL may stand for any value where the table's
/// definition lets it.
public struct StoredColumn: Sendable {
  public let name: String
  public let kind: ColumnKind
  /// The values that can be read.
  public let domain: StoredDomain

  /// A column of a type.
  /// - Parameter domain: nil = all values of the type.
  public init<Value: ColumnValue>(_ name: String, _ type: Value.Type, within domain: StoredDomain? = nil) {
    self.name = name
    kind = Value.kind
    self.domain = domain ?? Value.domain
  }
}

extension Collection<StoredColumn> {
  /// The names, as a statement lists them.
  public var names: String { map(\.name).joined(separator: ", ") }

  /// The names behind that of a table or an alias.
  public func names(of table: String) -> String { map { "\(table).\($0.name)" }.joined(separator: ", ") }

  /// The assignments of an upsert, which takes what the insertion would have stored.
  public var excluded: String { map { "\($0.name) = excluded.\($0.name)" }.joined(separator: ", ") }

  /// The place of a column's argument, from 1.
  public func place(of name: String) -> Int {
    guard let place = map(\.name).firstIndex(of: name) else { preconditionFailure("there is no column \(name)") }
    return place + 1
  }

  /// A numbered argument for each column.
  /// - Parameters:
  ///   - sign: begins an argument: `?` in SQLite, `$` in PostgreSQL.
  ///   - first: the number of the first.
  public func places(_ sign: Character, from first: Int = 1) -> String {
    indexedNames.map { "\(sign)\($0.index + first)" }.joined(separator: ", ")
  }

  /// The assignments of an update, which takes the arguments of `places`.
  public func assignments(_ sign: Character, from first: Int = 1, to names: [String]) -> String {
    indexedNames.filter { names.contains($0.name) }.map { "\($0.name) = \(sign)\($0.index + first)" }.joined(separator: ", ")
  }

  private var indexedNames: [(index: Int, name: String)] { enumerated().map { ($0.offset, $0.element.name) } }

  /// The columns apart from some.
  public func without(_ names: String...) -> [StoredColumn] { filter { !names.contains($0.name) } }
}
