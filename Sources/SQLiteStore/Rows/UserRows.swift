import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables

// `knownUser` rows.
extension Database {
  // Leaves a row that would not change: thousands sign in again after a restart.
  private static let presenceSQL = """
    INSERT INTO knownUser VALUES (?, ?)
    ON CONFLICT (userID) DO UPDATE SET offlineSince = excluded.offlineSince WHERE offlineSince IS NOT excluded.offlineSince
    """

  /// An unset instant would mean "online".
  private static let earliest = WallInstant(milliseconds: 1)

  func put(_ update: PresenceUpdate, of user: UserID) throws {
    switch update {
    case .known: try run("INSERT OR IGNORE INTO knownUser VALUES (?, NULL)") { $0.append(user.rawValue) }
    case .online: try put(.unset, of: user)
    case .offline(let since): try put(max(Self.earliest, since), of: user)
    }
  }

  private func put(_ offlineSince: WallInstant, of user: UserID) throws {
    try run(Self.presenceSQL) { binding in
      binding.append(user.rawValue)
      binding.append(offlineSince)
    }
  }

  /// Marks all users as offline: no session outlives the process.
  func endAllSessions(at time: WallInstant) throws {
    try run("UPDATE knownUser SET offlineSince = ? WHERE offlineSince = 0", [max(Self.earliest, time)])
  }

  func onlineUsers() throws -> [UserID] {
    try rows("SELECT userID FROM knownUser WHERE offlineSince = 0", []) { try $0.value() }
  }

  package func known(among users: [UserID]) throws -> Set<UserID> {
    Set(try users.filter { user in try finds("SELECT 1 FROM knownUser WHERE userID = ?") { $0.append(user.rawValue) } })
  }

  package func knownCount() throws -> Int { try count("SELECT count(*) FROM knownUser", []) }

  package func offlineSince(of user: UserID) throws -> WallInstant? {
    try rows("SELECT offlineSince FROM knownUser WHERE userID = ? AND offlineSince > 0", [user.rawValue]) {
      try $0.instant()
    }.first
  }

  package func absences(of members: ClosedRange<String>, number: Int64) throws -> [UserID: WallInstant] {
    let stored = try rows(
      """
      SELECT userID, offlineSince FROM member JOIN knownUser USING (userID)
      WHERE number = ? AND userID BETWEEN ? AND ? AND offlineSince > 0
      """, [number, members.lowerBound, members.upperBound]
    ) { (try $0.value(UserID.self), try $0.instant()) }
    return Dictionary(uniqueKeysWithValues: stored)
  }
}

extension SQLiteTransaction {
  func advance(_ kind: ReadMark, of user: UserID, to mark: Int64) throws {
    let column = kind.rawValue
    try db.run(
      """
      INSERT INTO readMark (userID, \(column)) VALUES (?, ?)
      ON CONFLICT (userID) DO UPDATE SET \(column) = excluded.\(column) WHERE excluded.\(column) > \(column)
      """, [user.rawValue, mark])
  }
}

extension Database {
  package func applicationMarks(ofManagersOf group: GroupID) throws -> [UserID: WallInstant] {
    let marks = try rows(
      """
      SELECT mark.userID, mark.applications FROM groupRecord AS g
      CROSS JOIN member AS m INDEXED BY managerOfGroup ON m.number = g.number
      CROSS JOIN readMark AS mark ON mark.userID = m.userID
      WHERE g.groupID = ? AND m.role IN ('Owner', 'Admin') AND mark.applications > 0
      """, [group.rawValue]
    ) { (try $0.value(UserID.self), try $0.instant()) }
    return Dictionary(uniqueKeysWithValues: marks)
  }

  package func readMark(_ kind: ReadMark, of user: UserID) throws -> Int64 {
    try rows("SELECT \(kind.rawValue) FROM readMark WHERE userID = ?", [user.rawValue]) { try $0.integer() }.first ?? 0
  }
}
