import Dispatch
import GroupModel
import Logging

/// Writes batches on a connection of its own: the small ones into notifications, the others into rows.
final class BusPublisher: @unchecked Sendable {
  private let connect: @Sendable () throws(PostgreSQLError) -> PostgreSQLConnection
  /// @unchecked: these are used by the bus' sender only.
  private var connection: PostgreSQLConnection?
  private let publisher = Int64.random(in: 1 ... .max)
  private var lastNumber: Int64 = 0
  private var lastCleanup = DispatchTime.now().uptimeNanoseconds
  /// Receivers that need longer for a row have lost it.
  private static let retention = "interval '30 seconds'"
  private static let cleanupInterval: UInt64 = 5_000_000_000

  init(_ connect: @escaping @Sendable () throws(PostgreSQLError) -> PostgreSQLConnection) { self.connect = connect }

  /// Connects, and removes what ended processes have left.
  func begin() throws(PostgreSQLError) {
    let made = try connect()
    // A lost message is as good as one that the network loses.
    try made.run("SET synchronous_commit = off")
    try cleanUp(made)
    connection = made
  }

  private func cleanUp(_ connection: PostgreSQLConnection) throws(PostgreSQLError) {
    try connection.run("DELETE FROM busMessage WHERE time < clock_timestamp() - \(Self.retention)")
    lastCleanup = DispatchTime.now().uptimeNanoseconds
  }

  /// Publishes batches in one transaction.
  func send(_ batches: [(channel: String, batch: BusBatch)]) throws(PostgreSQLError) {
    guard let current = connection else { throw PostgreSQLError(state: nil, message: "not connected") }
    do throws(PostgreSQLError) {
      try current.send("BEGIN") { _ in }
      var hasRows = false
      for (channel, batch) in batches {
        var notification = BusNotification(batch: batch.bytes)
        if batch.bytes.count > BusNotification.maxBatchBytes {
          lastNumber += 1
          notification = BusNotification(publisher: publisher, number: lastNumber)
          hasRows = true
          try current.send("INSERT INTO busMessage (publisher, number, data) VALUES ($1, $2, $3)") { arguments in
            arguments.append(publisher)
            arguments.append(lastNumber)
            arguments.append(bytes: batch.bytes)
          }
        }
        try current.send("SELECT pg_notify($1, $2)") { arguments in
          arguments.append(channel)
          arguments.append(notification.text)
        }
      }
      try current.send("COMMIT") { _ in }
      _ = try current.finish()
      let age = DispatchTime.now().uptimeNanoseconds - lastCleanup
      if hasRows, age > Self.cleanupInterval { try cleanUp(current) }
    } catch {
      connection = nil
      throw error
    }
  }
}

/// Reads rows of batches, on the thread of the listener.
final class BusRowReader: @unchecked Sendable {
  struct Key: Hashable {
    let publisher: Int64
    let number: Int64
  }

  private let connect: @Sendable () throws(PostgreSQLError) -> PostgreSQLConnection
  /// @unchecked: used by the listener's thread only.
  private var connection: PostgreSQLConnection?

  init(_ connect: @escaping @Sendable () throws(PostgreSQLError) -> PostgreSQLConnection) { self.connect = connect }

  /// The rows that are there. A failure is a loss of all: the subscribers hear of a gap.
  func rows(_ keys: [Key], _ logger: Logger) -> [Key: [UInt8]] {
    do {
      let current = try connection ?? connect()
      connection = current
      let found = try current.rows(
        """
        SELECT m.publisher, m.number, m.data FROM unnest($1, $2) AS wanted(publisher, number)
        JOIN busMessage AS m ON m.publisher = wanted.publisher AND m.number = wanted.number
        """, [keys.map(\.publisher), keys.map(\.number)]
      ) { row in (Key(publisher: try row.integer(), number: try row.integer()), try row.bytes()) }
      return Dictionary(uniqueKeysWithValues: found)
    } catch {
      connection = nil
      logger.warning("messages of the bus were lost", metadata: ["error": "\(error)"])
      return [:]
    }
  }
}
