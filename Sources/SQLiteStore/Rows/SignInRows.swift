import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables

/// The statement of a sign-in. Most find no row but that of `knownUser`: to run a statement for each
/// table, and a transaction around them, costs more than what they find.
enum SignInRows {
  // A row for each group, or one without. By the order of the index the groups come by their numbers.
  static let sql = """
    SELECT g.groupID, g.type, g.number,
    coalesce(a.isBlocked, 0), coalesce(a.blockedUntil, 0), coalesce(a.blockReason, ''), coalesce(a.tokensBefore, 0),
    d.userID IS NOT NULL AND d.endTime IS NULL, d.userID IS NOT NULL, k.offlineSince, i.nickName, i.faceURL
    FROM (SELECT 1) LEFT JOIN knownUser AS k ON k.userID = ?1 LEFT JOIN userInfo AS i ON i.userID = ?1
    LEFT JOIN userAccess AS a ON a.userID = ?1 LEFT JOIN userDeletion AS d ON d.userID = ?1
    LEFT JOIN member AS m INDEXED BY memberByUser ON m.userID = ?1 LEFT JOIN groupRecord AS g ON g.number = m.number
    """

  /// What stands beside the groups, in each row the same.
  fileprivate struct Facts {
    let access: UserAccess
    let hasDeletion: Bool
    let offlineSince: WallInstant?
    let profile: UserProfile?

    init(_ row: inout RowReader) throws(StoreError) {
      access = try UserAccess.read(&row)
      hasDeletion = try row.flag()
      // 0 = the user has a session.
      offlineSince = try row.value(WallInstant?.self).flatMap { $0.isSet ? $0 : nil }
      let (nickName, faceURL) = (try row.optionalText(), try row.optionalText())
      profile = UserProfile.make(nickName: nickName ?? "", faceURL: faceURL ?? "")
    }
  }
}

extension Membership {
  /// Reads the columns of a group that may be none; nil = it is none, or was disbanded.
  fileprivate static func readIfAny(_ row: inout RowReader) throws(StoreError) -> Membership? {
    let (groupID, type, number) = (try row.value(GroupID?.self), try row.value(GroupType?.self), try row.optionalInteger())
    guard let groupID, let type, let number else { return nil }
    return Membership(groupID: groupID, type: type, groupNumber: number)
  }
}

extension Database {
  /// By one statement, which sees one instant by itself.
  package func signInRecord(of user: UserID, _ update: PresenceUpdate?) throws -> SignInRecord {
    var memberships: [Membership] = []
    var facts: SignInRows.Facts?
    try visit(SignInRows.sql, binding: { $0.append(user.rawValue) }) { row in
      if let membership = try Membership.readIfAny(&row) { memberships.append(membership) }
      if facts == nil { facts = try SignInRows.Facts(&row) }
      return true
    }
    guard let facts else { throw StoreError(.inconsistent, "the statement of a sign-in has found nothing") }
    return SignInRecord(
      memberships: memberships, offlineSince: update.offlineSince { facts.offlineSince }, profile: facts.profile,
      access: facts.access, hasDeletion: facts.hasDeletion)
  }
}
