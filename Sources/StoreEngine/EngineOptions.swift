import GroupModel
import GroupRuntime

/// Bounds, clocks and choices that all stores have; tests make the numbers small.
package struct EngineOptions: Sendable {
  /// More commits would only make the first of a transaction wait longer for its answer.
  package var commitsPerTransaction = 2_000
  /// About five seconds of full load; later commits are refused, because the database does not keep
  /// up.
  package var pendingCommits = 100_000
  /// Bytes of message contents and other long texts in pending commits (64 MiB).
  package var pendingBytes = 64 << 20
  /// Reads that run at once; sign-ins and searches have one reader each besides.
  package var readers = 4
  /// The most rows of one read that goes on page by page: a few milliseconds.
  package var rowsPerRead = 2_000
  /// Rows that maintenance deletes in one transaction: a few milliseconds.
  package var cleanupRows = 500
  /// The time between two rounds of maintenance; nil = none are scheduled.
  package var maintenanceInterval: Duration?
  package var clocks: any Clocks = SystemClocks()
  /// Start the rounds of maintenance.
  package var alarms: any Alarms = SystemAlarms()
  /// The most groups that one page of a search reads.
  package var searchedGroups = 20_000
  /// The most members that one page of a search reads; the members of its last group all count.
  package var searchedMembers = 200_000
  /// Messages that one page of a search of messages may look at, or as much other work.
  package var searchedMessages = 20_000
  /// The most queued searches: two seconds where each reads as much as it may.
  package var queuedSearches = 32
  /// The most queued searches of one user.
  package var queuedSearchesPerReader = 4
  /// Sessions that a crash has ended are told of at the next opening.
  package var postsUserOffline = false
  /// Whether the texts of messages are indexed.
  package var indexesMessages = false
  /// The time that a report of a message is kept.
  package var reportRetention = EngineOptions.standardReportRetention
  /// The types whose groups do not keep all messages.
  package var history: [GroupType: HistoryLimits] = [:]

  /// The default of `reports.retention`.
  package static let standardReportRetention = Duration.seconds(90 * 86_400)

  /// - Parameter maintenanceInterval: the time between two rounds of maintenance.
  package init(maintenanceInterval: Duration) { self.maintenanceInterval = maintenanceInterval }
}
