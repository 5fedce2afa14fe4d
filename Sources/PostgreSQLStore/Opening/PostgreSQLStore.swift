import Cluster
import Dispatch
import GroupModel
import GroupRuntime
import Logging
import StoreEngine
import Synchronization

/// The reason why the store could not be opened.
public struct PostgreSQLOpenError: Error, Sendable, CustomStringConvertible {
  public enum Kind: Sendable, Equatable {
    /// No connection, or no right to make tables.
    case unavailable
    /// Another process uses the database.
    case locked
    /// A newer version of Throng has made the tables, or PostgreSQL is too old.
    case version
  }

  public let kind: Kind
  /// A sentence for the operator, without the password of the URL.
  public let description: String

  init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}

/// Groups, memberships, messages, users and their notifications in a PostgreSQL database, for one
/// server process, or for the nodes of a cluster (Cluster.md, "The store on PostgreSQL").
package final class PostgreSQLStore: DatabaseStore, HistoryStore {
  let options: PostgreSQLOptions
  let writer: Writer
  /// Nil = a node of a cluster, by `lease`.
  let node: NodeRegistration?
  let opener: DatabaseOpener
  private let lease: Mutex<PostgreSQLLease?> = Mutex(nil)
  /// Users who are in the database for certain, at most so many: a memory of `makeKnown`.
  let durableUsers = Mutex<Set<UserID>>([])
  static let maxDurableUsers = 100_000
  private let readers: ConnectionPool
  private let readScheduler: ReadScheduler
  private let signIns: ReadingConnection
  let signInScheduler = ReadScheduler(readers: 1)
  let searches: SearchQueue<ReadingConnection>
  /// Nil = messages cannot be searched.
  let folding: MessageFolding?
  let maintenance: PostgreSQLMaintenance
  let retention: Retention
  let cleanup: PostgreSQLCleanup
  let logger: Logger

  /// Opens the store, and creates or migrates its tables. Waits for the lease of a process that was
  /// killed; blocks meanwhile.
  /// - Parameters:
  ///   - url: as libpq takes it, for example `postgres://throng@db.example.org/throng`.
  ///   - postsUserOffline: makes a userOffline for each user whom a crash has found online.
  ///   - history: the messages that groups keep, by type; a type that is absent keeps all.
  ///   - indexesMessages: whether messages can be searched. Switching it off drops the index.
  ///   - syncsCommits: whether a commit waits for the server's disk.
  ///   - reportRetention: the time that a report of a message is kept.
  ///   - clocks, alarms: the time that everything of the store goes by.
  /// - Throws: `PostgreSQLOpenError` with a sentence for the operator.
  package static func open(
    _ url: String, postsUserOffline: Bool = false, history: [GroupType: HistoryLimits] = [:], indexesMessages: Bool = false,
    syncsCommits: Bool = true, reportRetention: Duration = EngineOptions.standardReportRetention,
    clocks: any Clocks = SystemClocks(), alarms: any Alarms = SystemAlarms(), logger: Logger
  ) throws(PostgreSQLOpenError) -> PostgreSQLStore {
    var options = PostgreSQLOptions()
    options.clocks = clocks
    options.alarms = alarms
    options.indexesMessages = indexesMessages
    options.syncsCommits = syncsCommits
    options.reportRetention = reportRetention
    options.history = history.filter { $0.value != HistoryLimits() }
    options.postsUserOffline = postsUserOffline
    return try open(url, logger: logger, options: options)
  }

  /// What a process asks of a server, for `check`.
  package struct Needs: Sendable {
    let connections: Int

    /// - Parameters:
    ///   - isShared: for a node of a cluster.
    ///   - carriesBus: without NATS.
    package init(isShared: Bool, carriesBus: Bool, indexesMessages: Bool) {
      var options = PostgreSQLOptions()
      (options.isShared, options.carriesBus, options.indexesMessages) = (isShared, carriesBus, indexesMessages)
      connections = options.connectionCount
    }

    private init(connections: Int) { self.connections = connections }

    /// A server that runs has its connections; a few tell whether there is a pooler.
    package static let besideRunning = Needs(connections: 3)
  }

  /// Connects, and checks the server without changing anything.
  /// - Returns: the server's version.
  /// - Throws: `PostgreSQLOpenError` with a sentence for the operator.
  package static func check(_ url: String, _ needs: Needs) throws(PostgreSQLOpenError) -> String {
    let opener = DatabaseOpener(url: url, options: PostgreSQLOptions())
    do {
      let connection = try opener.connect()
      try opener.checkServer(connection)
      try ConnectionCheck(opener: opener, count: needs.connections, patience: .seconds(1)).run(beside: connection)
      return "\(connection.serverVersion / 10_000).\(connection.serverVersion % 10_000)"
    } catch {
      throw PostgreSQLOpenError(describing: error)
    }
  }

  /// Opens the store for a node of a cluster. It writes nothing before `makeLease` has joined.
  /// - Parameters:
  ///   - leaseDuration: for how long a node is there without a sign of life.
  ///   - carriesBus: whether `makeBus` follows.
  ///   - history, indexesMessages, syncsCommits, reportRetention: as for a process that is alone.
  package static func openShared(
    _ url: String, postsUserOffline: Bool = false, history: [GroupType: HistoryLimits] = [:], indexesMessages: Bool = false,
    syncsCommits: Bool = true, reportRetention: Duration = EngineOptions.standardReportRetention,
    leaseDuration: Duration, carriesBus: Bool = true, logger: Logger
  ) throws(PostgreSQLOpenError) -> PostgreSQLStore {
    var options = PostgreSQLOptions()
    options.indexesMessages = indexesMessages
    options.syncsCommits = syncsCommits
    options.reportRetention = reportRetention
    options.history = history.filter { $0.value != HistoryLimits() }
    options.postsUserOffline = postsUserOffline
    options.leaseDuration = leaseDuration
    options.clocks = options.databaseClocks
    (options.isShared, options.carriesBus) = (true, carriesBus)
    options.leadership = MembershipLeadership()
    return try open(url, logger: logger, options: options, isAlone: false)
  }

  static func open(
    _ url: String, logger: Logger, options: PostgreSQLOptions, isAlone: Bool = true
  ) throws(PostgreSQLOpenError) -> PostgreSQLStore {
    let opener = DatabaseOpener(url: url, options: options)
    do {
      let connection = try opener.connect(for: .writing)
      try opener.checkServer(connection)
      try opener.checkConnections(connection)
      try opener.prepare(connection)
      try DatabaseAccess.close(connection).log(to: logger)
      if let warning = try opener.durabilityWarning(connection) { logger.warning("\(warning)") }
      guard isAlone else {
        try opener.readClock(connection, logger)
        try checkMigration(connection)
        let folding = try prepareIndex(connection, opener, logger)
        let store = PostgreSQLStore(opener, connection, node: nil, folding, logger: logger)
        store.startMaintenance()
        return store
      }
      let (node, ended) = try NodeRegistration.join(connection, options)
      do {
        // Behind the row of this process, which a migration looks for when it has begun.
        try checkMigration(connection)
      } catch {
        try node.leave(connection)
        throw error
      }
      let folding = try prepareIndex(connection, opener, logger)
      let store = PostgreSQLStore(opener, connection, node: node, folding, logger: logger)
      try store.writer.begin(sessionsEndedAt: ended ?? options.clocks.wall)
      store.startMaintenance()
      return store
    } catch {
      throw PostgreSQLOpenError(describing: error)
    }
  }

  private init(
    _ opener: DatabaseOpener, _ connection: PostgreSQLConnection, node: NodeRegistration?, _ folding: MessageFolding?,
    logger: Logger
  ) {
    let options = opener.options
    self.opener = opener
    self.options = options
    self.node = node
    self.folding = folding
    self.logger = logger
    let connect: @Sendable () throws(PostgreSQLError) -> PostgreSQLConnection = { () throws(PostgreSQLError) in
      try opener.connect()
    }
    let connectWriter: @Sendable () throws(PostgreSQLError) -> PostgreSQLConnection = { () throws(PostgreSQLError) in
      try opener.connect(for: .writing)
    }
    let retention = Retention(options)
    let writer = Writer(
      connection, node: node?.number, connect: connectWriter, backlog: options.history.isEmpty ? nil : retention.backlog,
      options: options, logger: logger)
    self.writer = writer
    self.retention = retention
    let beside = writer.connections
    readers = ConnectionPool((1...max(1, options.readers)).map { ReadingConnection("reader\($0)", beside: beside, connect) })
    readScheduler = ReadScheduler(readers: max(1, options.readers))
    signIns = ReadingConnection("signins", beside: beside, connect)
    searches = SearchQueue(
      connection: ReadingConnection("searches", beside: beside) { () throws(PostgreSQLError) in
        try opener.connect(for: .searching)
      }, maxCount: options.queuedSearches, maxCountPerReader: options.queuedSearchesPerReader)
    maintenance = PostgreSQLMaintenance(writer: writer, node: node, connect: connect, options: options, logger: logger)
    cleanup = PostgreSQLCleanup(writer: writer, retention: retention, connect: connect, options: options, logger: logger)
  }

  private static func checkMigration(_ connection: PostgreSQLConnection) throws {
    guard try PostgreSQLImport.isUnfinished(connection) else { return }
    throw PostgreSQLOpenError(
      .locked, "a migration into this database is not finished: run throng migrate again, or begin with an empty one")
  }

  /// - Returns: how messages are searched; nil = they are not.
  private static func prepareIndex(
    _ connection: PostgreSQLConnection, _ opener: DatabaseOpener, _ logger: Logger
  ) throws -> MessageFolding? {
    let folding = opener.options.indexesMessages ? try MessageFolding(connection) : nil
    guard try MessageTextIndex.prepare(connection, folding, logger), let folding else { return folding }
    MessageTextIndex.build(folding, logger) { () throws(PostgreSQLError) in try opener.connect(for: .building) }
    return folding
  }

  private func startMaintenance() {
    guard let interval = options.maintenanceInterval else { return }
    maintenance.start(every: interval)
    cleanup.start(every: interval)
  }

  /// How many reads wait for their turn.
  package var waitingReads: Int { readScheduler.waitingCount + signInScheduler.waitingCount }
  /// How many searches run or wait.
  package var openSearches: Int { searches.count }
  /// How many groups background work has noted, because they got messages.
  package var notedGroups: Int { retention.backlog.count }
  /// How many users are remembered as being in the database for certain.
  package var rememberedUsers: Int { durableUsers.withLock { $0.count } }

  package var engineOptions: EngineOptions { options.engine }
  package var core: WriterCore { writer.core }

  package func waitForFates() async throws(StoreError) { try await writer.waitForFates() }

  /// Enqueues the commit; pending commits share one transaction, and completions follow it in
  /// order.
  package func commit(_ commit: Commit) { writer.commit(commit) }

  /// Waits until every commit has been answered, apart from those of which nobody can say whether they
  /// are durable, and those behind them; then leaves the database. Later commits and reads are
  /// `.unavailable`. Blocks; a second call does nothing.
  package func close() {
    guard writer.queue.close() else { return }
    cleanup.stop()
    maintenance.stop()
    writer.finish()
    readers.close()
    signIns.close()
    searches.connection.close()
    lease.withLock { $0 }?.close()
  }

  // MARK: Several nodes

  /// Makes the lease of this process, once; `LeaseEngine.start` joins.
  package func makeLease() -> LeaseEngine {
    let opener = opener
    let lease = PostgreSQLLease(leaseDuration: options.leaseDuration, clocks: options.databaseClocks, logger: logger) {
      () throws(PostgreSQLError) in try opener.connect(for: .leasing)
    }
    self.lease.withLock { $0 = lease }
    let engine = LeaseEngine(
      lease, leaseDuration: options.leaseDuration, clocks: options.clocks, alarms: options.alarms, logger: logger)
    (options.leadership as? MembershipLeadership)?.follow(engine, clocks: options.clocks)
    writer.use(CommitFence(engine))
    engine.onLease { [writer] node in writer.use(node: node?.rawValue) }
    return engine
  }

  /// Ends the sessions that were left by nodes which have gone, where no other node is there. Call
  /// it before the node serves.
  package func endFormerSessions() throws(PostgreSQLOpenError) {
    do {
      try writer.begin(sessionsEndedAt: options.clocks.wall)
    } catch {
      throw PostgreSQLOpenError(describing: error)
    }
  }

  /// Makes a bus over this database, for clusters without another one.
  package func makeBus() throws(PostgreSQLOpenError) -> PostgreSQLBus {
    let opener = opener
    do {
      return try PostgreSQLBus(scope: options.schema ?? "throng", logger: logger) { () throws(PostgreSQLError) in
        try opener.connect()
      }
    } catch {
      throw PostgreSQLOpenError(describing: error)
    }
  }

  /// Nodes, shards and the age of heartbeats, for operators. Blocks.
  package func clusterContents() throws -> LeaseContents { try withLease { try $0.read() } }

  /// Marks a node as draining, which it sees itself. Blocks.
  /// - Parameters:
  ///   - name: the node's, or its number.
  ///   - evenLast: also where no other node would serve.
  package func requestDrain(of name: String, evenLast: Bool) throws -> DrainOutcome {
    try withLease { try $0.requestDrain(of: name, evenLast: evenLast) }
  }

  /// A connection of its own: that of the lease belongs to the thread of the engine.
  private func withLease<Value>(_ body: (PostgreSQLLease) throws -> Value) throws -> Value {
    let opener = opener
    let lease = PostgreSQLLease(leaseDuration: options.leaseDuration, clocks: options.databaseClocks, logger: logger) {
      () throws(PostgreSQLError) in try opener.connect(for: .leasing)
    }
    defer { lease.close() }
    return try body(lease)
  }

  package func read<Value: Sendable>(
    _ isolation: ReadIsolation = .snapshot, _ body: @escaping @Sendable (PostgreSQLConnection) throws -> Value
  ) async throws(StoreError) -> Value {
    try checkOpen()
    return try await readScheduler.run(for: Requester.current) { () async throws(StoreError) in
      try await readers.read(isolation, body).get()
    }
  }

  /// Users take turns: one in very many live rooms may sign in with many sessions.
  func readForSignIn<Value: Sendable>(
    of user: UserID, _ body: @escaping @Sendable (PostgreSQLConnection) throws -> Value
  ) async throws(StoreError) -> Value {
    try checkOpen()
    return try await signInScheduler.run(for: Requester(user)) { () async throws(StoreError) in
      try await signIns.read(.snapshot, body).get()
    }
  }

  package func readForSearch<Value: Sendable>(
    of reader: UserID?, _ body: @escaping @Sendable (PostgreSQLConnection) throws -> Value
  ) async throws(StoreError) -> Value {
    try checkOpen()
    return try await searches.run(for: reader, logger) { connection throws(StoreError) in
      try await connection.read(.snapshot, body).get()
    }
  }

  func checkOpen() throws(StoreError) {
    if writer.queue.isClosed { throw StoreError(.unavailable, "the store is closed") }
  }
}
