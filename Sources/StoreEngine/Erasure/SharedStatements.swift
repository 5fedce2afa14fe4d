import GroupModel
import GroupRuntime
import StoreTables

/// Queries that are so plain that both dialects take them as they are, with `$1` for the first
/// argument. Nothing of a live request is written this way: a statement of every message has a
/// dialect's best form.
package protocol SharedQueries {
  /// The rows of a query, a value for each of the kinds.
  func shared(_ sql: String, _ values: [StoredValue], _ kinds: [ColumnKind]) throws -> [StoredTable.Row]

  /// That the group of an application is there, as the indexes of applications say it: another form of
  /// the same would read all applications.
  var applicationIsListed: String { get }
}

extension SharedQueries {
  /// Whether a query that selects `true` finds anything.
  func finds(_ sql: String, _ values: [StoredValue]) throws -> Bool { try !shared(sql, values, [.flag]).isEmpty }

  /// The single number that a query selects; nil = NULL, or no row.
  func number(_ sql: String, _ values: [StoredValue]) throws -> Int64? {
    guard case .integer(let number) = try shared(sql, values, [.integer]).first?.first else { return nil }
    return number
  }

  /// The numbers that a query selects.
  func numbers(_ sql: String, _ values: [StoredValue]) throws -> [Int64] {
    try shared(sql, values, [.integer]).map { try $0.integer(0) }
  }

  /// The first group behind a number that a user was ever in. In a group of before this was noted,
  /// anybody may have been.
  func nextGroup(everOf user: UserID, after number: Int64) throws -> Int64? {
    let noted = try self.number(
      "SELECT min(number) FROM groupOfUser WHERE userID = $1 AND number > $2", [.text(user.rawValue), .integer(number)])
    let unlisted = try self.number(
      "SELECT min(number) FROM groupRecord WHERE NOT listsUsers AND number > $1", [.integer(number)])
    guard let noted, let unlisted else { return noted ?? unlisted }
    return min(noted, unlisted)
  }

  /// The group of a number; nil = it is disbanded.
  func groupID(_ number: Int64) throws -> GroupID? {
    try shared("SELECT groupID FROM groupRecord WHERE number = $1", [.integer(number)], [.text]).first.map { row in
      guard let group = GroupID(try row.text(0)) else { throw StoreError(.inconsistent, "group \(number) has no name") }
      return group
    }
  }
}

extension [StoredValue] {
  /// The number in a place.
  func integer(_ index: Int) throws -> Int64 {
    guard case .integer(let number) = self[index] else { throw StoreError(.inconsistent, "column \(index) is no number") }
    return number
  }

  /// The truth value in a place; false where there is none.
  func flag(_ index: Int) throws -> Bool {
    switch self[index] {
    case .flag(let flag): return flag
    case .null: return false
    default: throw StoreError(.inconsistent, "column \(index) is no truth value")
    }
  }

  /// The text in a place; nil = NULL.
  func optionalText(_ index: Int) throws -> String? {
    switch self[index] {
    case .text(let text): return text
    case .null: return nil
    default: throw StoreError(.inconsistent, "column \(index) is no text")
    }
  }

  /// The text in a place.
  func text(_ index: Int) throws -> String {
    guard let text = try optionalText(index) else { throw StoreError(.inconsistent, "column \(index) is no text") }
    return text
  }

  /// The bytes in a place.
  func bytes(_ index: Int) throws -> [UInt8] {
    guard case .bytes(let bytes) = self[index] else { throw StoreError(.inconsistent, "column \(index) is no bytes") }
    return bytes
  }
}

/// Writes what belongs to users' deletions, by statements that both dialects take as they are.
package protocol ErasureWriter: AnyObject {
  /// Runs a statement, with `$1` for the first argument. It need not find a row.
  func runShared(_ sql: String, _ values: [StoredValue]) throws
}

extension ErasureWriter {
  /// Stores the state of a deletion.
  package func put(_ deletion: UserDeletion) throws {
    var values = StoredValues()
    try deletion.write(to: &values)
    let columns = UserDeletion.columns
    // NULL has no type of its own.
    let isRunning = deletion.endTime == nil
    let place = "$\(columns.place(of: "endTime"))"
    var places = columns.places("$")
    var arguments = values.row
    if isRunning {
      places = places.replacing(place, with: "NULL")
      // `pass` is behind it, and takes its number.
      places = places.replacing("$\(columns.place(of: "pass"))", with: place)
      arguments.remove(at: columns.place(of: "endTime") - 1)
    }
    try runShared(
      """
      INSERT INTO userDeletion (\(columns.names)) VALUES (\(places))
      ON CONFLICT (userID) DO UPDATE SET \(columns.without("userID").excluded)
      """, arguments)
  }

  /// Removes a deletion that is done.
  package func forgetDeletion(of user: UserID) throws {
    try runShared("DELETE FROM userDeletion WHERE userID = $1 AND endTime IS NOT NULL", [.text(user.rawValue)])
  }

  /// Notes that users are in a group, or were.
  package func note(_ users: [UserID], in group: GroupID) throws {
    for user in users {
      try runShared(
        """
        INSERT INTO groupOfUser (number, userID) SELECT number, $2 FROM groupRecord WHERE groupID = $1
        ON CONFLICT (number, userID) DO NOTHING
        """, [.text(group.rawValue), .text(user.rawValue)])
    }
  }

