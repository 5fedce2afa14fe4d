import GRDB
import GroupModel
import GroupRuntime
import StoreTables

/// `userInfo` rows: the texts of users who have any.
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

  private static let putSQL = """
    INSERT OR REPLACE INTO userInfo (\(UserInfo.columns.names)) VALUES (\(UserInfo.columns.places("?")))
    """

  /// Stores the texts, and makes the user known.
  static func put(_ info: UserInfo, _ db: Database) throws {
    try UserRows.put(.known, of: info.userID, db)
    if info.isEmpty {
      try db.run("DELETE FROM userInfo WHERE userID = ?", [info.userID.rawValue])
    } else {
      try db.run(putSQL) { try info.write(to: &$0) }
    }
  }

  /// Nil = empty. For a sign-in, most of which find no row: a look by SQLite's C interface.
  static func profile(of user: UserID, in db: Database) throws -> UserProfile? {
    let isThere = try db.finds("SELECT 1 FROM userInfo WHERE userID = ?") { $0.append(user.rawValue) }
    return isThere ? try profiles(of: [user], in: db)[user] : nil
  }

  static func profiles(of users: [UserID], in db: Database) throws -> [UserID: UserProfile] {
    let found = try db.rows(profilesSQL, [try jsonColumn(users.map(\.rawValue))]) { row in
      let user = try row.value(UserID.self)
      let nickName = try row.text()
      return (user, UserProfile.make(nickName: nickName, faceURL: try row.text()))
    }
    var profiles: [UserID: UserProfile] = [:]
    for (user, profile) in found { profiles[user] = profile }
    return profiles
  }

  /// - Parameter known: users who are known, though the database may not say so yet.
  static func infos(of users: [UserID], known: Set<UserID>, in db: Database) throws -> [UserInfo] {
    try db.rows(infosSQL, [try jsonColumn(users.map(\.rawValue))]) { row -> UserInfo? in
      let isStored = try row.flag()
      let info = try UserInfo.read(&row)
      return isStored || known.contains(info.userID) ? info : nil
    }.compactMap { $0 }
  }
}
