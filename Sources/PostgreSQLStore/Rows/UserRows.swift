import GroupModel
import GroupRuntime
import StoreTables

/// `knownUser` rows: `offlineSince` is NULL = never online, 0 = online, else the end of the last
/// session.
enum UserRows {
  /// An unset instant would mean "online".
  private static let earliest = WallInstant(milliseconds: 1)

  static func put(_ updates: [UserID: PresenceUpdate], _ transaction: WriteTransaction) throws {
    if updates.isEmpty { return }
    var known: [String] = []
    var changed: [(user: String, since: Int64)] = []
    for (user, update) in updates.sorted(by: { $0.key < $1.key }) {
      switch update {
      case .known: known.append(user.rawValue)
      case .online: changed.append((user.rawValue, 0))
      case .offline(let since): changed.append((user.rawValue, max(earliest, since).milliseconds))
      }
    }
    if !known.isEmpty {
      try transaction.run("INSERT INTO knownUser (userID) SELECT unnest($1) ON CONFLICT DO NOTHING", [known])
    }
    if !changed.isEmpty {
      // Leaves a row that would not change: thousands sign in again after a restart.
      try transaction.run(
        """
        INSERT INTO knownUser SELECT * FROM unnest($1, $2)
        ON CONFLICT (userID) DO UPDATE SET offlineSince = excluded.offlineSince
        WHERE knownUser.offlineSince IS DISTINCT FROM excluded.offlineSince
        """, [changed.map(\.user), changed.map(\.since)])
    }
  }

  static func onlineUsers(in transaction: WriteTransaction) throws -> [UserID] {
    try transaction.rows("SELECT userID FROM knownUser WHERE offlineSince = 0", []) { try $0.value(UserID.self) }
  }

  static func onlineUsers(in db: PostgreSQLConnection) throws -> [UserID] {
    try db.rows("SELECT userID FROM knownUser WHERE offlineSince = 0", []) { try $0.value(UserID.self) }
  }

  static func roomMembersOffline(since: WallInstant, in db: PostgreSQLConnection) throws -> [UserID: WallInstant] {
    let rows = try db.rows(
      """
      SELECT DISTINCT k.userID, k.offlineSince FROM groupRecord AS g JOIN member AS m ON m.number = g.number
      JOIN knownUser AS k ON k.userID = m.userID WHERE g.type = $1 AND k.offlineSince > $2
      """, [GroupType.avChatRoom.rawValue, max(earliest, since).milliseconds]
    ) { (try $0.value(UserID.self), try $0.instant()) }
    return Dictionary(rows) { $1 }
  }

  static func known(among users: [String], in db: PostgreSQLConnection) throws -> [UserID] {
    try db.rows("SELECT userID FROM knownUser WHERE userID = ANY ($1)", [users]) { try $0.value(UserID.self) }
  }

  static func offlineSince(of user: UserID, in db: PostgreSQLConnection) throws -> WallInstant? {
    try db.rows("SELECT offlineSince FROM knownUser WHERE userID = $1 AND offlineSince > 0", [user.rawValue]) {
      try $0.instant()
    }.first
  }

