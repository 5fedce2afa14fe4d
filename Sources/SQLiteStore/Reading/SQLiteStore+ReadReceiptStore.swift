import GRDB
import GroupModel
import GroupRuntime

extension SQLiteStore {
  /// Those of the messages that a user may confirm and has not.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func confirmable(
    _ seqs: [Int64], of group: GroupID, epoch: String, by reader: UserID
  ) async throws(StoreError) -> [Int64] {
    try await read { db in
      guard let number = try ReadReceiptRows.number(of: group, epoch: epoch, in: db) else { return [] }
      return try ReadReceiptRows.confirmable(seqs, by: reader, number: number, in: db)
    }
  }

  /// The counts of those of the messages that were sent with needReadReceipt and are not recalled,
  /// by `seq`.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func receiptCounts(
    of seqs: [Int64], in group: GroupID, epoch: String
  ) async throws(StoreError) -> [ReceiptCount] {
    try await read { db in
      guard let number = try ReadReceiptRows.number(of: group, epoch: epoch, in: db) else { return [] }
      return try ReadReceiptRows.counts(of: seqs, number: number, in: db)
    }
  }

  /// The readers of a message; nil where there is none.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func readers(of seq: Int64, in group: GroupID, epoch: String) async throws(StoreError) -> MessageReaders? {
    try await read { db in
      guard let number = try ReadReceiptRows.number(of: group, epoch: epoch, in: db) else { return nil }
      return try ReadReceiptRows.readers(of: seq, number: number, in: db)
    }
  }
}
