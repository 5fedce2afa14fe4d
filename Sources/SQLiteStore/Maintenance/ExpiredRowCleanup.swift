import GRDB
import GroupModel
import GroupRuntime

/// Deletes rows that are too old to be asked for.
enum ExpiredRowCleanup {
  /// The time that an application is kept after it was handled or its group was disbanded.
  static let applicationLifetime = Duration.seconds(7 * 86_400)

  /// Deletes one chunk in the transaction that is open.
  /// - Parameter rows: how many rows a chunk has at most.
  /// - Returns: false where nothing old is left.
  static func chunk(of rows: Int, at now: WallInstant, in db: Database) throws -> Bool {
    try statements(at: now).contains { try db.run($0.sql, [$0.before, rows]) > 0 }
  }

  /// A deletion for each table, each by an index on its time.
  private static func statements(at now: WallInstant) -> [(sql: String, before: WallInstant)] {
    [
      (
        """
        DELETE FROM notification WHERE (addressee, number) IN
        (SELECT addressee, number FROM notification INDEXED BY notificationByTime WHERE timestamp < ? LIMIT ?)
        """, now - SystemNotification.lifetime
      ),
      (
        "DELETE FROM application WHERE number IN (SELECT number FROM application WHERE endTime < ? LIMIT ?)",
        now - applicationLifetime
      ),
      (
        """
        DELETE FROM departure WHERE (userID, groupID) IN
        (SELECT userID, groupID FROM departure INDEXED BY departureByTime WHERE time < ? LIMIT ?)
        """, now - DepartureRecord.lifetime
      ),
      (
        """
        DELETE FROM formerMember WHERE (number, userID) IN
        (SELECT number, userID FROM formerMember INDEXED BY formerMemberByEnd WHERE memorableUntil < ? LIMIT ?)
        """, now
      ),
    ]
  }
}
