import GRDB
import GroupModel
import StoreTables

/// A change of a user that waits to be written.
enum PresenceUpdate: Sendable, Equatable {
  /// The user exists; the sessions are unchanged.
  case known
  /// The first session has begun.
  case online
  /// The last session has ended.
  case offline(since: WallInstant)
}

/// `knownUser` rows.
enum UserRows {
  // Leaves a row that would not change: thousands sign in again after a restart.
  private static let presenceSQL = """
    INSERT INTO knownUser VALUES (?, ?)
    ON CONFLICT (userID) DO UPDATE SET offlineSince = excluded.offlineSince WHERE offlineSince IS NOT excluded.offlineSince
    """

  /// An unset instant would mean "online".
  private static let earliest = WallInstant(milliseconds: 1)

  static func put(_ update: PresenceUpdate, of user: UserID, _ db: Database) throws {
    switch update {
    case .known: try db.run("INSERT OR IGNORE INTO knownUser VALUES (?, NULL)") { $0.append(user.rawValue) }
    case .online: try put(.unset, of: user, db)
    case .offline(let since): try put(max(earliest, since), of: user, db)
    }
  }

  private static func put(_ offlineSince: WallInstant, of user: UserID, _ db: Database) throws {
    try db.run(presenceSQL) { binding in
      binding.append(user.rawValue)
      binding.append(offlineSince)
    }
  }

  /// Marks all users as offline: no session outlives the process.
  static func endAllSessions(at time: WallInstant, _ db: Database) throws {
    try db.run("UPDATE knownUser SET offlineSince = ? WHERE offlineSince = 0", [max(earliest, time)])
  }

  static func onlineUsers(in db: Database) throws -> [UserID] {
    try db.rows("SELECT userID FROM knownUser WHERE offlineSince = 0", []) { try $0.value(UserID.self) }
  }

  static func isKnown(_ user: UserID, in db: Database) throws -> Bool {
    try !db.rows("SELECT 1 FROM knownUser WHERE userID = ?", [user.rawValue]) { try $0.integer() }.isEmpty
  }

  static func offlineSince(of user: UserID, in db: Database) throws -> WallInstant? {
    try db.rows("SELECT offlineSince FROM knownUser WHERE userID = ? AND offlineSince > 0", [user.rawValue]) {
      try $0.instant()
    }.first
  }

  /// The end of the last session of each member of a group who is offline; waiting updates win
  /// over stored rows.
  /// - Parameter members: a page of a group's members, by `userID`.
  static func absent(
    of members: [Member], number: Int64, _ waiting: [UserID: PresenceUpdate], in db: Database
  ) throws -> [UserID: WallInstant] {
    guard let first = members.first, let last = members.last else { return [:] }
    let stored = try db.rows(
      """
      SELECT userID, offlineSince FROM member JOIN knownUser USING (userID)
      WHERE number = ? AND userID BETWEEN ? AND ? AND offlineSince > 0
      """, [number, first.userID.rawValue, last.userID.rawValue]
    ) { (try $0.value(UserID.self), try $0.instant()) }
    var absent = Dictionary(uniqueKeysWithValues: stored)
    if waiting.isEmpty { return absent }
    for member in members {
      switch waiting[member.userID] {
      case .online: absent[member.userID] = nil
      case .offline(let since): absent[member.userID] = since
      case .known, nil: break
      }
    }
    return absent
  }
}

/// `readMark` rows: how far a user has read applications and notifications. A mark never goes back.
enum ReadMarks {
  /// The raw values are the columns.
  enum Kind: String { case applications, notifications }

  static func advance(_ kind: Kind, of user: UserID, to mark: Int64, _ db: Database) throws {
    let column = kind.rawValue
    try db.run(
      """
      INSERT INTO readMark (userID, \(column)) VALUES (?, ?)
      ON CONFLICT (userID) DO UPDATE SET \(column) = excluded.\(column) WHERE excluded.\(column) > \(column)
      """, [user.rawValue, mark])
  }

  /// The marks of a group's managers; those without one are absent.
  static func applicationMarks(ofManagersOf group: GroupID, in db: Database) throws -> [UserID: WallInstant] {
    let marks = try db.rows(
      """
      SELECT mark.userID, mark.applications FROM groupRecord AS g
      CROSS JOIN member AS m INDEXED BY managerOfGroup ON m.number = g.number
      CROSS JOIN readMark AS mark ON mark.userID = m.userID
      WHERE g.groupID = ? AND m.role IN ('Owner', 'Admin') AND mark.applications > 0
      """, [group.rawValue]
    ) { (try $0.value(UserID.self), try $0.instant()) }
    return Dictionary(uniqueKeysWithValues: marks)
  }

  /// 0 = nothing is read.
  static func mark(_ kind: Kind, of user: UserID, in db: Database) throws -> Int64 {
    try db.rows("SELECT \(kind.rawValue) FROM readMark WHERE userID = ?", [user.rawValue]) { try $0.integer() }.first ?? 0
  }
}
