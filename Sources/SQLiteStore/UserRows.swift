import GRDB
import GroupModel

/// What waits to be noted of a user.
enum UserNote: Sendable, Equatable {
  /// The user exists; nothing is said of sessions.
  case known
  /// The first session has begun.
  case here
  /// The last session has ended.
  case gone(since: Instant)
}

/// `knownUser` rows.
enum UserRows {
  // A row that is right already is not written: thousands sign in again after a restart.
  private static let presenceSQL = """
    INSERT INTO knownUser VALUES (?, ?)
    ON CONFLICT (userID) DO UPDATE SET offlineSince = excluded.offlineSince WHERE offlineSince IS NOT excluded.offlineSince
    """

  static func put(_ note: UserNote, of user: UserID, _ db: Database) throws {
    switch note {
    case .known: try db.run("INSERT OR IGNORE INTO knownUser VALUES (?, NULL)") { $0.append(user.rawValue) }
    case .here: try put(0, of: user, db)
    // 0 would say "here".
    case .gone(let since): try put(max(1, since), of: user, db)
    }
  }

  private static func put(_ offlineSince: Instant, of user: UserID, _ db: Database) throws {
    try db.run(presenceSQL) { binding in
      binding.append(user.rawValue)
      binding.append(offlineSince)
    }
  }

  /// Whoever the table calls present is gone: no session outlives the process.
  static func endAllSessions(at time: Instant, _ db: Database) throws {
    try db.run("UPDATE knownUser SET offlineSince = ? WHERE offlineSince = 0", [max(1, time)])
  }

  /// Whom the table calls present.
  static func present(in db: Database) throws -> [UserID] {
    try db.rows("SELECT userID FROM knownUser WHERE offlineSince = 0", []) { try $0.value(UserID.init(stored:)) }
  }

  static func isKnown(_ user: UserID, in db: Database) throws -> Bool {
    try !db.rows("SELECT 1 FROM knownUser WHERE userID = ?", [user.rawValue]) { try $0.integer() }.isEmpty
  }

  static func offlineSince(of user: UserID, in db: Database) throws -> Instant? {
    try db.rows("SELECT offlineSince FROM knownUser WHERE userID = ? AND offlineSince > 0", [user.rawValue]) {
      try $0.integer()
    }.first
  }

  /// When the last session of some members of a group ended, of those whose last has; what still waits goes before what is stored.
  /// - Parameter members: a page of them, by `userID`.
  static func absent(
    of members: [Member], number: Int64, _ waiting: [UserID: UserNote], in db: Database
  ) throws -> [UserID: Instant] {
    guard let first = members.first, let last = members.last else { return [:] }
    let stored = try db.rows(
      """
      SELECT userID, offlineSince FROM member JOIN knownUser USING (userID)
      WHERE number = ? AND userID BETWEEN ? AND ? AND offlineSince > 0
      """, [number, first.userID.rawValue, last.userID.rawValue]
    ) { (try $0.value(UserID.init(stored:)), try $0.integer()) }
    var absent = Dictionary(uniqueKeysWithValues: stored)
    if waiting.isEmpty { return absent }
    for member in members {
      switch waiting[member.userID] {
      case .here: absent[member.userID] = nil
      case .gone(let since): absent[member.userID] = since
      case .known, nil: break
      }
    }
    return absent
  }
}
