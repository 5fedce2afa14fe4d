import GRDB
import GroupModel
import GroupRuntime
import StoreTables

/// `messageChange` rows: what messages have since they were changed, and the group's last change.
enum MessageChangeRows {
  // The message must exist. A message that stays pinned keeps the change that pinned it.
  private static let putSQL = """
    INSERT INTO messageChange (number, seq, changeSeq, editTime, pinned)
    SELECT number, seq, ?1, ?2, iif(?3, ?1, 0) FROM message
    WHERE number = (SELECT number FROM groupRecord WHERE groupID = ?4) AND seq = ?5 AND msgID = ?6
    ON CONFLICT (number, seq) DO UPDATE SET changeSeq = excluded.changeSeq, editTime = excluded.editTime,
    pinned = iif(pinned > 0 AND excluded.pinned > 0, pinned, excluded.pinned)
    """

  static func put(_ message: Message, in db: Database) throws {
    let count = try db.run(putSQL) { binding in
      binding.append(message.changeSeq)
      binding.append(message.editTime)
      binding.append(message.isPinned)
      binding.append(message.groupID.rawValue)
      binding.append(message.seq ?? 0)
      binding.append(message.msgID)
    }
    guard try count == 1 || MessageRows.isRemoved(message.seq ?? .max, of: message.groupID, db) else {
      throw StoreError(.inconsistent, "no message \(message.msgID) at seq \(message.seq ?? 0) of \(message.groupID)")
    }
  }

  /// Removes what messages have that are removed.
  static func remove(through seq: Int64, number: Int64, in db: Database) throws {
    try db.run("DELETE FROM messageChange WHERE number = ? AND seq <= ?", [number, seq])
  }

  static func put(_ changeSeq: Int64, at time: WallInstant, in group: GroupID, _ db: Database) throws {
    let count = try db.run("UPDATE groupRecord SET changeSeq = ?, changeTime = ? WHERE groupID = ?") { binding in
      binding.append(changeSeq)
      binding.append(time)
      binding.append(group.rawValue)
    }
    guard count == 1 else { throw StoreError(.inconsistent, "no group \(group) to change") }
  }

  static func changes(
    number: Int64, after changeSeq: Int64, limit: Int, in db: Database
  ) throws -> [(changeSeq: Int64, seq: Int64)] {
    try db.rows(
      "SELECT changeSeq, seq FROM messageChange INDEXED BY messageByChange WHERE number = ? AND changeSeq > ? "
        + "ORDER BY changeSeq LIMIT ?", [number, changeSeq, limit]
    ) { (changeSeq: try $0.integer(), seq: try $0.integer()) }
  }

  /// The pinned messages, the last pinned first.
  static func pinned(number: Int64, in db: Database) throws -> [Int64] {
    try db.rows(
      "SELECT seq FROM messageChange INDEXED BY pinnedMessage WHERE number = ? AND pinned > 0 ORDER BY pinned DESC", [number]
    ) { try $0.integer() }
  }
}

/// `reaction` rows, the users who gave each, and those that are still to be deleted.
enum ReactionRows {
  static func update(_ update: ReactionUpdate, in db: Database) throws {
    guard let number = try db.number(of: update.group) else {
      throw StoreError(.inconsistent, "no group \(update.group) to react in")
    }
    if try MessageRows.isRemoved(update.seq, of: update.group, db) { return }
    if update.isAdded { try add(update, number, db) } else { try remove(update, number, db) }
  }

  private static func add(_ update: ReactionUpdate, _ number: Int64, _ db: Database) throws {
    try db.run("INSERT INTO reactionUser (number, kind, userID, time) VALUES (?, ?, ?, ?)") { binding in
      binding.append(number)
      binding.append(update.number)
      binding.append(update.user.rawValue)
      binding.append(update.changeSeq)
    }
    if update.number == update.changeSeq {
      try db.run(
        "INSERT INTO reaction (number, seq, kind, count, reaction) VALUES (?, ?, ?, 1, ?)",
        [number, update.seq, update.number, update.reaction])
    } else {
      try count(update, by: 1, number, db)
    }
  }

