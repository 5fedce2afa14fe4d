import Dispatch
import GroupModel
import GroupRuntime
import Logging
import StoreEngine
import Synchronization

/// The work of about every half second: the sign of life, and users that wait to become durable.
final class PostgreSQLMaintenance: @unchecked Sendable {
  private let writer: Writer
  /// Nil = the engine of the lease shows life.
  private let node: NodeRegistration?
  private let connect: @Sendable () throws(PostgreSQLError) -> PostgreSQLConnection
  private let options: PostgreSQLOptions
  private let logger: Logger
  private let queue = DispatchQueue(label: "throng.store.maintenance")
  private let isStopped = Atomic<Bool>(false)
  /// @unchecked: used on `queue` only.
  private var connection: PostgreSQLConnection?

  init(
    writer: Writer, node: NodeRegistration?, connect: @escaping @Sendable () throws(PostgreSQLError) -> PostgreSQLConnection,
    options: PostgreSQLOptions, logger: Logger
  ) {
    self.writer = writer
    self.node = node
    self.connect = connect
    self.options = options
    self.logger = logger
  }

  /// Ticks until `stop()` or the end of this object.
  func start(every interval: Duration) {
    options.alarms.schedule(at: options.clocks.monotonic + interval, on: queue) { [weak self] in
      guard let self, !self.isStopped.load(ordering: .acquiring) else { return }
      self.tick()
      self.start(every: interval)
    }
  }

  /// One round, for tests that schedule none.
  func runRound() { queue.sync { tick() } }

  private func tick() {
    renew()
    writer.tick()
  }

  private func renew() {
    // A node of a cluster has its lease instead.
    guard let node else { return }
    do {
      let current = try connection ?? connect()
      connection = current
      if try !node.renew(current) { writer.didRemoveNode() }
    } catch {
      // The writer tells whether the database can be used.
      connection = nil
    }
  }

  /// Ends the ticks, waits for one that is running, and tells others that this process has ended.
  func stop() {
    isStopped.store(true, ordering: .releasing)
    queue.sync {
      do {
        if let node { try node.leave(try connection ?? connect()) }
      } catch {
        logger.warning("the database was not left cleanly", metadata: ["error": "\(StoreError(describing: error))"])
      }
      connection = nil
    }
  }
}
