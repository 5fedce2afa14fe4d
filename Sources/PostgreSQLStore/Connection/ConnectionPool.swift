import Dispatch
import GroupRuntime
import StoreEngine
import Synchronization

/// Counts the connections that the writer has made. After a failover its next one may lead to
/// another server: what was read from the old one could be stale.
final class WriterConnections: Sendable {
  private let made = Atomic(0)

  var count: Int { made.load(ordering: .acquiring) }

  func noteNew() { made.add(1, ordering: .acquiringAndReleasing) }
}

extension ReadIsolation {
  func run<Value>(_ connection: PostgreSQLConnection, _ body: (PostgreSQLConnection) throws -> Value) throws -> Value {
    if self == .snapshot { return try connection.inSnapshot(body) }
    let before = connection.statementCount
    let value = try body(connection)
    assert(connection.statementCount - before <= 1, "a read of several statements needs a snapshot")
    return value
  }
}

/// A connection with a thread of its own, made again when it is lost, or when the writer has a new
/// one.
final class ReadingConnection: @unchecked Sendable {
  private let queue: DispatchQueue
  private let connect: @Sendable () throws(PostgreSQLError) -> PostgreSQLConnection
  /// @unchecked: used on `queue` only.
  private var connection: PostgreSQLConnection?
  private let writerConnections: WriterConnections
  /// Those that the writer had when this connection was made.
  private var seenWriterConnections = 0

  init(
    _ name: String, beside writerConnections: WriterConnections,
    _ connect: @escaping @Sendable () throws(PostgreSQLError) -> PostgreSQLConnection
  ) {
    queue = DispatchQueue(label: "throng.store.\(name)")
    self.writerConnections = writerConnections
    self.connect = connect
  }

  /// Runs a body that only reads. A connection that was lost since its last use is replaced, and
  /// the body runs again.
  func read<Value: Sendable>(
    _ isolation: ReadIsolation = .snapshot, _ body: @escaping @Sendable (PostgreSQLConnection) throws -> Value
  ) async -> Result<Value, StoreError> {
    await withCheckedContinuation { continuation in
      queue.async {
        let outcome = Result { try self.perform { try isolation.run($0, body) } }
        continuation.resume(returning: outcome.mapError(StoreError.init(describing:)))
      }
    }
  }

  private func perform<Value>(_ body: (PostgreSQLConnection) throws -> Value) throws -> Value {
    let count = writerConnections.count
    if seenWriterConnections != count { connection = nil }
    seenWriterConnections = count
    let kept = connection
    let current = try kept ?? connect()
    connection = current
    do {
      return try body(current)
    } catch let error as PostgreSQLError where error.isLost {
      connection = nil
      guard kept != nil else { throw error }
      let renewed = try connect()
      connection = renewed
      return try body(renewed)
    }
  }

  /// Closes the connection behind what is being read.
  func close() { queue.sync { connection = nil } }
}

/// The connections that most reads share.
final class ConnectionPool: Sendable {
  private let all: [ReadingConnection]
  private let idle: Mutex<[ReadingConnection]>

  init(_ connections: [ReadingConnection]) {
    all = connections
    idle = Mutex(connections)
  }

  /// Reads with an idle connection. `ReadScheduler` lets no more reads run than there are
  /// connections; beyond them a read waits behind another.
  func read<Value: Sendable>(
    _ isolation: ReadIsolation, _ body: @escaping @Sendable (PostgreSQLConnection) throws -> Value
  ) async -> Result<Value, StoreError> {
    let taken = idle.withLock { $0.popLast() }
    let result = await (taken ?? all[0]).read(isolation, body)
    if let taken { idle.withLock { $0.append(taken) } }
    return result
  }

  func close() { for connection in all { connection.close() } }
}
