import Dispatch
import GRDB
import Logging
import Synchronization

/// What happens about once a second beside the writer: the log is carried into the database, and the writer is told the time.
final class Housekeeping: Sendable {
  private let writer: Writer
  // A connection of its own: on the writer's, a checkpoint would hold every commit up.
  private let connection: DatabaseQueue
  private let queue = DispatchQueue(label: "throng.store.housekeeping")
  private let isStopped = Atomic<Bool>(false)
  private let checkpoints = Atomic<Bool>(true)
  private let logger: Logger

  init(writer: Writer, connection: DatabaseQueue, logger: Logger) {
    self.writer = writer
    self.connection = connection
    self.logger = logger
  }

  /// Begins to tick, until `stop()` or the end of this object.
  func start(every interval: DispatchTimeInterval) {
    queue.asyncAfter(deadline: .now() + interval) { [weak self] in
      guard let self, !self.isStopped.load(ordering: .acquiring) else { return }
      self.tick()
      self.start(every: interval)
    }
  }

  func tick() {
    writer.tick(resumePurge: false)
    do {
      _ = try connection.writeWithoutTransaction { try $0.checkpoint(.passive) }
      checkpoints.store(true, ordering: .relaxed)
    } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
      // The writer does it itself just now.
    } catch {
      if checkpoints.exchange(false, ordering: .relaxed) {
        logger.warning("checkpoint failed", metadata: ["error": "\(error)"])
      }
    }
  }

  /// Ticks no more, waits for a tick under way and closes the connection.
  func stop() {
    isStopped.store(true, ordering: .releasing)
    queue.sync {}
    do {
      try connection.close()
    } catch {
      logger.warning("closing the checkpoint connection failed", metadata: ["error": "\(error)"])
    }
  }
}
