import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables

/// Statements of `userAccess` rows: users about whose sign-ins something was decided. They need not be
/// known.
private enum AccessRows {
  static let nextNumberSQL = "UPDATE userAccessNumber SET last = last + 1 RETURNING last"

  // As a rule a user is in neither table.
  static let isDecidedSQL = """
    SELECT 1 FROM userAccess WHERE userID = ?1 UNION ALL SELECT 1 FROM userDeletion WHERE userID = ?1
    """
  static let selectSQL = """
    SELECT coalesce(a.isBlocked, 0), coalesce(a.blockedUntil, 0), coalesce(a.blockReason, ''), coalesce(a.tokensBefore, 0),
    d.userID IS NOT NULL AND d.endTime IS NULL, d.userID IS NOT NULL
    FROM (SELECT 1) LEFT JOIN userAccess AS a ON a.userID = ?1 LEFT JOIN userDeletion AS d ON d.userID = ?1
    """
}

extension SQLiteTransaction {
  func put(_ block: UserAccess.Block?, of user: UserID, at time: WallInstant) throws {
    guard let block else {
      try db.run(
        """
        UPDATE userAccess SET isBlocked = 0, blockedUntil = 0, blockReason = '',
        freeTime = CASE WHEN tokensBefore > 0 THEN NULL WHEN isBlocked THEN ? ELSE freeTime END WHERE userID = ?
        """, [time, user.rawValue])
      return
    }
    try makeAccess(of: user, at: time)
    try db.run(
      """
      UPDATE userAccess SET isBlocked = 1, blockedUntil = ?1, blockReason = ?2,
      freeTime = CASE WHEN tokensBefore > 0 THEN NULL ELSE nullif(?1, 0) END WHERE userID = ?3
      """, [block.storedEnd, block.reason.column, user.rawValue])
  }

  func raiseTokens(of user: UserID, before instant: WallInstant, at time: WallInstant) throws {
    try makeAccess(of: user, at: time)
    try db.run(
      """
      UPDATE userAccess SET tokensBefore = max(tokensBefore, ?1),
      freeTime = CASE WHEN ?1 > 0 THEN NULL ELSE freeTime END WHERE userID = ?2
      """, [instant, user.rawValue])
  }

  /// A row in which nothing is in force yet, where there is none.
  private func makeAccess(of user: UserID, at time: WallInstant) throws {
    guard try !db.finds("SELECT 1 FROM userAccess WHERE userID = ?", binding: { $0.append(user.rawValue) }) else { return }
    let number = try db.rows(AccessRows.nextNumberSQL, []) { try $0.integer() }.first
    try db.run(
      """
      INSERT INTO userAccess (userID, number, isBlocked, blockedUntil, tokensBefore, freeTime, blockReason)
      VALUES (?, ?, 0, 0, 0, ?, '')
      """, [user.rawValue, number, time])
  }
}

extension Database {
  package func access(of user: UserID) throws -> (access: UserAccess, hasDeletion: Bool) {
    // For a renewal, most of which find nothing: a look by SQLite's C interface.
    guard try finds(AccessRows.isDecidedSQL, binding: { $0.append(user.rawValue) }) else {
      return (access: .unlimited, hasDeletion: false)
    }
    return try rows(AccessRows.selectSQL, [user.rawValue]) { row in
      (access: try UserAccess.read(&row), hasDeletion: try row.flag())
    }.first ?? (access: .unlimited, hasDeletion: false)
  }

  package func decidedUser(number: Int64) throws -> String? {
    try rows("SELECT userID FROM userAccess WHERE number = ?", [number]) { try $0.text() }.first
  }

  package func blocks(behind user: String, limit: Int) throws -> [(number: Int64, user: BlockedUser)] {
    try rows(
      """
      SELECT number, userID, \(UserAccess.Block.columns.names) FROM userAccess INDEXED BY userAccessBlocked
      WHERE isBlocked = 1 AND userID > ? ORDER BY userID LIMIT ?
      """, [user, limit]
    ) { row -> (number: Int64, user: BlockedUser)? in
      let (number, user) = (try row.integer(), try row.value(UserID.self))
      return try UserAccess.Block.read(&row).map { (number: number, user: BlockedUser(userID: user, block: $0)) }
    }.compactMap { $0 }
  }
}
