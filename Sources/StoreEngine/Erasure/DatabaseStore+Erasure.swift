import GroupModel
import GroupRuntime
import StoreTables

/// What is kept of one user: its deletion, its erasure and its export.
extension DatabaseStore {
  /// The deletion of a user, running or done.
  package func deletion(of user: UserID) async throws(StoreError) -> UserDeletion? {
    try await read(.singleStatement) { db in
      try db.deletions("WHERE userID = $1", [.text(user.rawValue)]).first
    }
  }

  /// Deletions that are not done, by userID.
  package func runningDeletions(after user: UserID?, limit: Int) async throws(StoreError) -> [UserDeletion] {
    try await read(.singleStatement) { db in
      try db.deletions(
        "WHERE endTime IS NULL AND userID > $1 ORDER BY userID LIMIT \(max(0, limit))", [.text(user?.rawValue ?? "")])
    }
  }

  /// What a step has to erase next.
  package func erasable(_ deletion: UserDeletion, scanning: Int) async throws(StoreError) -> ErasableChunk {
    try await read(.snapshot) { db in
      var scan = ErasureScan(deletion, scanning: scanning, in: db)
      return try scan.run()
    }
  }

  /// The first step that would find something.
  package func remains(of user: UserID) async throws(StoreError) -> UserDeletion.Step? {
    try await read(.snapshot) { try $0.remains(of: user) }
  }

  /// A page of what is kept of a user.
  package func personalRows(
    of user: UserID, after place: PersonalPlace, limit: Int
  ) async throws(StoreError) -> PersonalPage {
    let scanned = engineOptions.rowsPerRead
    return try await read(.snapshot) { db in
      var scan = PersonalScan(of: user, limit: limit, scanning: scanned, in: db)
      return try scan.page(after: place)
    }
  }
}

extension StoreQueries {
  fileprivate func deletions(_ condition: String, _ values: [StoredValue]) throws -> [UserDeletion] {
    let columns = UserDeletion.columns
    return try shared("SELECT \(columns.names) FROM userDeletion \(condition)", values, columns.map(\.kind)).map { row in
      var reader = StoredValueReader(row, of: columns)
      return try UserDeletion.read(&reader)
    }
  }
}
