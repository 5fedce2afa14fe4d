import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables

/// Statements of `userAccess` rows: users about whose sign-ins something was decided. They need not be
/// known.
enum AccessRows {
  static let selectSQL = """
    SELECT coalesce(a.isBlocked, false), coalesce(a.blockedUntil, 0), coalesce(a.blockReason, ''),
    coalesce(a.tokensBefore, 0), d.userID IS NOT NULL AND d.endTime IS NULL, d.userID IS NOT NULL
    FROM (SELECT 1) AS one LEFT JOIN userAccess AS a ON a.userID = $1 LEFT JOIN userDeletion AS d ON d.userID = $1
    """

  static func read(_ row: inout RowReader) throws -> (access: UserAccess, hasDeletion: Bool) {
    (access: try UserAccess.read(&row), hasDeletion: try row.flag())
  }
}

extension WriteTransaction {
  func put(_ block: UserAccess.Block?, of user: UserID, at time: WallInstant) throws {
    guard let block else {
      return try run(
        """
        UPDATE userAccess SET isBlocked = false, blockedUntil = 0, blockReason = '',
        freeTime = CASE WHEN tokensBefore > 0 THEN NULL WHEN isBlocked THEN $2 ELSE freeTime END WHERE userID = $1
        """, [user.rawValue, time])
    }
    try run(
      """
      INSERT INTO userAccess AS a (userID, isBlocked, blockedUntil, tokensBefore, freeTime, blockReason)
      VALUES ($1, true, $2, 0, nullif($2, 0), $3)
      ON CONFLICT (userID) DO UPDATE SET isBlocked = true, blockedUntil = excluded.blockedUntil,
      freeTime = CASE WHEN a.tokensBefore > 0 THEN NULL ELSE excluded.freeTime END, blockReason = excluded.blockReason
      """, [user.rawValue, block.storedEnd, block.reason])
  }

  func raiseTokens(of user: UserID, before instant: WallInstant, at time: WallInstant) throws {
    try run(
      """
      INSERT INTO userAccess AS a (userID, isBlocked, blockedUntil, tokensBefore, freeTime, blockReason)
      VALUES ($1, false, 0, $2, CASE WHEN $2 > 0 THEN NULL ELSE $3 END, '')
      ON CONFLICT (userID) DO UPDATE SET tokensBefore = greatest(a.tokensBefore, excluded.tokensBefore),
      freeTime = CASE WHEN excluded.tokensBefore > 0 THEN NULL ELSE a.freeTime END
      """, [user.rawValue, instant, time])
  }
}

extension PostgreSQLConnection {
  package func access(of user: UserID) throws -> (access: UserAccess, hasDeletion: Bool) {
    try rows(AccessRows.selectSQL, [user.rawValue], AccessRows.read).first ?? (access: .unlimited, hasDeletion: false)
  }

  package func decidedUser(number: Int64) throws -> String? {
    try rows("SELECT userID FROM userAccess WHERE number = $1", [number]) { try $0.text() }.first
  }

  package func blocks(behind user: String, limit: Int) throws -> [(number: Int64, user: BlockedUser)] {
    try rows(
      """
      SELECT number, userID, \(UserAccess.Block.columns.names) FROM userAccess
      WHERE isBlocked AND userID > $1 ORDER BY userID LIMIT $2
      """, [user, limit]
    ) { row -> (number: Int64, user: BlockedUser)? in
      let (number, user) = (try row.integer(), try row.value(UserID.self))
      return try UserAccess.Block.read(&row).map { (number: number, user: BlockedUser(userID: user, block: $0)) }
    }.compactMap { $0 }
  }
}
