import Dispatch
import GroupModel
import Logging
import StoreTables

/// Writes batches into rows, and notifies of them, on a connection of its own.
final class BusPublisher: @unchecked Sendable {
  private let connect: @Sendable () throws(PostgreSQLError) -> PostgreSQLConnection
  /// @unchecked: these are used by the bus' sender only.
  private var connection: PostgreSQLConnection?
  private let publisher = Int64.random(in: 1 ... .max)
  private var lastNumber: Int64 = 0
  private var retention = RowRetention()

  init(_ connect: @escaping @Sendable () throws(PostgreSQLError) -> PostgreSQLConnection) { self.connect = connect }

  /// Connects.
  func begin() throws(PostgreSQLError) {
    let made = try connect()
    // A lost message is as good as one that the network loses.
    try made.run("SET synchronous_commit = off")
    connection = made
  }

  /// Publishes batches in one transaction.
  func send(_ batches: [(channel: String, batch: BusBatch)]) throws(PostgreSQLError) {
    guard let current = connection else { throw PostgreSQLError(state: nil, message: "not connected") }
    do throws(PostgreSQLError) {
      try current.send("BEGIN") { _ in }
      for (channel, batch) in batches {
        lastNumber += 1
        let notification = BusNotification(publisher: publisher, number: lastNumber)
        try current.send("INSERT INTO busMessage (publisher, number, data) VALUES ($1, $2, $3)") { arguments in
          arguments.append(publisher)
          arguments.append(lastNumber)
          arguments.append(bytes: batch.bytes)
        }
        try current.send("SELECT pg_notify($1, $2)") { arguments in
          arguments.append(channel)
          arguments.append(notification.text)
        }
      }
      try current.send("COMMIT") { _ in }
      _ = try current.finish()
      try cleanUp(current)
    } catch {
      connection = nil
      throw error
    }
  }

  private func cleanUp(_ current: PostgreSQLConnection) throws(PostgreSQLError) {
    let now = DispatchTime.now().uptimeNanoseconds
    if let last = retention.lastOldNumber(before: now, lastNumber: lastNumber) {
      try current.run("DELETE FROM busMessage WHERE publisher = $1 AND number <= $2", [publisher, last])
    }
    guard retention.mustLookForOthers(at: now) else { return }
    try removeAbandoned(current)
  }

  /// Removes what other processes have left: rows that were there at the last look, too.
  private func removeAbandoned(_ current: PostgreSQLConnection) throws(PostgreSQLError) {
    for (other, number) in retention.others {
      try current.run("DELETE FROM busMessage WHERE publisher = $1 AND number <= $2", [other, number])
    }
    do {
      let found = try current.rows(
        "SELECT publisher, max(number) FROM busMessage WHERE publisher <> $1 GROUP BY publisher", [publisher]
      ) { row in (try row.integer(), try row.integer()) }
      retention.others = Dictionary(uniqueKeysWithValues: found)
    } catch let error as PostgreSQLError {
      throw error
    } catch {
      retention.others = [:]
    }
  }
}

/// Which rows are old enough to be removed, by the monotonic clock: the database's may step.
private struct RowRetention {
  /// Receivers that need longer for a row have lost it.
  private static let seconds: UInt64 = 10
  private static let second: UInt64 = 1_000_000_000

  /// The last number of each second that has passed.
  private var marks: [(time: UInt64, number: Int64)] = []
  private var lastLook = DispatchTime.now().uptimeNanoseconds
  /// The last row of each other publisher at the last look.
  var others: [Int64: Int64] = [:]

  /// Notes the last number, once a second.
  /// - Returns: the last number that is old enough, where there is a new one.
  mutating func lastOldNumber(before now: UInt64, lastNumber: Int64) -> Int64? {
    guard marks.last.map({ now - $0.time >= Self.second }) ?? true else { return nil }
    marks.append((now, lastNumber))
    let old = marks.prefix { now - $0.time > Self.seconds * Self.second }
    marks.removeFirst(old.count)
    return old.last?.number
  }

  /// Whether three retentions have passed since the last time.
  mutating func mustLookForOthers(at now: UInt64) -> Bool {
    guard now - lastLook > 3 * Self.seconds * Self.second else { return false }
    lastLook = now
    return true
  }
}

/// Reads rows of batches, on the thread of the listener.
final class BusRowReader: @unchecked Sendable {
  private let connect: @Sendable () throws(PostgreSQLError) -> PostgreSQLConnection
  /// @unchecked: used by the listener's thread only.
  private var connection: PostgreSQLConnection?
  /// The most rows of one query: each may be long.
  static let maxRows = 64

  init(_ connect: @escaping @Sendable () throws(PostgreSQLError) -> PostgreSQLConnection) { self.connect = connect }

  /// The rows that are there; nil where they could not be read.
  /// - Parameter keys: up to `maxRows`, each once.
  func rows(_ keys: [BusNotification], _ logger: Logger) -> [BusNotification: [UInt8]]? {
    // A connection of before may have been cut off together with the others.
    let hasOld = connection != nil
    do {
      return try read(keys)
    } catch {
      connection = nil
      if hasOld, let found = try? read(keys) { return found }
      connection = nil
      logger.warning("messages of the bus were lost", metadata: ["error": "\(error)"])
      return nil
    }
  }

  private func read(_ keys: [BusNotification]) throws -> [BusNotification: [UInt8]] {
    let current = try connection ?? connect()
    connection = current
    let found = try current.rows(
      """
      SELECT m.publisher, m.number, m.data FROM unnest($1, $2) AS wanted(publisher, number)
      JOIN busMessage AS m ON m.publisher = wanted.publisher AND m.number = wanted.number
      """, [keys.map(\.publisher), keys.map(\.number)]
    ) { row in (BusNotification(publisher: try row.integer(), number: try row.integer()), try row.value([UInt8].self)) }
    return Dictionary(uniqueKeysWithValues: found)
  }
}
