import GroupModel
import GroupRuntime

/// Rows that are too old to be asked for.
package struct ExpiredRows {
  package let table: String
  /// Holds the instant that decides.
  package let column: String
  /// The index on it.
  package let index: String
  /// Earlier ones are too old.
  package let before: WallInstant

  /// The time that an application is kept after it was handled or its group was disbanded.
  package static let applicationLifetime = Duration.seconds(7 * 86_400)

  /// The time that a user's row is kept in which nothing is in force: a list that ends with the user
  /// goes on there.
  package static let accessLifetime = Duration.seconds(86_400)

  /// Between two deletions.
  package static let interval = Duration.seconds(3600)

  /// Those of all tables.
  /// - Parameter reportRetention: the time that a report is kept.
  package static func all(at now: WallInstant, reportRetention: Duration) -> [ExpiredRows] {
    [
      ExpiredRows(
        table: "notification", column: "timestamp", index: "notificationByTime", before: now - SystemNotification.lifetime),
      ExpiredRows(table: "application", column: "endTime", index: "applicationByEnd", before: now - applicationLifetime),
      ExpiredRows(table: "departure", column: "time", index: "departureByTime", before: now - DepartureRecord.lifetime),
      ExpiredRows(table: "formerMember", column: "memorableUntil", index: "formerMemberByEnd", before: now),
      ExpiredRows(table: "userAccess", column: "freeTime", index: "userAccessFree", before: now - accessLifetime),
      ExpiredRows(table: "userDeletion", column: "endTime", index: "userDeletionDone", before: now - UserDeletion.lifetime),
      ExpiredRows(table: "report", column: "time", index: "reportByTime", before: now - reportRetention),
    ]
  }
}
