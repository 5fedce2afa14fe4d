import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables

/// Statements of a sign-in, each of one user.
private enum SignInRows {
  static let presenceSQL = "SELECT offlineSince FROM knownUser WHERE userID = $1"
  static let profileSQL = "SELECT nickName, faceURL FROM userInfo WHERE userID = $1"
  static let all = [MembershipRows.selectSQL, presenceSQL, AccessRows.selectSQL, profileSQL]
}

extension PostgreSQLConnection {
  /// By statements that are sent together: a sign-in waits for the database once.
  package func signInRecord(of user: UserID, _ update: PresenceUpdate?) throws -> SignInRecord {
    for sql in SignInRows.all { try send(sql) { user.rawValue.append(to: &$0) } }
    // The first result may be that of the beginning of a snapshot.
    let results = Array(try finish().suffix(SignInRows.all.count))
    guard results.count == SignInRows.all.count else { throw StoreError(.unavailable, "a statement has no result") }
    let memberships = try results[0].map(Membership.read)
    let known = try results[1].map { try $0.optionalInteger() }
    let decisions = try results[2].map(AccessRows.read).first
    let profile: UserProfile? =
      try results[3].map { row in try UserProfile.make(nickName: row.text(), faceURL: row.text()) }.first ?? nil
    // NULL = never online, 0 = online.
    let stored: Int64 = known.first.map { $0 ?? 0 } ?? 0
    let offlineSince = update.offlineSince { stored > 0 ? WallInstant(milliseconds: stored) : nil }
    return SignInRecord(
      memberships: memberships, offlineSince: offlineSince, profile: profile,
      access: decisions?.access ?? .unlimited, hasDeletion: decisions?.hasDeletion ?? false, isKnown: !known.isEmpty)
  }
}
