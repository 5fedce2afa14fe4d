import GRDB
import GroupRuntime
import Logging
import Synchronization

extension Writer {
  func probe(_ db: Database) {
    do {
      _ = try transaction(db) { try makeRoom(db) }
      _ = try transaction(db) { try emptyRoom(db) }
      noteSuccess()
    } catch {
      logger.debug("the store still cannot write", metadata: ["error": "\(error)"])
    }
  }

  // Needs room like a real message does: a page that is there already could be written on a full disk.
  func makeRoom(_ db: Database) throws { try db.run("UPDATE probe SET room = zeroblob(65536)", []) }

  func emptyRoom(_ db: Database) throws { try db.run("UPDATE probe SET room = x''", []) }

  /// Does one chunk of a chore.
  func perform(_ chore: Inbox.Chore, _ db: Database) {
    do {
      var isMore = false
      _ = try transaction(db) { isMore = try self.chunk(of: chore, db) }
      if !isMore { inbox.ended(chore) }
    } catch {
      // Nobody waits for it: it goes on when the store writes again, at the next round, or at the next start.
      inbox.ended(chore)
      if error.kind == .unavailable { note(failure: error) }
      logger.warning("clearing away was interrupted", metadata: ["chore": "\(chore)", "error": "\(error)"])
    }
  }

  private func chunk(of chore: Inbox.Chore, _ db: Database) throws -> Bool {
    switch chore {
    case .purge: try Purge.chunk(of: options.purgeRows, in: db)
    case .sweep: try Sweep.chunk(of: options.purgeRows, at: options.now(), in: db)
    }
  }

  func note(failure: StoreError) {
    guard failure.kind == .unavailable else {
      logger.error("commits refused", metadata: ["error": "\(failure)"])
      return
    }
    if persists.exchange(false, ordering: .acquiringAndReleasing) {
      logger.error("the store cannot write", metadata: ["error": "\(failure)"])
    }
  }

  func noteSuccess() {
    guard !persists.exchange(true, ordering: .acquiringAndReleasing) else { return }
    logger.notice("the store can write again")
    _ = inbox.ask([.purge])
  }
}
