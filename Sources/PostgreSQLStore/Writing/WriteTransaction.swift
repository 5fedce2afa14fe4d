import GroupRuntime
import StoreEngine

/// A transaction whose statements are sent without waiting. Some fail by themselves where the stored
/// rows contradict them; of the others the counts are checked before COMMIT is sent.
final class WriteTransaction: ChangeWriter {
  private enum Check {
    case none
    /// One row was changed or returned; otherwise the text says what is wrong.
    case one(() -> String)
    case result((StatementResult) throws -> Void)
  }

  let connection: PostgreSQLConnection
  let appends = WebhookAppends()
  var appendedCount: Int { appends.entries.count }
  /// Written at the end of the transaction, and of a body of `apart`.
  var stamps = PendingStamps()
  private var checks: [Check] = []
  private var needsCheck = false
  /// COMMIT was sent: what has failed since may be durable.
  private(set) var isCommitSent = false

  /// Begins with the fence.
  init(_ connection: PostgreSQLConnection, node: Int64, batch: Int64) throws(PostgreSQLError) {
    self.connection = connection
    try send("BEGIN", .none) { _ in }
    try send("SELECT throng_fence($1, $2)", .none) { arguments in
      arguments.append(node)
      arguments.append(batch)
    }
  }

  private func send(
    _ sql: String, _ check: Check, _ bind: (inout StatementArguments) -> Void
  ) throws(PostgreSQLError) {
    checks.append(check)
    try connection.send(sql, bind)
  }

  /// Sends a statement that fails by itself, or whatever it finds is right.
  func run(_ sql: String, binding bind: (inout StatementArguments) throws -> Void) throws {
    try connection.send(sql, encoding: bind)
    checks.append(.none)
  }

  func run(_ sql: String, _ values: [any StatementValue]) throws(PostgreSQLError) {
    try send(sql, .none) { for value in values { value.append(to: &$0) } }
  }

  /// Sends a statement that must change or return one row.
  /// - Parameter otherwise: what is wrong where it does not.
  func runForOne(
    _ sql: String, _ values: [any StatementValue], otherwise: @escaping () -> String
  ) throws(PostgreSQLError) {
    needsCheck = true
    try send(sql, .one(otherwise)) { for value in values { value.append(to: &$0) } }
  }

  /// Sends a statement that must change or return one row.
  /// - Parameter otherwise: what is wrong where it does not.
  func runForOne(
    _ sql: String, binding bind: (inout StatementArguments) throws -> Void, otherwise: @escaping () -> String
  ) throws {
    needsCheck = true
    try connection.send(sql, encoding: bind)
    checks.append(.one(otherwise))
  }

  /// Sends a statement whose result is looked at before anybody hears of the transaction.
  func run(
    _ sql: String, _ values: [any StatementValue], then body: @escaping (StatementResult) throws -> Void
  ) throws(PostgreSQLError) {
    try send(sql, .result(body)) { for value in values { value.append(to: &$0) } }
  }

  /// Waits for what was sent so far, and reads inside the transaction.
  func rows<Value>(
    _ sql: String, _ values: [any StatementValue], _ make: (inout RowReader) throws -> Value
  ) throws -> [Value] {
    try check()
    return try connection.rows(sql, values, make)
  }

  /// Waits for what was sent so far.
  /// - Throws: the first failure: `PostgreSQLError`, or `StoreError` `.inconsistent`.
  func check() throws {
    let sent = checks
    (checks, needsCheck) = ([], false)
    for (check, result) in zip(sent, try connection.finish()) {
      switch check {
      case .none: break
      case .one(let otherwise): if result.changedCount != 1 { throw StoreError(.inconsistent, otherwise()) }
      case .result(let body): try body(result)
      }
    }
  }

  func apart(_ body: () throws -> Void) throws -> StoreError? {
    try run("SAVEPOINT apart", [])
    try check()
    // Those of the body go with it where it is taken back.
    let others = stamps
    stamps = PendingStamps()
    defer { stamps = others }
    do {
      try body()
      try writeStamps()
      try check()
      try run("RELEASE SAVEPOINT apart", [])
      return nil
    } catch {
      let failure = StoreError(describing: error)
      if failure.kind == .unavailable { throw error }
      forgetSent()
      try run("ROLLBACK TO SAVEPOINT apart", [])
      try check()
      return failure
    }
  }

  /// Makes everything durable. COMMIT is sent with the statements if they fail by themselves.
  func commit() throws {
    try writeStamps()
    if needsCheck { try check() }
    try send("COMMIT", .none) { _ in }
    isCommitSent = true
    try check()
  }

  /// Passes over the results of what was sent before something failed.
  func forgetSent() {
    (checks, needsCheck) = ([], false)
    _ = try? connection.finish()
  }

  /// Ends a transaction that has failed. A connection that cannot be used any more does it by itself.
  func rollBack() { _ = try? connection.run("ROLLBACK") }
}
