import GRDB
import GRDBSQLite
import Synchronization

/// The length of the log behind the last commit of the writer's connection, as SQLite tells it.
final class LogLength: Sendable {
  private let frames = Atomic<Int>(0)

  /// Hears of every commit of the connection from now on, in the place of SQLite's own checkpoints.
  /// Call it once; the connection commits only while this object lives.
  func observe(_ db: Database) {
    // Unretained: the writer owns this object, and whatever uses its connection holds the writer.
    let context = Unmanaged.passUnretained(self).toOpaque()
    _ = sqlite3_wal_hook(
      db.sqliteConnection,
      { context, _, _, frames in
        if let context {
          Unmanaged<LogLength>.fromOpaque(context).takeUnretainedValue().frames.store(Int(frames), ordering: .relaxed)
        }
        return SQLITE_OK
      }, context)
  }

  /// The frames of the log, once after each commit; 0 = there was none since.
  func popFrames() -> Int { frames.exchange(0, ordering: .relaxed) }
}
