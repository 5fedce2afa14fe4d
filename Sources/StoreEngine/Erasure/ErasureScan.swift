import GroupModel
import GroupRuntime
import StoreTables
import WireProtocol

/// One look at what a step of a deletion erases next: a bounded number of rows is read, and what is
/// found is one small commit.
struct ErasureScan<Queries: StoreQueries> {
  /// The most rows of a commit, and about the bytes of their new texts.
  private let maxRows = 50
  private let maxBytes = 64 << 10
  /// A group may recall 20 messages a second; a chunk is about a second long, and takes as many groups
  /// as are asked at a time.
  private let recallsPerGroup = 20
  private let recallingGroups = 4

  private let db: Queries
  private let deletion: UserDeletion
  /// How many more rows are looked at.
  private var work: Int
  private var bytes = 0
  private var groupsWithRecalls = 0
  private var chunk = ErasableChunk()

  /// - Parameter scanning: about how many rows are looked at.
  init(_ deletion: UserDeletion, scanning: Int, in db: Queries) {
    self.deletion = deletion
    self.db = db
    work = scanning
  }

  private var user: UserID { deletion.userID }
  private var name: StoredValue { .text(deletion.userID.rawValue) }
  /// Whether nothing more fits into the commit.
  private var isPacked: Bool {
    bytes >= maxBytes || chunk.rows.count >= maxRows || chunk.operations.count >= maxRows
  }
  /// Whether the chunk ends: each has looked at something.
  private var isFull: Bool { work <= 0 || isPacked }

  /// What the step erases next.
  mutating func run() throws -> ErasableChunk {
    switch deletion.step {
    case .profile: chunk.rows = [.profile(user)]
    case .groups: try findMemberships()
    case .applications: try findApplications()
    case .reactions: try lookInGroups { try $0.findReactions(number: $1, of: $2, after: $3) }
    case .recalls: try lookInGroups { try $0.findOwnMessages(number: $1, of: $2, after: $3) }
    case .messages: try lookInGroups { try $0.findTexts(number: $1, of: $2, after: $3) }
    case .receipts: try lookInGroups { (scan, number, _, block) in try scan.findReceipts(number: number, from: block) }
    case .receiptLists: try lookInGroups { (scan, number, _, after) in try scan.findLists(number: number, after: after) }
    case .former: try findFormerMembers()
    case .notifications: try findNotifications()
    case .reports: try findReports()
    case .webhooks: try findWebhooks()
    case .marks: try findMarks()
    // The job does these by itself.
    case .sessions, .check, .file, .done: break
    }
    return chunk
  }

  private mutating func add(_ row: ErasedRow, bytes count: Int = 0) {
    chunk.rows.append(row)
    bytes += count
  }

  // MARK: Group by group

  /// Looks in the groups that the user was ever in, from the deletion's place on.
  /// - Parameter look: looks at rows of a group behind a place.
  ///   - Returns: the place to go on from; nil = the group is finished.
  private mutating func lookInGroups(
    _ look: (inout ErasureScan, _ number: Int64, _ group: GroupID, _ after: Int64) throws -> Int64?
  ) throws {
    var place = deletion.place
    while true {
      if place.number == 0 || place.seq == UserDeletion.Place.endOfGroup {
        guard let next = try db.nextGroup(everOf: user, after: place.number) else {
          chunk.next = nil
          return
        }
        place = UserDeletion.Place(number: next)
      }
      work -= 5
      // The rows of a disbanded group are cleared away by themselves.
      if let group = try db.groupID(place.number), let next = try look(&self, place.number, group, place.seq) {
        place.seq = next
      } else {
        place.seq = UserDeletion.Place.endOfGroup
      }
      chunk.next = place
      if isFull { return }
    }
  }

