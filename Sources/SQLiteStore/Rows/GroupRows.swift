import GRDB
import GroupModel
import GroupRuntime
import StoreTables

/// Statements of `groupRecord` rows.
private enum GroupRows {
  static let insertSQL = """
    INSERT INTO groupRecord (\(GroupRecord.columns.names)) VALUES (\(GroupRecord.columns.places("?")))
    """
  // A correction of ends may be older than the stamp beside it.
  static let updateSQL = """
    UPDATE groupRecord
    SET \(GroupRecord.columns.assignments("?", to: GroupRecord.columns.without("groupID", "revision", "board").map(\.name))),
    revision = max(revision, ?\(GroupRecord.columns.place(of: "revision"))),
    board = max(board, ?\(GroupRecord.columns.place(of: "board")))
    WHERE groupID = ?\(GroupRecord.columns.place(of: "groupID"))
    """
  static let selectSQL = "SELECT \(GroupRecord.columns.names), firstSeq, removedTime FROM groupRecord WHERE number = ?"
}

extension SQLiteTransaction {
  func insert(_ record: GroupRecord) throws { try db.run(GroupRows.insertSQL) { try record.write(to: &$0) } }

  func update(_ record: GroupRecord) throws {
    guard try db.run(GroupRows.updateSQL, binding: { try record.write(to: &$0) }) == 1 else {
      throw StoreError(.inconsistent, "no group \(record.id) to change")
    }
  }

  func put(lastShown seq: Int64, at time: WallInstant, in group: GroupID) throws {
    let changed = try db.run("UPDATE groupRecord SET lastShownSeq = ?, lastShownTime = ? WHERE groupID = ?") { binding in
      binding.append(seq)
      binding.append(time)
      binding.append(group.rawValue)
    }
    guard changed == 1 else { throw StoreError(.inconsistent, "no group \(group) to have a last message") }
  }

  func put(revision: Int64, board: Int64, in group: GroupID) throws {
    try db.run("UPDATE groupRecord SET revision = max(revision, ?), board = max(board, ?) WHERE groupID = ?") { binding in
      binding.append(revision)
      binding.append(board)
      binding.append(group.rawValue)
    }
  }

  func put(_ attributes: GroupAttributes, in group: GroupID) throws {
    let number = try number(of: group, "to have attributes")
    guard attributes.count > 0 else {
      try db.run("DELETE FROM groupAttributes WHERE number = ?", [number])
      return
    }
    try db.run("INSERT OR REPLACE INTO groupAttributes VALUES (?, ?)") { binding in
      binding.append(number)
      try attributes.entries.write(to: &binding)
    }
  }

  func put(_ counters: [GroupCounters.Entry], in group: GroupID) throws {
    let number = try number(of: group, "to have counters")
    for counter in counters {
      if let value = counter.value {
        try db.run("INSERT OR REPLACE INTO groupCounter VALUES (?, ?, ?)", [number, counter.key, value])
      } else {
        try db.run("DELETE FROM groupCounter WHERE number = ? AND key = ?", [number, counter.key])
      }
    }
  }

  // `DisbandedGroupCleanup` clears the other rows.
  func dismiss(_ group: GroupID, at time: WallInstant, notifying notification: SystemNotification?) throws {
    // The rows of its messages need the group's number.
    try finishAppends(of: .group(group))
    if let notification, let number = try db.number(of: group) {
      try put(notification, for: [NotificationRows.members(of: number)])
    }
    let moved = try db.run(
      "INSERT INTO dismissedGroup SELECT number, groupID, type, ? FROM groupRecord WHERE groupID = ?", [time, group.rawValue])
    guard moved == 1 else { throw StoreError(.inconsistent, "no group \(group) to disband") }
    try db.run("DELETE FROM groupRecord WHERE groupID = ?", [group.rawValue])
  }
}

extension Database {
  package func stamps(of groups: [GroupID]) throws -> [GroupID: GroupStamp] {
    var stamps: [GroupID: GroupStamp] = [:]
    for group in groups {
      stamps[group] = try rows(
        """
        SELECT epoch, coalesce((SELECT max(seq) FROM message AS m WHERE m.number = g.number), firstSeq - 1), changeSeq,
        revision, board FROM groupRecord AS g WHERE groupID = ?
        """, [group.rawValue], GroupStamp.read
      ).first
    }
    return stamps
  }

  package func recentMembers(since instant: WallInstant, limit: Int) throws -> [(GroupID, UserID)] {
    try rows(
      """
      SELECT g.groupID, m.userID FROM member AS m JOIN groupRecord AS g USING (number)
      WHERE m.joinTime >= ? AND g.type IN (\(GroupType.listedSQL)) LIMIT ?
      """, [instant, limit]
    ) { (try $0.value(GroupID.self), try $0.value(UserID.self)) }
  }

  package func head(of group: GroupID, number: Int64) throws -> StoredGroup? {
    guard var head = try rows(GroupRows.selectSQL, [number], StoredGroup.read).first else { return nil }
    head.lastMessage = try newestMessage(of: group, number: number)
    head.attributes =
      try rows("SELECT entries FROM groupAttributes WHERE number = ?", [number], GroupAttributes.read).first ?? head.attributes
    head.counters = GroupCounters(
      try rows("SELECT key, value FROM groupCounter WHERE number = ?", [number], GroupCounters.Entry.read))
    head.pinned = try pinned(number: number)
    return head
  }
}
