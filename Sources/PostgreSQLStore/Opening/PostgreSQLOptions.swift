import GroupModel
import GroupRuntime

/// Bounds and clocks of the store; tests make the numbers small.
struct PostgreSQLOptions {
  /// More commits would only make the first of a transaction wait longer for its answer.
  var commitsPerTransaction = 2_000
  /// Later commits are refused, because the database does not keep up.
  var pendingCommits = 100_000
  /// Bytes of message contents and other long texts in pending commits (64 MiB).
  var pendingBytes = 64 << 20
  /// Reads that run at once; sign-ins and searches have one connection each besides.
  var readers = 4
  /// The most rows of one read that goes on page by page.
  var rowsPerRead = 2_000
  /// Rows that maintenance deletes in one transaction.
  var cleanupRows = 500
  /// The time between two rounds of maintenance; nil = none are scheduled.
  var maintenanceInterval: Duration? = .milliseconds(500)
  var clocks: any Clocks = SystemClocks()
  /// Start the rounds of maintenance.
  var alarms: any Alarms = SystemAlarms()
  /// Are corrected by the lease of a node, which shows the time by them.
  let databaseClocks = DatabaseClocks()
  /// The server ends a statement that takes longer, in milliseconds.
  var statementTimeout = 5_000
  /// The server ends a wait for a lock that takes longer, in milliseconds.
  var lockTimeout = 3_000
  /// How long commits wait for the fate of a COMMIT whose answer was lost, in milliseconds.
  var commitTimeout = 10_000
  /// For how long a process is taken for alive without a sign of life.
  var leaseDuration = Duration.seconds(3)
  /// Sessions that a crash has ended are told of at the next opening.
  var postsUserOffline = false
  /// The most groups that one page of a search reads.
  var searchedGroups = 20_000
  /// The most members that one page of a search reads; the members of its last group all count.
  var searchedMembers = 200_000
  /// Whether the texts of messages are indexed.
  var indexesMessages = false
  /// Messages that one page of a search of messages may look at, or as much other work.
  var searchedMessages = 20_000
  /// The most queued searches: two seconds where each reads as much as it may.
  var queuedSearches = 32
  /// The most queued searches of one user.
  var queuedSearchesPerReader = 4
  /// Whether a commit waits for the server's disk.
  var syncsCommits = true
  /// The types whose groups do not keep all messages.
  var history: [GroupType: HistoryLimits] = [:]
  /// The shards that this process does background work for.
  var leadership: any Leadership = SoleLeadership()
  /// Whether other processes write to the database, too.
  var isShared = false
  /// Whether the nodes exchange their messages by the database, too.
  var carriesBus = false
  /// Whether a start finds out if there are connections enough.
  var checksConnections = true
  /// The schema of the tables; tests use one each.
  var schema: String?
}
