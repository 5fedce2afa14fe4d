import GRDB
import GroupModel
import GroupRuntime

/// `groupAttributes` rows: all attributes of a group in one, as JSON pairs. A JSON object would not do, for two keys may be equal to
/// Unicode and different on the wire.
enum AttributeRows {
  static func put(_ attributes: GroupAttributes, in group: GroupID, _ db: Database) throws {
    guard let number = try db.number(of: group) else { throw StoreError(.inconsistent, "no group \(group) to have attributes") }
    if let entries = try jsonColumn(attributes.entries.map { [$0.key, $0.value] }) {
      try db.run("INSERT OR REPLACE INTO groupAttributes VALUES (?, ?)", [number, entries])
    } else {
      try db.run("DELETE FROM groupAttributes WHERE number = ?", [number])
    }
  }

  static func attributes(number: Int64, in db: Database) throws -> GroupAttributes {
    let rows = try db.rows("SELECT entries FROM groupAttributes WHERE number = ?", [number]) { row -> [[String]] in
      try row.json(else: [])
    }
    let pairs = rows.first ?? []
    guard pairs.allSatisfy({ $0.count == 2 }) else { throw StoreError(.inconsistent, "column entries holds no pairs") }
    return GroupAttributes(pairs.map { GroupAttributes.Entry(key: $0[0], value: $0[1]) })
  }
}
