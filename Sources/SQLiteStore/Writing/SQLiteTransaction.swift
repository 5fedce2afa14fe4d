import GRDB
import GroupModel
import GroupRuntime
import StoreEngine

/// A transaction of the writer, which is open on its connection.
final class SQLiteTransaction: ChangeWriter {
  let db: Database
  private let numbers: WebhookNumbers
  private var appends: WebhookAppends
  /// The after-events, as they are stored. Those of a body that was taken back stay in their places.
  private(set) var appended: [WebhookEntry] = []

  init(_ db: Database, _ numbers: WebhookNumbers) {
    self.db = db
    self.numbers = numbers
    appends = WebhookAppends(numbers)
  }

  var appendedCount: Int { appended.count }

  func append(_ entry: WebhookEntry) throws { appended.append(try appends.append(entry, in: db)) }

  /// Writes the rows of after-events that wait for more messages of a lane; nil = of any. Call it
  /// before the transaction ends.
  func finishAppends(of lane: WebhookEntry.Lane? = nil) throws {
    if let lane { try appends.finish(lane, in: db) } else { try appends.finish(in: db) }
  }

  func apart(_ body: () throws -> Void) throws -> StoreError? {
    let others = appends
    appends = WebhookAppends(numbers)
    defer { appends = others }
    do {
      try db.savepoint {
        try body()
        try finishAppends()
      }
      return nil
    } catch {
      let failure = StoreError(describing: error)
      // Outside the transaction every further change would be durable by itself.
      if failure.kind == .unavailable || !db.isInsideTransaction { throw failure }
      return failure
    }
  }

  /// The number of a group.
  /// - Parameter purpose: what it is wanted for, as part of a sentence.
  func number(of group: GroupID, _ purpose: String) throws -> Int64 {
    guard let number = try db.number(of: group) else { throw StoreError(.inconsistent, "no group \(group) \(purpose)") }
    return number
  }
}

extension Database {
  /// Takes back what the body has written where it throws. By SQLite's C interface like the transaction
  /// around it: GRDB forgets its savepoints at the end of a transaction that is its own, and would keep
  /// those that an error of the disk has ended.
  fileprivate func savepoint(_ body: () throws -> Void) throws {
    try run("SAVEPOINT part") { _ in }
    do {
      try body()
      try run("RELEASE SAVEPOINT part") { _ in }
    } catch {
      // The error may have ended the whole transaction.
      if isInsideTransaction {
        try run("ROLLBACK TRANSACTION TO SAVEPOINT part") { _ in }
        try run("RELEASE SAVEPOINT part") { _ in }
      }
      throw error
    }
  }
}
