import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables

/// Statements of `userInfo` rows: the texts of users who have any.
enum UserInfoRows {
  // One statement for any number of users.
  static let profilesSQL = """
    SELECT userID, nickName, faceURL FROM json_each(?) CROSS JOIN userInfo ON userInfo.userID = value
    """
  static let infosSQL = """
    SELECT EXISTS (SELECT 1 FROM knownUser WHERE knownUser.userID = value), value AS userID,
    \(UserInfo.columns.without("userID").names(of: "userInfo"))
    FROM json_each(?) LEFT JOIN userInfo ON userInfo.userID = value
    """

  fileprivate static let putSQL = """
    INSERT INTO userInfo (\(UserInfo.columns.names)) VALUES (\(UserInfo.columns.places("?")))
    ON CONFLICT (userID) DO UPDATE SET \(UserInfo.columns.without("userID").excluded)
    """
  static let statusesSQL = """
    SELECT k.userID IS NOT NULL, value AS userID, coalesce(i.customStatus, ''), k.offlineSince
    FROM json_each(?) LEFT JOIN knownUser AS k ON k.userID = value LEFT JOIN userInfo AS i ON i.userID = value
    """
}

extension SQLiteTransaction {
  func put(_ info: UserInfo) throws {
    try db.put(.known, of: info.userID)
    guard info.isEmpty else {
      try db.run(UserInfoRows.putSQL) { try info.write(to: &$0) }
      return
    }
    // The row stays where it has a status.
    try db.run("DELETE FROM userInfo WHERE userID = ? AND customStatus = ''", [info.userID.rawValue])
    try db.run("UPDATE userInfo SET nickName = '', faceURL = '', customInfo = NULL WHERE userID = ?", [info.userID.rawValue])
  }

  func put(status: String, of user: UserID) throws {
    try db.put(.known, of: user)
    guard status.isEmpty else {
      try db.run(
        """
        INSERT INTO userInfo (userID, nickName, faceURL, customStatus) VALUES (?, '', '', ?)
        ON CONFLICT (userID) DO UPDATE SET customStatus = excluded.customStatus
        """, [user.rawValue, status.column])
      return
    }
    // The row stays where it has a profile.
    try db.run(
      "DELETE FROM userInfo WHERE userID = ? AND nickName = '' AND faceURL = '' AND customInfo IS NULL", [user.rawValue])
    try db.run("UPDATE userInfo SET customStatus = '' WHERE userID = ?", [user.rawValue])
  }
}

extension Database {
  package func profiles(of users: [UserID]) throws -> [UserID: UserProfile] {
    // Most users have no row: a look by SQLite's C interface.
    if users.count == 1, try !finds("SELECT 1 FROM userInfo WHERE userID = ?", binding: { $0.append(users[0].rawValue) }) {
      return [:]
    }
    let found = try rows(UserInfoRows.profilesSQL, [try jsonColumn(users.map(\.rawValue))]) { row in
      let (user, nickName) = (try row.value(UserID.self), try row.text())
      return (user, UserProfile.make(nickName: nickName, faceURL: try row.text()))
    }
    return Dictionary(found) { $1 }.compactMapValues { $0 }
  }

  package func statuses(of users: [UserID], known: Set<UserID>) throws -> [StoredStatus] {
    try rows(UserInfoRows.statusesSQL, [try jsonColumn(users.map(\.rawValue))]) { row in
      try StoredStatus.read(&row, known: known)
    }.compactMap { $0 }
  }

  package func infos(of users: [UserID], known: Set<UserID>) throws -> [UserInfo] {
    try rows(UserInfoRows.infosSQL, [try jsonColumn(users.map(\.rawValue))]) { row -> UserInfo? in
      let isStored = try row.flag()
      let info = try UserInfo.read(&row)
      return isStored || known.contains(info.userID) ? info : nil
    }.compactMap { $0 }
  }
}
