import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables

// `knownUser` rows: `offlineSince` is NULL = never online, 0 = online, else the end of the last
// session.

/// An unset instant would mean "online".
private let earliest = WallInstant(milliseconds: 1)

extension WriteTransaction {
  func put(_ updates: [UserID: PresenceUpdate]) throws {
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
      try run("INSERT INTO knownUser (userID) SELECT unnest($1) ON CONFLICT DO NOTHING", [known])
    }
    if !changed.isEmpty {
      // Leaves a row that would not change: thousands sign in again after a restart.
      try run(
        """
        INSERT INTO knownUser SELECT * FROM unnest($1, $2)
        ON CONFLICT (userID) DO UPDATE SET offlineSince = excluded.offlineSince
        WHERE knownUser.offlineSince IS DISTINCT FROM excluded.offlineSince
        """, [changed.map(\.user), changed.map(\.since)])
    }
  }

  func put(_ info: UserInfo) throws {
    try run("INSERT INTO knownUser (userID) VALUES ($1) ON CONFLICT DO NOTHING", [info.userID.rawValue])
    guard info.isEmpty else {
      return try run(
        """
        INSERT INTO userInfo (\(UserInfo.columns.names)) VALUES (\(UserInfo.columns.places("$")))
        ON CONFLICT (userID) DO UPDATE SET \(UserInfo.columns.without("userID").excluded)
        """
      ) { try info.write(to: &$0) }
    }
    // The row stays where it has a status.
    try run("DELETE FROM userInfo WHERE userID = $1 AND customStatus = ''", [info.userID.rawValue])
    try run("UPDATE userInfo SET nickName = '', faceURL = '', customInfo = NULL WHERE userID = $1", [info.userID.rawValue])
  }

  func put(status: String, of user: UserID) throws {
    try run("INSERT INTO knownUser (userID) VALUES ($1) ON CONFLICT DO NOTHING", [user.rawValue])
    guard status.isEmpty else {
      return try run(
        """
        INSERT INTO userInfo (userID, nickName, faceURL, customStatus) VALUES ($1, '', '', $2)
        ON CONFLICT (userID) DO UPDATE SET customStatus = excluded.customStatus
        """, [user.rawValue, status])
    }
    // The row stays where it has a profile.
    try run(
      "DELETE FROM userInfo WHERE userID = $1 AND nickName = '' AND faceURL = '' AND customInfo IS NULL", [user.rawValue])
    try run("UPDATE userInfo SET customStatus = '' WHERE userID = $1", [user.rawValue])
  }

  /// The profiles of users as this transaction has them; empty ones are absent.
  func profiles(of users: [UserID]) throws -> [UserID: UserProfile] {
    try check()
    return try connection.profiles(of: users)
  }

  func advance(_ kind: ReadMark, of user: UserID, to mark: Int64) throws {
    let column = kind.rawValue
    try run(
      """
      INSERT INTO readMark (userID, \(column)) VALUES ($1, $2)
      ON CONFLICT (userID) DO UPDATE SET \(column) = excluded.\(column) WHERE excluded.\(column) > readMark.\(column)
      """, [user.rawValue, mark])
  }
}

extension PostgreSQLConnection {
  /// The users that are noted to have a session.
  func onlineUsers() throws -> [UserID] {
    try rows("SELECT userID FROM knownUser WHERE offlineSince = 0", []) { try $0.value() }
  }

  func roomMembersOffline(since: WallInstant) throws -> [UserID: WallInstant] {
    let found = try rows(
      """
      SELECT DISTINCT k.userID, k.offlineSince FROM groupRecord AS g JOIN member AS m ON m.number = g.number
      JOIN knownUser AS k ON k.userID = m.userID WHERE g.type = $1 AND k.offlineSince > $2
      """, [GroupType.avChatRoom.rawValue, max(earliest, since).milliseconds]
    ) { (try $0.value(UserID.self), try $0.instant()) }
    return Dictionary(found) { $1 }
  }

  package func known(among users: [UserID]) throws -> Set<UserID> {
    Set(try rows("SELECT userID FROM knownUser WHERE userID = ANY ($1)", [users.map(\.rawValue)]) { try $0.value(UserID.self) })
  }

  package func knownCount() throws -> Int { try count("SELECT count(*) FROM knownUser", []) }

  package func offlineSince(of user: UserID) throws -> WallInstant? {
    try rows("SELECT offlineSince FROM knownUser WHERE userID = $1 AND offlineSince > 0", [user.rawValue]) {
      try $0.instant()
    }.first
  }

  package func absences(of members: ClosedRange<String>, number: Int64) throws -> [UserID: WallInstant] {
    let stored = try rows(
      """
      SELECT m.userID, k.offlineSince FROM member AS m JOIN knownUser AS k ON k.userID = m.userID
      WHERE m.number = $1 AND m.userID BETWEEN $2 AND $3 AND k.offlineSince > 0
      """, [number, members.lowerBound, members.upperBound]
    ) { (try $0.value(UserID.self), try $0.instant()) }
    return Dictionary(stored) { $1 }
  }

  package func profiles(of users: [UserID]) throws -> [UserID: UserProfile] {
    let found = try rows("SELECT userID, nickName, faceURL FROM userInfo WHERE userID = ANY ($1)", [users.map(\.rawValue)]) {
      row in
      let (user, nickName) = (try row.value(UserID.self), try row.text())
      return (user, UserProfile.make(nickName: nickName, faceURL: try row.text()))
    }
    return Dictionary(found) { $1 }.compactMapValues { $0 }
  }

  package func statuses(of users: [UserID], known: Set<UserID>) throws -> [StoredStatus] {
    try rows(
      """
      SELECT k.userID IS NOT NULL, wanted.userID, coalesce(i.customStatus, ''), k.offlineSince
      FROM unnest($1) WITH ORDINALITY AS wanted (userID, place)
      LEFT JOIN knownUser AS k ON k.userID = wanted.userID LEFT JOIN userInfo AS i ON i.userID = wanted.userID
      ORDER BY wanted.place
      """, [users.map(\.rawValue)]
    ) { row in try StoredStatus.read(&row, known: known) }.compactMap { $0 }
  }

  package func infos(of users: [UserID], known: Set<UserID>) throws -> [UserInfo] {
    try rows(
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

  package func applicationMarks(ofManagersOf group: GroupID) throws -> [UserID: WallInstant] {
    let marks = try rows(
      """
      SELECT mark.userID, mark.applications FROM groupRecord AS g
      JOIN member AS m ON m.number = g.number AND m.role IN ('Owner', 'Admin')
      JOIN readMark AS mark ON mark.userID = m.userID WHERE g.groupID = $1 AND mark.applications > 0
      """, [group.rawValue]
    ) { (try $0.value(UserID.self), try $0.instant()) }
    return Dictionary(marks) { $1 }
  }

  package func readMark(_ kind: ReadMark, of user: UserID) throws -> Int64 {
    try rows("SELECT \(kind.rawValue) FROM readMark WHERE userID = $1", [user.rawValue]) { try $0.integer() }.first ?? 0
  }
}