  private static func remove(_ update: ReactionUpdate, _ number: Int64, _ db: Database) throws {
    let removed = try db.run("DELETE FROM reactionUser WHERE number = ? AND kind = ? AND userID = ?") { binding in
      binding.append(number)
      binding.append(update.number)
      binding.append(update.user.rawValue)
    }
    guard removed == 1 else { throw StoreError(.inconsistent, "no reaction \(update.number) of \(update.user) to remove") }
    try count(update, by: -1, number, db)
    try db.run(
      "DELETE FROM reaction WHERE number = ? AND seq = ? AND kind = ? AND count = 0", [number, update.seq, update.number])
  }

  private static func count(_ update: ReactionUpdate, by change: Int64, _ number: Int64, _ db: Database) throws {
    let counted = try db.run("UPDATE reaction SET count = count + ? WHERE number = ? AND seq = ? AND kind = ?") { binding in
      binding.append(change)
      binding.append(number)
      binding.append(update.seq)
      binding.append(update.number)
    }
    guard counted == 1 else { throw StoreError(.inconsistent, "no reaction \(update.number) of message \(update.seq)") }
  }

  /// Removes the reactions of a message; their users are deleted in the background.
  static func remove(of seq: Int64, in group: GroupID, _ db: Database) throws {
    guard let number = try db.number(of: group) else { throw StoreError(.inconsistent, "no group \(group) with reactions") }
    try db.run("INSERT INTO goneReaction SELECT number, kind FROM reaction WHERE number = ? AND seq = ?", [number, seq])
    try db.run("DELETE FROM reaction WHERE number = ? AND seq = ?", [number, seq])
  }

  /// Removes the reactions of messages that are removed; their users are deleted later.
  /// - Returns: whether there were any.
  static func remove(through seq: Int64, number: Int64, in db: Database) throws -> Bool {
    let gone = try db.run(
      "INSERT INTO goneReaction SELECT number, kind FROM reaction WHERE number = ? AND seq <= ?", [number, seq])
    if gone > 0 { try db.run("DELETE FROM reaction WHERE number = ? AND seq <= ?", [number, seq]) }
    return gone > 0
  }

  /// Deletes users of reactions that are gone.
  /// - Parameter rows: how many at most.
  /// - Returns: false where nothing is left.
  static func clearGone(_ rows: Int, in db: Database) throws -> Bool {
    let gone = try db.rows("SELECT number, kind FROM goneReaction LIMIT 1", []) { (try $0.integer(), try $0.integer()) }
    guard let (number, kind) = gone.first else { return false }
    let deleted = try db.run(
      "DELETE FROM reactionUser WHERE number = ?1 AND kind = ?2 AND userID IN "
        + "(SELECT userID FROM reactionUser WHERE number = ?1 AND kind = ?2 LIMIT ?3)", [number, kind, rows])
    if deleted < rows { try db.run("DELETE FROM goneReaction WHERE number = ? AND kind = ?", [number, kind]) }
    return true
  }

  static func reactions(
    to seq: Int64, number: Int64, reader: UserID?, users: Int, in db: Database
  ) throws -> [StoredReaction] {
    var reactions = try db.rows(
      """
      SELECT kind, reaction, count,
      EXISTS (SELECT 1 FROM reactionUser AS u WHERE u.number = r.number AND u.kind = r.kind AND u.userID = ?)
      FROM reaction AS r WHERE number = ? AND seq = ? ORDER BY kind
      """, [reader?.rawValue ?? "", number, seq], StoredReaction.read)
    guard users > 0 else { return reactions }
    for index in reactions.indices {
      reactions[index].users = try db.rows(
        "SELECT userID FROM reactionUser INDEXED BY reactionUserByTime WHERE number = ? AND kind = ? ORDER BY time LIMIT ?",
        [number, reactions[index].number, users]
      ) { try $0.value(UserID.self) }
    }
    return reactions
  }
}
