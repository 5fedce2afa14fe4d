import CPostgreSQL
import DequeModule
import GroupModel
import GroupRuntime
import StoreTables

/// A connection with its prepared statements. One thread at a time uses it.
package final class PostgreSQLConnection {
  private enum Sent {
    case preparation(String)
    case statement
  }

  private let handle: OpaquePointer
  /// The names of prepared statements, by their texts. Those of a failed preparation are removed.
  private var names: [String: String] = [:]
  private var lastName = 0
  /// Statements that were sent since the last sync and have no result yet.
  private var sent: Deque<Sent> = []
  /// Syncs that were sent and have no answer yet: the end of a snapshot is not waited for.
  private var openSyncs = 0
  /// How many statements were sent, so that a read of one statement can be told from others.
  private(set) var statementCount = 0
  private var arguments = StatementArguments()
  /// How long the server may take for an answer.
  private let timeout: Int32

  /// Connects. Blocks for up to five seconds.
  /// - Parameters:
  ///   - options: settings of the session, by name.
  ///   - timeout: in milliseconds, for each answer; longer than the server's own timeouts.
  init(_ url: String, options: [(name: String, value: String)], timeout: Int) throws(PostgreSQLError) {
    guard let handle = cpg_connect(url, 5) else {
      throw PostgreSQLError(state: nil, message: "out of memory")
    }
    self.handle = handle
    self.timeout = Int32(clamping: timeout)
    guard cpg_is_open(handle) else { throw lost() }
    try set(options)
  }

  /// By a statement: those of libpq's `options` give way to the `options` of the URL.
  private func set(_ options: [(name: String, value: String)]) throws(PostgreSQLError) {
    if options.isEmpty { return }
    let calls = options.indices.map { "set_config($\(2 * $0 + 1), $\(2 * $0 + 2), false)" }
    try run("SELECT " + calls.joined(separator: ", "), options.flatMap { [$0.name, $0.value] })
  }

  deinit { cpg_close(handle) }

  /// Whether it can still be used.
  var isOpen: Bool { cpg_is_open(handle) }

  /// 150018 for 15.18.
  var serverVersion: Int { Int(cpg_server_version(handle)) }

  /// The server's process for this connection.
  var backend: Int64 { Int64(cpg_backend_pid(handle)) }

  private func lost() -> PostgreSQLError {
    let text = String(cString: cpg_error(handle)).split(separator: "\n").first.map(String.init)
    return PostgreSQLError(state: nil, message: text ?? "no answer in time")
  }

  // MARK: A pipeline of statements

  /// Sends a statement that stays prepared, without waiting.
  func send(_ sql: String, _ bind: (inout StatementArguments) -> Void) throws(PostgreSQLError) {
    arguments.removeAll()
    bind(&arguments)
    try send(sql)
  }

  /// Sends a statement that stays prepared, without waiting.
  /// - Parameter encode: appends values that may be none of their columns'.
  func send(_ sql: String, encoding encode: (inout StatementArguments) throws -> Void) throws {
    arguments.removeAll()
    try encode(&arguments)
    try send(sql)
  }

  private func send(_ sql: String) throws(PostgreSQLError) {
    let name = try preparedName(sql)
    let isSent = arguments.bytes.withUnsafeBytes { bytes in
      cpg_send_execute(
        handle, name, Int32(arguments.count), bytes.baseAddress?.assumingMemoryBound(to: CChar.self), arguments.lengths)
    }
    guard isSent else { throw lost() }
    sent.append(.statement)
    statementCount += 1
  }

  private func preparedName(_ sql: String) throws(PostgreSQLError) -> String {
    if let name = names[sql] { return name }
    lastName += 1
    let name = "s\(lastName)"
    guard cpg_send_prepare(handle, name, sql, Int32(arguments.count), arguments.types) else { throw lost() }
    sent.append(.preparation(sql))
    names[sql] = name
    return name
  }

  /// Waits for the results of all statements sent, in their order.
  /// - Throws: the first failure. The connection can be used afterwards, unless it is lost.
  func finish() throws(PostgreSQLError) -> [StatementResult] {
    try sendSync()
    var results: [StatementResult] = []
    var failure: PostgreSQLError?
    while true {
      var found: OpaquePointer?
      switch cpg_wait(handle, timeout, &found) {
      case CPG_RESULT:
        guard let found else { throw lost() }
        let result = StatementResult(found)
        if case .statement = sent.popFirst() { results.append(result) }
      case CPG_FAILED:
        guard let found else { throw lost() }
        let error = PostgreSQLError(
          state: String(cString: cpg_sqlstate(found)), message: String(cString: cpg_message(found)))
        cpg_free(found)
        forget(sent.popFirst())
        // An error without a state is libpq's own: the connection is gone.
        guard isOpen, error.state?.isEmpty == false else { throw lost() }
        failure = failure ?? error
      case CPG_SKIPPED: forget(sent.popFirst())
      case CPG_SYNC:
        openSyncs -= 1
        guard openSyncs == 0 else {
          // What belongs to an earlier sync concerns nobody any more.
          (results, failure) = ([], nil)
          continue
        }
        if let failure { throw failure }
        return results
      default: throw lost()
      }
    }
  }

  private func sendSync() throws(PostgreSQLError) {
    guard cpg_send_sync(handle) else { throw lost() }
    openSyncs += 1
  }

  private func forget(_ sent: Sent?) {
    if case .preparation(let sql) = sent { names[sql] = nil }
  }

  // MARK: One snapshot

  /// Runs a body that only reads, and whose statements all see the database of one instant.
  func inSnapshot<Value>(_ body: (PostgreSQLConnection) throws -> Value) throws -> Value {
    try send("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") { _ in }
    // With the first statement it travels at no cost, and nobody waits for the end.
    defer {
      do throws(PostgreSQLError) {
        try send("COMMIT") { _ in }
        try sendSync()
      } catch {
        // The connection is lost, which the next use finds out.
      }
    }
    return try body(self)
  }

  // MARK: One statement

  /// Runs a statement and waits for its result.
  @discardableResult
  func run(_ sql: String, _ values: [any StatementValue] = []) throws(PostgreSQLError) -> StatementResult {
    try send(sql) { for value in values { value.append(to: &$0) } }
    guard let result = try finish().last else { throw lost() }
    return result
  }

  /// The rows of a query, each converted into a value.
  func rows<Value>(
    _ sql: String, _ values: [any StatementValue], _ make: (inout RowReader) throws -> Value
  ) throws -> [Value] {
    try run(sql, values).map(make)
  }

  /// The rows of a query, each converted into a value.
  /// - Parameter encode: appends the arguments.
  func rows<Value>(
    _ sql: String, encoding encode: (inout StatementArguments) throws -> Void, _ make: (inout RowReader) throws -> Value
  ) throws -> [Value] {
    try send(sql, encoding: encode)
    guard let result = try finish().last else { throw lost() }
    return try result.map(make)
  }

  /// The single number that a query returns.
  func count(_ sql: String, _ values: [any StatementValue]) throws -> Int {
    try rows(sql, values) { try $0.value(Int.self) }.first ?? 0
  }

  package func number(of group: GroupID) throws -> Int64? {
    try rows("SELECT number FROM groupRecord WHERE groupID = $1", [group.rawValue]) { try $0.integer() }.first
  }

  /// Runs several statements without arguments.
  func runScript(_ sql: String) throws(PostgreSQLError) {
    var found: OpaquePointer?
    let outcome = cpg_run_script(handle, sql, &found)
    if outcome == CPG_RESULT { return }
    guard let found else { throw lost() }
    defer { cpg_free(found) }
    throw PostgreSQLError(state: String(cString: cpg_sqlstate(found)), message: String(cString: cpg_message(found)))
  }

  // MARK: Notifications

  /// Waits until something has come from the server, or a descriptor can be read.
  func waitForInput(orWake descriptor: Int32, milliseconds: Int32) throws(PostgreSQLError) {
    guard cpg_wait_for_input(handle, descriptor, milliseconds) else { throw lost() }
  }

  /// The notifications that have come, in the order of their commits.
  func notifications() -> [(channel: String, payload: String)] {
    var found: [(channel: String, payload: String)] = []
    while let next = cpg_next_notification(handle) {
      found.append((String(cString: cpg_channel(next)), String(cString: cpg_payload(next))))
      cpg_free_notification(next)
    }
    return found
  }
}
