import GRDB
import GroupModel
import GroupRuntime
import StoreTables

/// Statements of `messageChange` rows: what messages have since they were changed.
private enum MessageChangeRows {
  // The message must exist. A message that stays pinned keeps the change that pinned it.
  static let putSQL = """
    INSERT INTO messageChange (number, seq, changeSeq, editTime, pinned)
    SELECT number, seq, ?1, ?2, iif(?3, ?1, 0) FROM message
    WHERE number = (SELECT number FROM groupRecord WHERE groupID = ?4) AND seq = ?5 AND msgID = ?6
    ON CONFLICT (number, seq) DO UPDATE SET changeSeq = excluded.changeSeq, editTime = excluded.editTime,
    pinned = iif(pinned > 0 AND excluded.pinned > 0, pinned, excluded.pinned)
    """

  // The change must be the message's last.
  static let originSQL = """
    UPDATE messageChange SET otherSeq = iif(originKind <> ?1, originSeq, coalesce(otherSeq, 0)), originSeq = ?2,
    originKind = ?1, originUser = ?3, originPlatform = ?4, originReaction = ?5, originIsAdded = ?6
    WHERE number = ?7 AND seq = ?8 AND changeSeq = ?2
    """
}

extension SQLiteTransaction {
  func noteChange(of message: Message) throws {
    let count = try db.run(MessageChangeRows.putSQL) { binding in
      binding.append(message.changeSeq)
      binding.append(message.editTime)
      binding.append(message.isPinned)
      binding.append(message.groupID.rawValue)
      binding.append(message.seq ?? 0)
      binding.append(message.msgID)
    }
    if count == 0 { try checkRemoved(message) }
  }

  func put(changeSeq: Int64, at time: WallInstant, in group: GroupID) throws {
    let count = try db.run("UPDATE groupRecord SET changeSeq = ?, changeTime = ? WHERE groupID = ?") { binding in
      binding.append(changeSeq)
      binding.append(time)
      binding.append(group.rawValue)
    }
    guard count == 1 else { throw StoreError(.inconsistent, "no group \(group) to change") }
  }

  func put(_ origin: ChangeOrigin, of seq: Int64, changeSeq: Int64, in group: GroupID) throws {
    let number = try number(of: group, "with a change")
    if try isRemoved(seq, of: group) { return }
    let changed = try db.run(MessageChangeRows.originSQL) { binding in
      binding.append(origin.kind.rawValue)
      binding.append(changeSeq)
      binding.append(origin.user.rawValue)
      binding.append(origin.platform.rawValue)
      binding.append(origin.reaction)
      binding.append(origin.isAdded)
      binding.append(number)
      binding.append(seq)
    }
    guard changed == 1 else { throw StoreError(.inconsistent, "no change \(changeSeq) of message \(seq) of \(group)") }
  }

  // MARK: Reactions

  func update(_ reaction: ReactionUpdate) throws {
    let number = try number(of: reaction.group, "to react in")
    if try isRemoved(reaction.seq, of: reaction.group) { return }
    if reaction.isAdded { try add(reaction, number) } else { try remove(reaction, number) }
  }

  private func add(_ update: ReactionUpdate, _ number: Int64) throws {
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
      try count(update, by: 1, number)
    }
  }

  private func remove(_ update: ReactionUpdate, _ number: Int64) throws {
    let removed = try db.run("DELETE FROM reactionUser WHERE number = ? AND kind = ? AND userID = ?") { binding in
      binding.append(number)
      binding.append(update.number)
      binding.append(update.user.rawValue)
    }
    guard removed == 1 else { throw StoreError(.inconsistent, "no reaction \(update.number) of \(update.user) to remove") }
    try count(update, by: -1, number)
    try db.run(
      "DELETE FROM reaction WHERE number = ? AND seq = ? AND kind = ? AND count = 0", [number, update.seq, update.number])
  }

  private func count(_ update: ReactionUpdate, by change: Int64, _ number: Int64) throws {
    let counted = try db.run("UPDATE reaction SET count = count + ? WHERE number = ? AND seq = ? AND kind = ?") { binding in
      binding.append(change)
      binding.append(number)
      binding.append(update.seq)
      binding.append(update.number)
    }
    guard counted == 1 else { throw StoreError(.inconsistent, "no reaction \(update.number) of message \(update.seq)") }
  }

  func removeReactions(of seq: Int64, in group: GroupID) throws {
    let number = try number(of: group, "with reactions")
    try db.run("INSERT INTO goneReaction SELECT number, kind FROM reaction WHERE number = ? AND seq = ?", [number, seq])
    try db.run("DELETE FROM reaction WHERE number = ? AND seq = ?", [number, seq])
  }
}

/// `reaction` rows that are removed, and the users who gave them.
enum ReactionRows {
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
}

extension Database {
  package func changeOrigins(number: Int64, seqs: [Int64]) throws -> [Int64: StoredChangeOrigin] {
    var origins: [Int64: StoredChangeOrigin] = [:]
    for seq in seqs {
      let found = try rows(
        "SELECT changeSeq, \(ChangeOriginRow.columns.names) FROM messageChange WHERE number = ? AND seq = ?", [number, seq]
      ) { row -> StoredChangeOrigin? in
        let changeSeq = try row.integer()
        return try ChangeOriginRow.read(&row).origin(of: changeSeq)
      }
      if let origin = found.first { origins[seq] = origin }
    }
    return origins
  }

  package func changes(number: Int64, after changeSeq: Int64, limit: Int) throws -> [(changeSeq: Int64, seq: Int64)] {
    try rows(
      "SELECT changeSeq, seq FROM messageChange INDEXED BY messageByChange WHERE number = ? AND changeSeq > ? "
        + "ORDER BY changeSeq LIMIT ?", [number, changeSeq, limit]
    ) { (changeSeq: try $0.integer(), seq: try $0.integer()) }
  }

  /// The pinned messages, the last pinned first.
  func pinned(number: Int64) throws -> [Int64] {
    try rows(
      "SELECT seq FROM messageChange INDEXED BY pinnedMessage WHERE number = ? AND pinned > 0 ORDER BY pinned DESC", [number]
    ) { try $0.integer() }
  }

  package func reactions(
    to seqs: [Int64], number: Int64, reader: UserID?, users: Int
  ) throws -> [Int64: [StoredReaction]] {
    var found: [Int64: [StoredReaction]] = [:]
    for seq in seqs {
      var reactions = try rows(
        """
        SELECT kind, reaction, count,
        EXISTS (SELECT 1 FROM reactionUser AS u WHERE u.number = r.number AND u.kind = r.kind AND u.userID = ?)
        FROM reaction AS r WHERE number = ? AND seq = ? ORDER BY kind
        """, [reader?.rawValue ?? "", number, seq], StoredReaction.read)
      for index in reactions.indices where users > 0 {
        reactions[index].users = try rows(
          "SELECT userID FROM reactionUser INDEXED BY reactionUserByTime WHERE number = ? AND kind = ? ORDER BY time LIMIT ?",
          [number, reactions[index].number, users]
        ) { try $0.value() }
      }
      if !reactions.isEmpty { found[seq] = reactions }
    }
    return found
  }
}