  /// Removes applications that nobody has decided.
  package func eraseApplications(_ ids: [String], in group: GroupID) throws {
    for id in ids {
      try runShared("DELETE FROM application WHERE id = $1 AND groupID = $2", [.text(id), .text(group.rawValue)])
    }
  }

  /// Erases a row, or a part of it.
  package func erase(_ row: ErasedRow) throws {
    switch row {
    case .profile(let user): try runShared("DELETE FROM userInfo WHERE userID = $1", [.text(user.rawValue)])
    case .nameCard(let number, let seq, let sender):
      try runShared(
        "UPDATE message SET nameCard = '' WHERE number = $1 AND seq = $2 AND sender = $3",
        [.integer(number), .integer(seq), .text(sender.rawValue)])
    case .tips(let number, let seq, let content):
      try runShared(
        "UPDATE message SET content = $3 WHERE number = $1 AND seq = $2 AND kind = 'GroupTips'",
        [.integer(number), .integer(seq), .text(content)])
    case .application(let number): try runShared("DELETE FROM application WHERE number = $1", [.integer(number)])
    case .answer(let number): try runShared("UPDATE application SET handledMsg = '' WHERE number = $1", [.integer(number)])
    case .notification(let addressee, let number):
      try runShared("DELETE FROM notification WHERE addressee = $1 AND number = $2", [.text(addressee), .integer(number)])
    case .notice(let addressee, let number, let opUser):
      try runShared(
        """
        UPDATE notification SET opUser = $3, reason = NULL, data = NULL, opNickName = NULL, opFaceURL = NULL
        WHERE addressee = $1 AND number = $2
        """, [.text(addressee), .integer(number), .text(opUser)])
    case .receipts(let number, let block, let user):
      try runShared(
        "DELETE FROM readReceipt WHERE number = $1 AND block = $2 AND userID = $3",
        [.integer(number), .integer(block), .text(user.rawValue)])
    case .receiptList(let number, let seq, let users):
      try runShared(
        "UPDATE receiptMembers SET userIDs = $3 WHERE number = $1 AND seq = $2",
        [.integer(number), .integer(seq), .text(users.column)])
    case .targets(let number, let seq, let users):
      try runShared(
        "UPDATE messageExtras SET toUserIDs = $3 WHERE number = $1 AND seq = $2 AND toUserIDs IS NOT NULL",
        [.integer(number), .integer(seq), .text(users.column)])
    case .formerMember(let number, let user): try eraseFormer(user, of: number)
    case .disbandedMember(let number, let user):
      try runShared(
        """
        DELETE FROM member WHERE number = $1 AND userID = $2
        AND NOT EXISTS (SELECT 1 FROM groupRecord WHERE groupRecord.number = member.number)
        """, [.integer(number), .text(user.rawValue)])
    case .report(let number): try runShared("DELETE FROM report WHERE number = $1", [.integer(number)])
    case .reportedMessage(let number, let message):
      try runShared("UPDATE report SET message = $2 WHERE number = $1", [.integer(number), .bytes(message)])
    case .webhook(let number, let data):
      try runShared(
        "UPDATE webhook SET data = $2 WHERE number = $1 AND data IS NOT NULL", [.integer(number), .bytes(data)])
    case .failure(let number, let data):
      try runShared("UPDATE webhookFailure SET data = $2 WHERE number = $1", [.integer(number), .bytes(data)])
    case .groupOfUser(let number, let user): try forgetGroup(number, of: user)
    case .departures(let user): try runShared("DELETE FROM departure WHERE userID = $1", [.text(user.rawValue)])
    case .marks(let user): try runShared("DELETE FROM readMark WHERE userID = $1", [.text(user.rawValue)])
    case .known(let user): try runShared("DELETE FROM knownUser WHERE userID = $1", [.text(user.rawValue)])
    }
  }

  /// A ban and a mute stay, and the record with them.
  private func eraseFormer(_ user: UserID, of number: Int64) throws {
    let key: [StoredValue] = [.integer(number), .text(user.rawValue)]
    try runShared(
      """
      UPDATE formerMember SET stays = NULL, role = NULL, isListed = false, clearedSeq = 0, quitTime = 0,
      memorableUntil = restrictedUntil WHERE number = $1 AND userID = $2
      """, key)
    try runShared("DELETE FROM formerMember WHERE number = $1 AND userID = $2 AND restrictedUntil = 0", key)
  }

  /// Stays where the user is in the group again, or has left it since the job has looked there.
  private func forgetGroup(_ number: Int64, of user: UserID) throws {
    try runShared(
      """
      DELETE FROM groupOfUser WHERE number = $1 AND userID = $2 AND NOT EXISTS (
        SELECT 1 FROM groupRecord AS g JOIN member AS m ON m.number = g.number AND m.userID = $2 WHERE g.number = $1)
      AND NOT EXISTS (
        SELECT 1 FROM groupRecord AS g JOIN formerMember AS f ON f.number = g.number AND f.userID = $2
        WHERE g.number = $1 AND f.isListed)
      """, [.integer(number), .text(user.rawValue)])
  }
}

extension [UserID] {
  /// The list, as a column keeps it.
  fileprivate var column: String { map(\.rawValue).joined(separator: " ") }
}
