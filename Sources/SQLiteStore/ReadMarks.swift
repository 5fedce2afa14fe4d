import GRDB
import GroupModel

/// `readMark` rows: how far a user has read what waits for the user. A mark never goes back.
enum ReadMarks {
  /// Which mark; the names of the columns.
  enum Kind: String { case applications, notifications }

  static func advance(_ kind: Kind, of user: UserID, to mark: Int64, _ db: Database) throws {
    let column = kind.rawValue
    try db.run(
      """
      INSERT INTO readMark (userID, \(column)) VALUES (?, ?)
      ON CONFLICT (userID) DO UPDATE SET \(column) = excluded.\(column) WHERE excluded.\(column) > \(column)
      """, [user.rawValue, mark])
  }

  /// The mark; 0 = nothing is read.
  static func mark(_ kind: Kind, of user: UserID, in db: Database) throws -> Int64 {
    try db.rows("SELECT \(kind.rawValue) FROM readMark WHERE userID = ?", [user.rawValue]) { try $0.integer() }.first ?? 0
  }
}
