import GroupModel
import GroupRuntime

/// Columns of `userAccess` rows, besides the user and the number.
extension UserAccess {
  /// The columns that `read` reads.
  public static let columns = Block.columns + [StoredColumn("tokensBefore", WallInstant.self)]
  /// From when on nothing of the row is in force; NULL = something is without end.
  public static let freeTime = StoredColumn("freeTime", WallInstant?.self)

  /// Reads `columns`, and whether a deletion of the user's data runs.
  @inlinable public static func read<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) -> UserAccess {
    let block = try Block.read(&reader)
    let tokensBefore = try reader.instant()
    return UserAccess(block: block, tokensBefore: tokensBefore, isBeingDeleted: try reader.flag())
  }
}

extension UserAccess.Block {
  /// The columns that `read` reads; `blockedUntil` is 0 where the block has no end.
  public static let columns = [
    StoredColumn("isBlocked", Bool.self), StoredColumn("blockedUntil", WallInstant.self),
    StoredColumn("blockReason", String.self),
  ]

  /// Reads `columns`; nil = the user is not blocked.
  @inlinable public static func read<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) -> UserAccess.Block? {
    let isBlocked = try reader.flag()
    let until = try reader.instant()
    let reason = try reader.text()
    return isBlocked ? UserAccess.Block(until: until.isSet ? until : nil, reason: reason) : nil
  }

  /// The end, as its column keeps it.
  public var storedEnd: WallInstant { until ?? .unset }
}

extension StoredStatus {
  /// Reads whether the user is stored, the userID, the status and the end of the last session.
  /// - Parameter known: users who are known, stored or not.
  /// - Returns: nil where the user is not known.
  @inlinable public static func read<Reader: ColumnReader>(
    _ reader: inout Reader, known: Set<UserID>
  ) throws(StoreError) -> StoredStatus? {
    let isStored = try reader.flag()
    let user = try reader.value(UserID.self)
    let customStatus = try reader.text()
    let offlineSince = try reader.value(WallInstant?.self)
    guard isStored || known.contains(user) else { return nil }
    // 0 = the user has a session.
    return StoredStatus(
      userID: user, customStatus: customStatus, offlineSince: offlineSince.flatMap { $0.isSet ? $0 : nil })
  }
}
