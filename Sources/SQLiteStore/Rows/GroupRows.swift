import GRDB
import GroupModel
import GroupRuntime
import StoreTables

/// `groupRecord` rows.
enum GroupRows {
  private static let insertSQL = """
    INSERT INTO groupRecord (\(GroupRecord.columns.names)) VALUES (\(GroupRecord.columns.places("?")))
    """
  private static let updateSQL = """
    UPDATE groupRecord SET \(GroupRecord.columns.assignments("?", to: GroupRecord.columns.without("groupID").map(\.name)))
    WHERE groupID = ?\(GroupRecord.columns.place(of: "groupID"))
    """
  private static let selectSQL = "SELECT \(GroupRecord.columns.names), firstSeq, removedTime FROM groupRecord WHERE number = ?"

  static func insert(_ record: GroupRecord, in db: Database) throws { try db.run(insertSQL) { try record.write(to: &$0) } }

  static func update(_ record: GroupRecord, in db: Database) throws {
    guard try db.run(updateSQL, binding: { try record.write(to: &$0) }) == 1 else {
      throw StoreError(.inconsistent, "no group \(record.id) to change")
    }
  }

  /// A group without its other rows.
  static func group(number: Int64, in db: Database) throws -> StoredGroup? {
    try db.rows(selectSQL, [number], StoredGroup.read).first
  }
}

/// `groupAttributes` rows: all attributes of a group as JSON.
enum AttributeRows {
  static func put(_ attributes: GroupAttributes, in group: GroupID, _ db: Database) throws {
    guard let number = try db.number(of: group) else { throw StoreError(.inconsistent, "no group \(group) to have attributes") }
    guard attributes.count > 0 else {
      try db.run("DELETE FROM groupAttributes WHERE number = ?", [number])
      return
    }
    try db.run("INSERT OR REPLACE INTO groupAttributes VALUES (?, ?)") { binding in
      binding.append(number)
      try attributes.entries.write(to: &binding)
    }
  }

  static func attributes(number: Int64, in db: Database) throws -> GroupAttributes {
    let sql = "SELECT entries FROM groupAttributes WHERE number = ?"
    return try db.rows(sql, [number], GroupAttributes.read).first ?? GroupAttributes()
  }
}

/// `groupCounter` rows: one for each counter.
enum CounterRows {
  /// Sets the counters that have a value, and removes the others.
  static func put(_ counters: [GroupCounters.Entry], in group: GroupID, _ db: Database) throws {
    guard let number = try db.number(of: group) else { throw StoreError(.inconsistent, "no group \(group) to have counters") }
    for counter in counters {
      if let value = counter.value {
        try db.run("INSERT OR REPLACE INTO groupCounter VALUES (?, ?, ?)", [number, counter.key, value])
      } else {
        try db.run("DELETE FROM groupCounter WHERE number = ? AND key = ?", [number, counter.key])
      }
    }
  }

  static func counters(number: Int64, in db: Database) throws -> GroupCounters {
    GroupCounters(
      try db.rows("SELECT key, value FROM groupCounter WHERE number = ?", [number], GroupCounters.Entry.read))
  }
}
