import GroupModel
import GroupRuntime
import Logging
import PostgreSQLStore
import SQLiteStore
import ServerConfiguration
import StoreEngine

/// A store with everything that a server needs of it.
protocol ServerStore: GroupStore, MessageStore, UserStore, PersonalStore, WebhookStore, AccessStore, UserErasureStore,
  ReportStore, StoreHealth, HistoryStore
{
  /// Waits until every commit has been answered, apart from those of which nobody can say whether they
  /// are durable, and those behind them; then ends. Blocks; a second call does nothing.
  func close()
  /// The clocks that everything of the server shows the time by.
  var clocks: any Clocks { get }
  /// Counts the transactions of commits.
  var commitMeter: CommitMeter { get }
  /// How many commits wait for a transaction.
  var pendingCommits: Int { get }
  /// How many users wait to be written with the next commit.
  var pendingUsers: Int { get }
  /// How many reads wait for their turn.
  var waitingReads: Int { get }
  /// How many searches run or wait.
  var openSearches: Int { get }
  /// How many groups background work has noted, because they got messages.
  var notedGroups: Int { get }
}

extension SQLiteStore: ServerStore {}
extension PostgreSQLStore: ServerStore {}

/// Opens the store of `store.url`. The nodes of a cluster go by the database's clock.
/// - Parameter end: where a disk's failure leaves unknown what is durable. A commit on PostgreSQL whose
///   answer is lost is looked up instead (Cluster.md).
func openStore(
  _ settings: Settings, _ time: ServerTime, _ end: ProcessEnd, _ logger: Logger
) throws(StartError) -> any ServerStore {
  let postsUserOffline = settings.webhook.url != nil && settings.webhook.events.contains(.userOffline)
  if let url = settings.store.postgreSQL, settings.cluster.isEnabled {
    return try StartError.translating { () throws(PostgreSQLOpenError) in
      try PostgreSQLStore.openShared(
        url, postsUserOffline: postsUserOffline, history: settings.history.limits, indexesMessages: settings.search.messages,
        syncsCommits: settings.store.sync == .full, reportRetention: settings.reports.retention,
        leaseDuration: settings.cluster.leaseDuration,
        carriesBus: settings.bus.url == nil, logger: logger)
    }
  }
  if let url = settings.store.postgreSQL {
    return try StartError.translating { () throws(PostgreSQLOpenError) in
      try PostgreSQLStore.open(
        url, postsUserOffline: postsUserOffline, history: settings.history.limits, indexesMessages: settings.search.messages,
        syncsCommits: settings.store.sync == .full, reportRetention: settings.reports.retention, clocks: time.clocks,
        alarms: time.alarms, logger: logger)
    }
  }
  return try StartError.translating { () throws(StoreOpenError) in
    try SQLiteStore.open(
      directory: settings.dataDir, database: settings.store.databasePath,
      sync: settings.store.sync == .full ? .full : .normal,
      postsUserOffline: postsUserOffline, history: settings.history.limits, indexesMessages: settings.search.messages,
      reportRetention: settings.reports.retention, clocks: time.clocks, alarms: time.alarms, logger: logger,
      onDurabilityFault: { end($0) })
  }
}