  /// Whether the user has given a reaction is asked so that PostgreSQL takes the index by userID, too,
  /// whatever it knows of the table: by the other one it would look at all who have given it.
  private mutating func findReactions(number: Int64, of group: GroupID, after seq: Int64) throws -> Int64? {
    let limit = 1000
    var rows = try db.shared(
      """
      SELECT r.seq, r.reaction, (
        SELECT min(u.userID) FROM reactionUser AS u
        WHERE u.number = r.number AND u.kind = r.kind AND u.userID BETWEEN $3 AND $3) IS NOT NULL
      FROM reaction AS r WHERE r.number = $1 AND r.seq > $2 ORDER BY r.seq, r.kind LIMIT \(limit)
      """, [.integer(number), .integer(seq), name], [.integer, .text, .flag])
    let isMore = rows.count == limit
    work -= rows.count
    // The last message may have more of them.
    if isMore, let last = try rows.last?.integer(0) {
      let others = try rows.filter { try $0.integer(0) != last }
      if !others.isEmpty { rows = others }
    }
    var reached = seq
    for row in rows {
      let own = try row.integer(0)
      if own != reached, isPacked { return reached }
      reached = own
      if try row.flag(2) {
        chunk.operations.append(GroupErasureOrder(.reaction(seq: own, try row.text(1)), in: group))
      }
    }
    return isMore ? reached : nil
  }

  private mutating func findOwnMessages(number: Int64, of group: GroupID, after seq: Int64) throws -> Int64? {
    let limit = 512
    let rows = try db.shared(
      """
      SELECT seq, sender = $3 AND NOT isRevoked AND kind <> 'GroupTips' FROM message
      WHERE number = $1 AND seq > $2 ORDER BY seq LIMIT \(limit)
      """, [.integer(number), .integer(seq), name], [.integer, .flag])
    work -= rows.count
    var count = 0
    for row in rows {
      guard try row.flag(1) else { continue }
      let own = try row.integer(0)
      chunk.operations.append(GroupErasureOrder(.recall(seq: own), in: group))
      count += 1
      if count == recallsPerGroup {
        work = 0
        return own
      }
    }
    if count > 0 { groupsWithRecalls += 1 }
    if groupsWithRecalls == recallingGroups { work = 0 }
    guard rows.count == limit, let last = rows.last else { return nil }
    // The next look at this group is in the next chunk, so that its recalls do not come faster.
    if count > 0 { work = 0 }
    return try last.integer(0)
  }

  /// Name cards beside the user's messages, and tips that show the user. Tips are never edited, and no
  /// edit of a message writes its name card: these statements are right beside any commit of the group.
  private mutating func findTexts(number: Int64, of group: GroupID, after seq: Int64) throws -> Int64? {
    let behindRows = UserDeletion.Place.endOfGroup - 1
    if seq < behindRows, let last = try findTextRows(number: number, after: seq) { return last }
    // What the group has in memory must not be older than its rows, which are committed with this chunk.
    if !chunk.rows.isEmpty {
      work = 0
      return behindRows
    }
    chunk.operations.append(GroupErasureOrder(.texts, in: group))
    return nil
  }

  private mutating func findTextRows(number: Int64, after seq: Int64) throws -> Int64? {
    let limit = 500
    let rows = try db.shared(
      """
      SELECT seq, nameCard <> '' AND sender = $3, CASE WHEN kind = 'GroupTips' THEN content END FROM message
      WHERE number = $1 AND seq > $2 ORDER BY seq LIMIT \(limit)
      """, [.integer(number), .integer(seq), name], [.integer, .flag, .text])
    work -= rows.count
    for row in rows {
      let own = try row.integer(0)
      if try row.flag(1) { add(.nameCard(number: number, seq: own, sender: user)) }
      if let tips = try row.optionalText(2), let erased = PersonalTexts.erase(user, in: Array(tips.utf8), messages: .keep) {
        add(.tips(number: number, seq: own, content: String(decoding: erased, as: UTF8.self)), bytes: erased.count)
      }
      if isPacked { return own }
    }
    guard rows.count == limit, let last = rows.last else { return nil }
    return try last.integer(0)
  }

