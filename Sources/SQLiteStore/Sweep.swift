import GRDB
import GroupModel

/// Deletes what nobody asks for any more, because of its age.
enum Sweep {
  /// How long an application is kept after it was handled or its group was disbanded, in milliseconds.
  static let applicationLifetime: Instant = 7 * 86_400_000

  /// Deletes one chunk in the transaction that is open.
  /// - Parameter rows: how many rows a chunk has at most.
  /// - Returns: false where nothing old is left.
  static func chunk(of rows: Int, at now: Instant, in db: Database) throws -> Bool {
    let notifications = try db.run(
      "DELETE FROM notification WHERE number IN (SELECT number FROM notification WHERE timestamp < ? LIMIT ?)",
      [now - SystemNotification.lifetime, rows])
    if notifications > 0 { return true }
    return try db.run(
      "DELETE FROM application WHERE number IN (SELECT number FROM application WHERE endTime < ? LIMIT ?)",
      [now - applicationLifetime, rows]) > 0
  }
}
