import GRDB
import GroupModel
import GroupRuntime

extension Database {
  /// Makes one change inside the transaction that is open.
  /// - Throws: `StoreError` `.inconsistent` where the change contradicts what is stored, or GRDB's error.
  func apply(_ change: StoreChange) throws {
    switch change {
    case .putGroup(let record, isNew: true): try GroupRows.insert(record, in: self)
    case .putGroup(let record, isNew: false): try GroupRows.update(record, in: self)
    case .putMember(let member, in: let group): try MemberRows.put(member, in: group, self)
    case .removeMember(let user, from: let group, let time): try MemberRows.remove(user, from: group, at: time, self)
    case .putFormer(let former, in: let group): try FormerMemberRows.put(former, in: group, self)
    case .forgetFormer(let user, in: let group): try FormerMemberRows.forget(user, in: group, self)
    case .append(let message): try MessageRows.append(message, in: self)
    case .revise(let message): try MessageRows.revise(message, in: self)
    case .dismiss(let group, let time): try dismiss(group, at: time)
    }
  }

  // However big the group is, two rows move now; members and messages follow in the purge.
  private func dismiss(_ group: GroupID, at time: Instant) throws {
    let moved = try run(
      "INSERT INTO dismissedGroup SELECT number, groupID, ? FROM groupRecord WHERE groupID = ?", [time, group.rawValue])
    guard moved == 1 else { throw StoreError(.inconsistent, "no group \(group) to disband") }
    try run("DELETE FROM groupRecord WHERE groupID = ?", [group.rawValue])
  }
}

/// Clears away what disbanded groups have left: members become departures, messages go.
enum Purge {
  /// Clears one chunk in the transaction that is open.
  /// - Parameter rows: how many rows a chunk has at most.
  /// - Returns: false where nothing is left to clear.
  static func chunk(of rows: Int, in db: Database) throws -> Bool {
    let oldest = try db.rows("SELECT number, groupID, time FROM dismissedGroup ORDER BY number LIMIT 1", []) {
      (number: try $0.integer(), groupID: try $0.text(), time: try $0.integer())
    }
    guard let group = oldest.first else { return false }
    if try members(of: group.number, groupID: group.groupID, time: group.time, rows, db) { return true }
    if try messages(of: group.number, rows, db) { return true }
    if try formerMembers(of: group.number, rows, db) { return true }
    try db.run("DELETE FROM dismissedGroup WHERE number = ?", [group.number])
    return true
  }

  private static func members(
    of number: Int64, groupID: String, time: Instant, _ rows: Int, _ db: Database
  ) throws -> Bool {
    let users = try db.rows("SELECT userID FROM member WHERE number = ? ORDER BY userID LIMIT ?", [number, rows]) {
      try $0.text()
    }
    guard let last = users.last else { return false }
    try db.run(
      """
      INSERT INTO departure SELECT userID, ?, ? FROM member WHERE number = ? AND userID <= ?
      ON CONFLICT (userID, groupID) DO UPDATE SET time = max(time, excluded.time)
      """, [groupID, time, number, last])
    try db.run("DELETE FROM member WHERE number = ? AND userID <= ?", [number, last])
    return true
  }

  private static func formerMembers(of number: Int64, _ rows: Int, _ db: Database) throws -> Bool {
    try db.run(
      "DELETE FROM formerMember WHERE number = ? AND userID IN (SELECT userID FROM formerMember WHERE number = ? LIMIT ?)",
      [number, number, rows]) > 0
  }

  private static func messages(of number: Int64, _ rows: Int, _ db: Database) throws -> Bool {
    try db.run(
      "DELETE FROM message WHERE number = ? AND seq < (SELECT min(seq) FROM message WHERE number = ?) + ?",
      [number, number, rows]) > 0
  }
}