  /// - Parameter block: the first to look at.
  private mutating func findReceipts(number: Int64, from block: Int64) throws -> Int64? {
    let blocksPerRead: Int64 = 8
    guard let newest = try db.newestSeq(number: number) else { return nil }
    let last = SeqBlock.number(of: newest)
    var next = block
    while next <= last {
      let end = min(next + blocksPerRead - 1, last)
      let found = try db.numbers(
        "SELECT block FROM readReceipt WHERE number = $1 AND block BETWEEN $2 AND $3 AND userID = $4 ORDER BY block",
        [.integer(number), .integer(next), .integer(end), name])
      for block in found { add(.receipts(number: number, block: block, user)) }
      work -= 100
      next = end + 1
      if isFull { break }
    }
    return next <= last ? next : nil
  }

  /// The lists of those who might have read a message, which receipts count: members when it was sent,
  /// and the readers whom it names. PostgreSQL would sort all lists of the group where each kind has no
  /// limit of its own.
  private mutating func findLists(number: Int64, after seq: Int64) throws -> Int64? {
    let limit = 100
    var rows = try db.shared(
      """
      SELECT * FROM (
        SELECT seq, userIDs, false, NULL FROM receiptMembers WHERE number = $1 AND seq > $2 ORDER BY seq LIMIT \(limit)) AS a
      UNION ALL
      SELECT * FROM (
        SELECT seq, toUserIDs, true, sender FROM messageExtras WHERE number = $1 AND seq > $2 AND toUserIDs IS NOT NULL
        ORDER BY seq LIMIT \(limit)) AS b
      ORDER BY 1 LIMIT \(limit)
      """, [.integer(number), .integer(seq)], [.integer, .text, .flag, .text])
    let isMore = rows.count == limit
    work -= rows.count
    // One message may have both.
    if isMore, let last = try rows.last?.integer(0) { rows = try rows.filter { try $0.integer(0) != last } }
    var reached = seq
    for row in rows {
      let own = try row.integer(0)
      if own != reached, isPacked { return reached }
      reached = own
      let users = try row.text(1).split(separator: " ").compactMap { UserID(stored: String($0)) }
      guard users.contains(user) else { continue }
      let others = users.filter { $0 != user }
      let size = others.count * 33
      if try !row.flag(2) {
        add(.receiptList(number: number, seq: own, others), bytes: size)
      } else if let sender = UserID(stored: try row.text(3)) {
        // A message that names nobody would be for everybody.
        add(.targets(number: number, seq: own, others.isEmpty ? [sender] : others), bytes: size)
      }
    }
    return isMore ? reached : nil
  }

  // MARK: By number

  private mutating func findMemberships() throws {
    let limit = 20
    let rows = try db.shared(
      """
      SELECT m.number, g.groupID FROM member AS m JOIN groupRecord AS g ON g.number = m.number
      WHERE m.userID = $1 AND m.number > $2 ORDER BY m.number LIMIT \(limit)
      """, [name, .integer(deletion.place.number)], [.integer, .text])
    for row in rows { try addOrder(.leave, in: row.text(1)) }
    if rows.count == limit, let last = rows.last { chunk.next = UserDeletion.Place(number: try last.integer(0)) }
  }

  private mutating func addOrder(_ erasure: GroupErasure, in name: String) throws {
    guard let group = GroupID(name) else { throw StoreError(.inconsistent, "a group has no name") }
    let order = GroupErasureOrder(erasure, in: group)
    if !chunk.operations.contains(order) { chunk.operations.append(order) }
  }

  private mutating func findApplications() throws {
    let limit = min(1000, work)
    let rows = try db.shared(
      """
      SELECT a.number, a.groupID, a.fromUser = $2 OR coalesce(a.toUser, '') = $2,
      coalesce(a.handledBy, '') = $2 AND coalesce(a.handledMsg, '') <> '', a.endTime IS NULL AND g.number IS NOT NULL
      FROM application AS a LEFT JOIN groupRecord AS g ON g.number = a.groupNumber
      WHERE a.number > $1 ORDER BY a.number LIMIT \(limit)
      """, [.integer(deletion.place.number), name], [.integer, .text, .flag, .flag, .flag])
    for row in rows {
      let number = try row.integer(0)
      chunk.next = UserDeletion.Place(number: number)
      if try row.flag(2) {
        // The group has an open one in memory.
        if try row.flag(4) { try addOrder(.records, in: row.text(1)) } else { add(.application(number: number)) }
      } else if try row.flag(3) {
        add(.answer(ofApplication: number))
      }
      if isFull { return }
    }
    if rows.count < limit { chunk.next = nil }
  }

