import GRDB
import GroupModel
import GroupRuntime
import Logging
import StoreEngine

extension MaintenanceTask {
  /// The tasks that bound their transactions in time, the most important first.
  static let brief: [MaintenanceTask] = [.removeMessages, .indexMessages, .shrinkFile]

  var isBrief: Bool { MaintenanceTask.brief.contains(self) }
}

extension Writer {
  func probe(_ db: Database) {
    do {
      _ = try transaction(db) { try fillProbe(db) }
      _ = try transaction(db) { try clearProbe(db) }
      noteSuccess()
    } catch {
      logger.debug("the store still cannot write", metadata: ["error": "\(error)"])
    }
  }

  // Needs new pages as a message does: an existing page could be written on a full disk too.
  func fillProbe(_ db: Database) throws { try db.run("UPDATE probe SET room = zeroblob(65536)", []) }

  func clearProbe(_ db: Database) throws { try db.run("UPDATE probe SET room = x''", []) }

  /// Does one chunk of a task.
  func perform(_ task: MaintenanceTask, _ db: Database) {
    do {
      var isMore = false
      _ = try transaction(db) { isMore = try self.chunk(of: task, db) }
      if !isMore { queue.remove(task) }
    } catch {
      giveUp(task, after: error)
    }
  }

  /// It goes on when the store writes again, at the next round, or at the next start.
  func giveUp(_ task: MaintenanceTask, after error: StoreError) {
    queue.remove(task)
    if error.kind == .unavailable { core.note(failure: error) }
    logger.warning("clearing away was interrupted", metadata: ["task": "\(task.rawValue)", "error": "\(error)"])
  }

  private func chunk(of task: MaintenanceTask, _ db: Database) throws -> Bool {
    switch task {
    case .clearDisbandedGroups:
      background.setMayBeStale(true)
      return try DisbandedGroupCleanup.chunk(of: options.cleanupRows, in: db)
    case .indexWebhooks:
      return try WebhookIndexing.chunk(of: options.cleanupRows, through: webhookNumbers.lastToIndex, in: db)
    case .clearReactions: return try ReactionRows.clearGone(options.cleanupRows, in: db)
    case .deleteExpiredRows:
      return try ExpiredRowCleanup.chunk(
        of: options.cleanupRows, at: options.clocks.wall, reportRetention: options.reportRetention, in: db)
    case .removeMessages, .indexMessages, .shrinkFile: return false
    }
  }

  func noteSuccess() {
    if core.noteSuccess() { _ = queue.request([.clearDisbandedGroups, .clearReactions]) }
  }
}