  /// The end of the last session of each member of a group who is offline; waiting updates win
  /// over stored rows.
  /// - Parameter members: a page of a group's members, by `userID`.
  static func absent(
    of members: [Member], number: Int64, _ waiting: [UserID: PresenceUpdate], in db: PostgreSQLConnection
  ) throws -> [UserID: WallInstant] {
    guard let first = members.first, let last = members.last else { return [:] }
    let stored = try db.rows(
      """
      SELECT m.userID, k.offlineSince FROM member AS m JOIN knownUser AS k ON k.userID = m.userID
      WHERE m.number = $1 AND m.userID BETWEEN $2 AND $3 AND k.offlineSince > 0
      """, [number, first.userID.rawValue, last.userID.rawValue]
    ) { (try $0.value(UserID.self), try $0.instant()) }
    var absent = Dictionary(stored) { $1 }
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

/// `userInfo` rows: the texts of users who have any.
enum UserInfoRows {
  /// Stores the texts, and makes the user known.
  static func put(_ info: UserInfo, _ transaction: WriteTransaction) throws {
    try transaction.run("INSERT INTO knownUser (userID) VALUES ($1) ON CONFLICT DO NOTHING", [info.userID.rawValue])
    if info.isEmpty {
      try transaction.run("DELETE FROM userInfo WHERE userID = $1", [info.userID.rawValue])
    } else {
      try transaction.run(
        """
        INSERT INTO userInfo (\(UserInfo.columns.names)) VALUES (\(UserInfo.columns.places("$")))
        ON CONFLICT (userID) DO UPDATE SET \(UserInfo.columns.without("userID").excluded)
        """
      ) { try info.write(to: &$0) }
    }
  }

  private static let profilesSQL = "SELECT userID, nickName, faceURL FROM userInfo WHERE userID = ANY ($1)"

  static func profiles(of users: [UserID], in db: PostgreSQLConnection) throws -> [UserID: UserProfile] {
    profiles(try db.rows(profilesSQL, [users.map(\.rawValue)], profile))
  }

  static func profiles(of users: [UserID], in transaction: WriteTransaction) throws -> [UserID: UserProfile] {
    profiles(try transaction.rows(profilesSQL, [users.map(\.rawValue)], profile))
  }

  private static func profile(_ row: inout RowReader) throws -> (UserID, UserProfile?) {
    let user = try row.value(UserID.self)
    let nickName = try row.text()
    return (user, UserProfile.make(nickName: nickName, faceURL: try row.text()))
  }

  private static func profiles(_ rows: [(UserID, UserProfile?)]) -> [UserID: UserProfile] {
    var profiles: [UserID: UserProfile] = [:]
    for (user, profile) in rows { profiles[user] = profile }
    return profiles
  }

  /// The texts of those of the users that are known, in the order given.
  /// - Parameter known: users who are known, though the database may not say so yet.
  static func infos(of users: [UserID], known: Set<UserID>, in db: PostgreSQLConnection) throws -> [UserInfo] {
    try db.rows(
      """
      SELECT k.userID IS NOT NULL, wanted.userID, \(UserInfo.columns.without("userID").names(of: "i"))
      FROM unnest($1) WITH ORDINALITY AS wanted (userID, place)
      LEFT JOIN knownUser AS k ON k.userID = wanted.userID LEFT JOIN userInfo AS i ON i.userID = wanted.userID
      ORDER BY wanted.place
      """, [users.map(\.rawValue)]
    ) { row -> UserInfo? in
      let isStored = try row.flag()
      let info = try UserInfo.read(&row)
      return isStored || known.contains(info.userID) ? info : nil
    }.compactMap { $0 }
  }
}

/// `readMark` rows: how far a user has read applications and notifications. A mark never goes back.
enum ReadMarks {
  /// The raw values are the columns.
  enum Kind: String { case applications, notifications }

  static func advance(_ kind: Kind, of user: UserID, to mark: Int64, _ transaction: WriteTransaction) throws {
    let column = kind.rawValue
    try transaction.run(
      """
      INSERT INTO readMark (userID, \(column)) VALUES ($1, $2)
      ON CONFLICT (userID) DO UPDATE SET \(column) = excluded.\(column) WHERE excluded.\(column) > readMark.\(column)
      """, [user.rawValue, mark])
  }

  /// The marks of a group's managers; those without one are absent.
  static func applicationMarks(ofManagersOf group: GroupID, in db: PostgreSQLConnection) throws -> [UserID: WallInstant] {
    let marks = try db.rows(
      """
      SELECT mark.userID, mark.applications FROM groupRecord AS g
      JOIN member AS m ON m.number = g.number AND m.role IN ('Owner', 'Admin')
      JOIN readMark AS mark ON mark.userID = m.userID WHERE g.groupID = $1 AND mark.applications > 0
      """, [group.rawValue]
    ) { (try $0.value(UserID.self), try $0.instant()) }
    return Dictionary(marks) { $1 }
  }

  /// 0 = nothing is read.
  static func mark(_ kind: Kind, of user: UserID, in db: PostgreSQLConnection) throws -> Int64 {
    try db.rows("SELECT \(kind.rawValue) FROM readMark WHERE userID = $1", [user.rawValue]) { try $0.integer() }.first ?? 0
  }
}
