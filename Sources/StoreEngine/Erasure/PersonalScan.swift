import GroupModel
import GroupRuntime
import StoreTables

/// One page of what is kept of a user, for an export: a bounded number of rows is read.
struct PersonalScan<Queries: StoreQueries> {
  private let db: Queries
  private let user: UserID
  private let limit: Int
  /// How many more rows are looked at.
  private var work: Int
  private var rows: [PersonalRow] = []

  /// - Parameters:
  ///   - limit: the most rows of the page.
  ///   - scanning: about how many are looked at.
  init(of user: UserID, limit: Int, scanning: Int, in db: Queries) {
    self.user = user
    self.limit = limit
    self.db = db
    work = scanning
  }

  private var name: StoredValue { .text(user.rawValue) }
  private var wanted: Int { limit - rows.count }
  private var isOver: Bool { wanted <= 0 || work <= 0 }

  /// The page behind a place.
  mutating func page(after place: PersonalPlace) throws -> PersonalPage {
    var place = place
    while true {
      if let last = try look(after: place) { return PersonalPage(rows: rows, next: last) }
      guard let next = place.nextStage else { return PersonalPage(rows: rows, next: nil) }
      place = next
      if isOver { return PersonalPage(rows: rows, next: place) }
    }
  }

  /// - Returns: where the kind goes on; nil = there is no more of it.
  private mutating func look(after place: PersonalPlace) throws -> PersonalPlace? {
    switch place.stage {
    case .membership: try addMemberships(after: place) { .membership($0, $1) }
    case .settings: try addMemberships(after: place) { .settings($0, $1) }
    case .application: try addApplications(after: place)
    case .notification: try addNotifications(after: place)
    case .message: try addMessages(after: place)
    }
  }

  private mutating func add(_ content: PersonalRow.Content, at place: PersonalPlace) {
    rows.append(PersonalRow(content, at: place))
    work -= 1
  }

  private mutating func addMemberships(
    after place: PersonalPlace, _ content: (Membership, Member) -> PersonalRow.Content
  ) throws -> PersonalPlace? {
    var last = place
    for membership in try db.memberships(of: user) where membership.groupNumber > place.position {
      if isOver { return last }
      last.position = membership.groupNumber
      let columns = Member.columns
      let found = try db.shared(
        "SELECT \(columns.names) FROM member WHERE number = $1 AND userID = $2", [.integer(membership.groupNumber), name],
        columns.map(\.kind))
      for row in found {
        var reader = StoredValueReader(row, of: columns)
        add(content(membership, try Member.read(&reader)), at: last)
      }
    }
    return nil
  }

  private mutating func addApplications(after place: PersonalPlace) throws -> PersonalPlace? {
    let scanned = max(1, work)
    let numbers = try db.shared(
      """
      SELECT number, fromUser = $2 OR coalesce(toUser, '') = $2 FROM application WHERE number > $1
      ORDER BY number LIMIT \(scanned)
      """, [.integer(place.position), name], [.integer, .flag])
    work -= numbers.count
    var last = place
    for row in numbers {
      if wanted <= 0 { return last }
      last.position = try row.integer(0)
      guard try row.flag(1) else { continue }
      let columns = GroupApplication.columns
      let found = try db.shared(
        "SELECT \(columns.names) FROM application WHERE number = $1", [.integer(last.position)], columns.map(\.kind))
      for row in found {
        var reader = StoredValueReader(row, of: columns)
        add(.application(try GroupApplication.read(&reader)), at: last)
      }
    }
    return numbers.count == scanned ? last : nil
  }

  private mutating func addNotifications(after place: PersonalPlace) throws -> PersonalPlace? {
    let columns = SystemNotification.columns
    let count = max(1, wanted)
    let found = try db.shared(
      """
      SELECT number, \(columns.names) FROM notification WHERE addressee = $1 AND number > $2
      ORDER BY number LIMIT \(count)
      """, [name, .integer(place.position)], [.integer] + columns.map(\.kind))
    var last = place
    for row in found {
      last.position = try row.integer(0)
      var reader = StoredValueReader(Array(row.dropFirst()), of: columns)
      add(.notification(try SystemNotification.read(&reader)), at: last)
    }
    return found.count == count ? last : nil
  }

  /// The user's messages in the groups that the user was ever in, and nobody has recalled.
  private mutating func addMessages(after place: PersonalPlace) throws -> PersonalPlace? {
    let span = 512
    var (number, below) = MessageSearch.position(at: place.position)
    var last = place
    while true {
      guard let after = below else {
        guard let next = try db.nextGroup(everOf: user, after: number) else { return nil }
        (number, below) = (next, 0)
        // Beyond are more groups than places.
        guard PersonalPlace.messagePosition(group: number, seq: 0) > 0 else { return nil }
        continue
      }
      if isOver { return last }
      work -= 5
      guard let group = try db.groupID(number) else {
        below = nil
        continue
      }
      let looked = try db.shared(
        """
        SELECT seq, sender = $3 AND NOT isRevoked AND kind <> 'GroupTips' FROM message
        WHERE number = $1 AND seq > $2 ORDER BY seq LIMIT \(span)
        """, [.integer(number), .integer(after), name], [.integer, .flag])
      work -= looked.count
      let own = try looked.filter { try $0.flag(1) }.prefix(wanted).map { try $0.integer(0) }
      for message in try db.messages(of: group, number: number, seqs: own) {
        last.position = PersonalPlace.messagePosition(group: number, seq: message.seq ?? 0)
        add(.message(message), at: last)
      }
      if wanted <= 0 { return last }
      let reached = try looked.last?.integer(0) ?? after
      last.position = PersonalPlace.messagePosition(group: number, seq: reached)
      below = looked.count == span ? reached : nil
    }
  }
}
