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
    INSERT OR REPLACE INTO userInfo (\(UserInfo.columns.names)) VALUES (\(UserInfo.columns.places("?")))
    """
}

extension SQLiteTransaction {
  func put(_ info: UserInfo) throws {
    try db.put(.known, of: info.userID)
    if info.isEmpty {
      try db.run("DELETE FROM userInfo WHERE userID = ?", [info.userID.rawValue])
    } else {
      try db.run(UserInfoRows.putSQL) { try info.write(to: &$0) }
    }
  }
}

extension Database {
  package func profiles(of users: [UserID]) throws -> [UserID: UserProfile] {
    // For a sign-in, most of which find no row: a look by SQLite's C interface.
    if users.count == 1, try !finds("SELECT 1 FROM userInfo WHERE userID = ?", binding: { $0.append(users[0].rawValue) }) {
      return [:]
    }
    let found = try rows(UserInfoRows.profilesSQL, [try jsonColumn(users.map(\.rawValue))]) { row in
      let (user, nickName) = (try row.value(UserID.self), try row.text())
      return (user, UserProfile.make(nickName: nickName, faceURL: try row.text()))
    }
    return Dictionary(found) { $1 }.compactMapValues { $0 }
  }

  package func infos(of users: [UserID], known: Set<UserID>) throws -> [UserInfo] {
    try rows(UserInfoRows.infosSQL, [try jsonColumn(users.map(\.rawValue))]) { row -> UserInfo? in
      let isStored = try row.flag()
      let info = try UserInfo.read(&row)
      return isStored || known.contains(info.userID) ? info : nil
    }.compactMap { $0 }
  }
}
