import Foundation
import GRDB
import GroupRuntime

/// Reads a whole database and finds its faults. A start does not, because the duration grows with
/// the database.
public enum StoreCheck {
  /// Reads beside a running server, takes no lock of Throng's and changes nothing.
  /// - Parameters:
  ///   - directory: the data directory.
  ///   - database: the path of the database, as `SQLiteStore.open` takes it.
  /// - Returns: a sentence for each fault; none where the database is sound.
  /// - Throws: `StoreOpenError` where there is no database of Throng's, or it cannot be read.
  public static func faults(directory: String, database: String?) throws(StoreOpenError) -> [String] {
    let opener = try DatabaseOpener(existing: database, dataDirectory: directory)
    return try faults(opener, .contents)
  }

  /// How much is compared.
  enum Depth {
    /// What SQLite and the rows' sums tell. A database of one's own is copied with the rest as it
    /// is.
    case structure
    /// Every value and every trigger, too.
    case contents
  }

  /// The same of one file.
  /// - Parameter path: absolute, or relative to the working directory.
  static func faults(of path: String, _ depth: Depth) throws(StoreOpenError) -> [String] {
    try faults(try DatabaseOpener(existing: URL(fileURLWithPath: path).path, dataDirectory: ""), depth)
  }

  private static func faults(_ opener: DatabaseOpener, _ depth: Depth) throws(StoreOpenError) -> [String] {
    try opener.attempt("check \(opener.databasePath)") {
      let connection = try opener.readOnly()
      let faults = try faults(in: connection, depth)
      try connection.close()
      return faults
    }
  }

  /// Facts about a database that need no reading of all of it.
  public struct Summary: Sendable {
    /// The path of the database.
    public let path: String
    /// The bytes of the database and its log.
    public let bytes: Int
    /// The version of the SQLite library.
    public let library: String
    /// The process that has the database open; nil where none has.
    public let holder: String?
  }

  /// Looks at the beginning of a database, also beside a running server.
  /// - Throws: `StoreOpenError` where there is no database of Throng's, or it cannot be read.
  public static func summary(directory: String, database: String?) throws(StoreOpenError) -> Summary {
    let opener = try DatabaseOpener(existing: database, dataDirectory: directory)
    let library = try opener.attempt("read \(opener.databasePath)") {
      let connection = try opener.readOnly()
      let library = try connection.read { try String.fetchOne($0, sql: "SELECT sqlite_version()") }
      try connection.close()
      return library
    }
    return Summary(
      path: opener.databasePath, bytes: opener.database.bytesOnDisk, library: library ?? "",
      holder: DatabaseLock.holder(of: opener.database).map { "process \($0)" })
  }

  /// The faults of an open database.
  static func faults(in connection: some DatabaseReader, _ depth: Depth) throws -> [String] {
    do {
      let damages = try connection.read { try String.fetchAll($0, sql: "PRAGMA quick_check(100)") }
      guard damages == ["ok"] else { return damages.map { "damaged: \($0)" } }
      guard try connection.read(Schema.migrator.hasCompletedMigrations) else { return [] }
      // One snapshot for each: the server's log cannot start over during a snapshot.
      let found = try contradictions.flatMap { sql in try connection.read { try String.fetchAll($0, sql: sql) } }
      guard depth == .contents else { return found }
      return found + (try ContentCheck.faults(in: connection))
    } catch let error as DatabaseError where [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode) {
      return ["damaged: \(error.message ?? "no text")"]
    }
  }

  /// Queries that find nothing in a sound store; disbanded groups are cleared step by step.
  private static let contradictions =
    [
      """
      SELECT 'the messages of group ' || groupID || ' have gaps: ' || count || ' of ' || (last - firstSeq + 1)
      FROM (SELECT number, count(*) AS count, max(seq) AS last, min(seq) AS first FROM message GROUP BY number)
      JOIN groupRecord USING (number) WHERE first <> firstSeq OR last - first + 1 <> count LIMIT 100
      """,
      """
      SELECT 'the texts of ' || count(*) || ' users are there, and the users are not known'
      FROM userInfo WHERE userID NOT IN (SELECT userID FROM knownUser) HAVING count(*) > 0
      """,
      """
      SELECT count(*) || ' messages with read receipts have no list of members' FROM message AS m
      WHERE needReadReceipt AND NOT EXISTS (SELECT 1 FROM receiptMembers AS l WHERE l.number = m.number AND l.seq <= m.seq)
      AND NOT EXISTS (SELECT 1 FROM messageExtras AS e WHERE e.number = m.number AND e.seq = m.seq AND e.toUserIDs IS NOT NULL)
      HAVING count(*) > 0
      """,
      """
      SELECT 'changes of ' || count(*) || ' messages that are gone, or beyond their group''s, are left'
      FROM messageChange AS c JOIN groupRecord USING (number)
      WHERE c.changeSeq > groupRecord.changeSeq
      OR NOT EXISTS (SELECT 1 FROM message AS m WHERE m.number = c.number AND m.seq = c.seq) HAVING count(*) > 0
      """,
      """
      SELECT 'extras of ' || count(*) || ' messages that are gone are left'
      FROM messageExtras AS e JOIN groupRecord USING (number)
      WHERE NOT EXISTS (SELECT 1 FROM message AS m WHERE m.number = e.number AND m.seq = e.seq) HAVING count(*) > 0
      """,
      """
      SELECT count(*) || ' messages contradict themselves about whether they count as unread' FROM messageExtras
      WHERE isUncounted <> (isExcludedFromUnreadCount OR toUserIDs IS NOT NULL) HAVING count(*) > 0
      """,
      """
      SELECT 'extras of ' || count(*) || ' messages contradict these about the sender, or about a reply that is recalled'
      FROM messageExtras AS e JOIN message AS m ON m.number = e.number AND m.seq = e.seq
      WHERE e.sender <> m.sender OR e.countedReplyTo IS NOT CASE WHEN m.isRevoked THEN NULL ELSE e.replyTo END
      HAVING count(*) > 0
      """,
      """
      SELECT count(*) || ' decisions about users contradict themselves about whether they are in force' FROM userAccess
      WHERE (freeTime IS NULL) <> (isBlocked AND blockedUntil = 0 OR tokensBefore > 0) HAVING count(*) > 0
      """,
      """
      SELECT count(*) || ' deletions of users contradict themselves about whether they are done' FROM userDeletion
      WHERE (endTime IS NOT NULL) <> (step = 'done') HAVING count(*) > 0
      """,
      """
      SELECT count(*) || ' reactions have other users than are counted' FROM reaction AS r JOIN groupRecord USING (number)
      WHERE count <> (SELECT count(*) FROM reactionUser AS u WHERE u.number = r.number AND u.kind = r.kind)
      HAVING count(*) > 0
      """,
    ]
    + [
      "message", "messageChange", "messageExtras", "reaction", "reactionUser", "member", "formerMember", "groupAttributes",
      "groupCounter", "receiptMembers", "readReceipt",
    ].map { table in
      """
      SELECT 'rows of ' || count(*) || ' groups that are gone are left in \(table)' FROM
      (SELECT DISTINCT number FROM \(table) EXCEPT SELECT number FROM groupRecord EXCEPT SELECT number FROM dismissedGroup)
      HAVING count(*) > 0
      """
    }
}