  /// Goes from group to group: there is no index by user, and few groups have records. The rows of a user
  /// are counted, because PostgreSQL might read those of all groups to know whether one exists.
  private mutating func findFormerMembers() throws {
    var after = deletion.place.number
    while !isFull {
      let rows = try db.shared(
        """
        SELECT f.number, g.groupID, (
          SELECT count(*) FROM formerMember AS o WHERE o.number = f.number AND o.userID = $2) > 0
        FROM formerMember AS f LEFT JOIN groupRecord AS g ON g.number = f.number
        WHERE f.number > $1 ORDER BY f.number LIMIT 1
        """, [.integer(after), name], [.integer, .text, .flag])
      guard let row = rows.first else {
        chunk.next = nil
        return
      }
      work -= 10
      after = try row.integer(0)
      chunk.next = UserDeletion.Place(number: after)
      guard try row.flag(2) else { continue }
      // First the group, which writes its records as it has them in memory.
      if let group = try row.optionalText(1) { try addOrder(.records, in: group) }
      add(.formerMember(number: after, user))
    }
  }

  /// The user's own, and those of others about what the user did. The place is an instant.
  private mutating func findNotifications() throws {
    let own = try db.numbers(
      "SELECT number FROM notification WHERE addressee = $1 ORDER BY number LIMIT \(maxRows)", [name])
    let disbanded = try db.numbers(
      """
      SELECT d.number FROM dismissedGroup AS d JOIN member AS m ON m.number = d.number AND m.userID = $1 ORDER BY d.number
      LIMIT \(maxRows)
      """, [name])
    if !own.isEmpty || !disbanded.isEmpty {
      for number in own { add(.notification(addressee: user.rawValue, number: number)) }
      for number in disbanded { add(.disbandedMember(number: number, user)) }
      // They are gone at the next look.
      chunk.next = deletion.place
      return
    }
    let limit = 1000
    let columns = """
      timestamp, addressee, number, opUser,
      reason IS NOT NULL OR data IS NOT NULL OR opNickName IS NOT NULL OR opFaceURL IS NOT NULL
      """
    let kinds: [ColumnKind] = [.integer, .text, .integer, .text, .flag]
    var rows = try db.shared(
      "SELECT \(columns) FROM notification WHERE timestamp > $1 ORDER BY timestamp LIMIT \(limit)",
      [.integer(deletion.place.number)], kinds)
    let isMore = rows.count == limit
    if isMore, let first = rows.first, let last = rows.last {
      let (oldest, newest) = (try first.integer(0), try last.integer(0))
      // Notifications of one instant are looked at together: those of a large group have the same.
      rows =
        oldest == newest
        ? try db.shared("SELECT \(columns) FROM notification WHERE timestamp = $1", [.integer(oldest)], kinds)
        : try rows.filter { try $0.integer(0) != newest }
    }
    // Of one instant there may be thousands: what a commit has erased of them is passed over the next time.
    var (finished, reached) = (deletion.place.number, deletion.place.number)
    for row in rows {
      let time = try row.integer(0)
      if time != reached { (finished, reached) = (reached, time) }
      if isPacked {
        chunk.next = UserDeletion.Place(number: finished)
        return
      }
      let opUser = Array(try row.text(3).utf8)
      guard PersonalTexts.isInfo(of: user, opUser) else { continue }
      let erased = PersonalTexts.erase(user, in: opUser, messages: .keep)
      guard try erased != nil || row.flag(4) else { continue }
      add(
        .notice(
          addressee: try row.text(1), number: try row.integer(2), opUser: String(decoding: erased ?? opUser, as: UTF8.self)),
        bytes: opUser.count)
    }
    chunk.next = isMore ? UserDeletion.Place(number: reached) : nil
  }

