import GroupModel
import GroupRuntime
import StoreEngine

/// Bounds and clocks of the store; tests make the numbers small.
@dynamicMemberLookup
struct PostgreSQLOptions {
  /// Those of all stores.
  var engine = EngineOptions(maintenanceInterval: .milliseconds(500))
  /// Are corrected by the lease of a node, which shows the time by them.
  let databaseClocks = DatabaseClocks()
  /// The server ends a statement that takes longer, in milliseconds.
  var statementTimeout = 5_000
  /// The server ends a wait for a lock that takes longer, in milliseconds.
  var lockTimeout = 3_000
  /// How long other commits wait for the fate of a COMMIT whose answer was lost, in milliseconds; later
  /// they are refused.
  var commitTimeout = 10_000
  /// For how long a process is taken for alive without a sign of life.
  var leaseDuration = Duration.seconds(3)
  /// Whether a commit waits for the server's disk.
  var syncsCommits = true
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

  subscript<Value>(dynamicMember option: WritableKeyPath<EngineOptions, Value>) -> Value {
    get { engine[keyPath: option] }
    set { engine[keyPath: option] = newValue }
  }
}