  private mutating func findReports() throws {
    let own = try db.numbers("SELECT number FROM report WHERE reporter = $1 ORDER BY number LIMIT \(maxRows)", [name])
    if !own.isEmpty {
      for number in own { add(.report(number: number)) }
      chunk.next = deletion.place
      return
    }
    let limit = 200
    let rows = try db.shared(
      "SELECT number, message FROM report WHERE number > $1 ORDER BY number LIMIT \(limit)",
      [.integer(deletion.place.number)], [.integer, .bytes])
    for row in rows {
      let number = try row.integer(0)
      chunk.next = UserDeletion.Place(number: number)
      if let erased = PersonalTexts.erase(user, in: try row.bytes(1), messages: deletion.messages) {
        add(.reportedMessage(number: number, message: erased), bytes: erased.count)
      }
      if isFull { return }
    }
    if rows.count < limit { chunk.next = nil }
  }

  /// Those that wait, then those that were given up.
  private mutating func findWebhooks() throws {
    let limit = 200
    let isGivenUp = deletion.place.seq > 0
    let (table, condition) = isGivenUp ? ("webhookFailure", "") : ("webhook", "AND data IS NOT NULL")
    let rows = try db.shared(
      "SELECT number, data FROM \(table) WHERE number > $1 \(condition) ORDER BY number LIMIT \(limit)",
      [.integer(deletion.place.number)], [.integer, .bytes])
    for row in rows {
      let number = try row.integer(0)
      chunk.next = UserDeletion.Place(number: number, seq: deletion.place.seq)
      if let erased = PersonalTexts.erase(user, in: try row.bytes(1), messages: deletion.messages) {
        add(
          isGivenUp ? .failure(number: number, data: erased) : .webhook(number: number, data: erased), bytes: erased.count)
      }
      if isFull { return }
    }
    if rows.count < limit { chunk.next = isGivenUp ? nil : UserDeletion.Place(number: 0, seq: 1) }
  }

  private mutating func findMarks() throws {
    let numbers = try db.numbers(
      "SELECT number FROM groupOfUser WHERE userID = $1 AND number > $2 ORDER BY number LIMIT \(maxRows)",
      [name, .integer(deletion.place.number)])
    for number in numbers { add(.groupOfUser(number: number, user)) }
    if numbers.count == maxRows, let last = numbers.last {
      chunk.next = UserDeletion.Place(number: last)
    } else {
      for row in [ErasedRow.departures(user), .marks(user), .known(user)] { add(row) }
    }
  }
}

extension StoreQueries {
  /// The first step that would find something in the tables that name users. Messages are found by the
  /// groups in which the user was.
  func remains(of user: UserID) throws -> UserDeletion.Step? {
    let looks: [(step: UserDeletion.Step, sql: String)] = [
      (.profile, "SELECT true FROM userInfo WHERE userID = $1 LIMIT 1"),
      (
        .groups,
        "SELECT true FROM member AS m JOIN groupRecord AS g ON g.number = m.number WHERE m.userID = $1 LIMIT 1"
      ),
      (.applications, "SELECT true FROM application WHERE fromUser = $1 AND \(applicationIsListed) LIMIT 1"),
      (.applications, "SELECT true FROM application WHERE toUser = $1 AND \(applicationIsListed) LIMIT 1"),
      (.reactions, "SELECT true FROM groupOfUser WHERE userID = $1 LIMIT 1"),
      (.notifications, "SELECT true FROM notification WHERE addressee = $1 LIMIT 1"),
      (
        .notifications,
        "SELECT true FROM dismissedGroup AS d JOIN member AS m ON m.number = d.number AND m.userID = $1 LIMIT 1"
      ),
      (.reports, "SELECT true FROM report WHERE reporter = $1 LIMIT 1"),
      (.marks, "SELECT true FROM departure WHERE userID = $1 LIMIT 1"),
      (.marks, "SELECT true FROM readMark WHERE userID = $1 LIMIT 1"),
      (.marks, "SELECT true FROM knownUser WHERE userID = $1 LIMIT 1"),
    ]
    return try looks.first { try finds($0.sql, [.text(user.rawValue)]) }?.step
  }
}
