/// The users whose status the application watches, with the last row of each. It decides what is asked,
/// one request at a time.
struct StatusWatch {
  /// A request.
  struct Ask: Equatable {
    /// The users are watched no longer.
    let isEnd: Bool
    let userIDs: [String]
  }

  /// A user who is watched, with the row that was told last; nil = there is none.
  private var rows: [String: UserStatusInfo?] = [:]
  /// Users that this session has to be told of, the first to be asked about first; and those that it
  /// watches and the application does not any more.
  private var toWatch: [String] = []
  private var toUnwatch: [String] = []
  private var asked: Ask?
  /// Users whom an event has told of since the request left.
  private var told: Set<String> = []
  private var isOpen = false
  private var isPaused = false

  /// The user's row as it was told last.
  func row(of userID: String) -> UserStatusInfo? { rows[userID] ?? nil }

  func hasRoom(for userIDs: [String]) -> Bool {
    rows.count + Set(userIDs).filter { rows[$0] == nil }.count <= ClientLimits.watchedUsers
  }

  mutating func add(_ userIDs: [String]) {
    for userID in userIDs where rows[userID] == nil {
      rows[userID] = .some(nil)
      toWatch.append(userID)
    }
  }

  /// - Parameter userIDs: nil = all.
  mutating func remove(_ userIDs: [String]?) {
    let gone = Set(userIDs ?? Array(rows.keys)).filter { rows[$0] != nil }
    let unasked = Set(toWatch).intersection(gone)
    for userID in gone { rows[userID] = nil }
    toWatch.removeAll { unasked.contains($0) }
    // Without a session there is nothing that one would watch.
    if isOpen { toUnwatch += gone.subtracting(unasked).sorted() }
  }

  /// A new session watches nobody.
  mutating func startSession() {
    endSession()
    isOpen = true
    toWatch = rows.keys.sorted()
  }

  mutating func endSession() {
    isOpen = false
    isPaused = false
    asked = nil
    toUnwatch = []
  }

  /// What is to be asked now; nil = nothing, or a request is under way.
  mutating func next() -> Ask? {
    guard isOpen, !isPaused, asked == nil else { return nil }
    let isEnd = !toUnwatch.isEmpty
    let userIDs = Array((isEnd ? toUnwatch : toWatch).prefix(ClientLimits.usersPerWatch))
    guard !userIDs.isEmpty else { return nil }
    if isEnd { toUnwatch.removeFirst(userIDs.count) } else { toWatch.removeFirst(userIDs.count) }
    let ask = Ask(isEnd: isEnd, userIDs: userIDs)
    asked = ask
    told = []
    return ask
  }

  /// Takes the rows of the answer, unless an event was newer; answers what is news.
  mutating func didAnswer(_ answer: [UserStatusInfo]) -> StatusNews? {
    defer { self.asked = nil }
    guard let asked, !asked.isEnd else { return nil }
    var unknown = Set(asked.userIDs.filter { rows[$0] != nil && !told.contains($0) })
    let known = answer.filter { unknown.remove($0.userID) != nil }
    for row in known { rows[row.userID] = row }
    for userID in unknown { rows[userID] = .some(nil) }
    return StatusNews(userList: known, unknownUserIDs: unknown.sorted()).orNil
  }

  /// The request was refused for now, and is made again behind a pause.
  mutating func putBack() {
    guard let asked else { return }
    self.asked = nil
    isPaused = true
    if asked.isEnd { toUnwatch = asked.userIDs + toUnwatch } else { toWatch = asked.userIDs.filter { rows[$0] != nil } + toWatch }
  }

  mutating func endPause() { isPaused = false }

  /// The request was refused for good; answers the users who are not watched.
  mutating func didRefuse() -> [String] {
    defer { self.asked = nil }
    guard let asked, !asked.isEnd else { return [] }
    return asked.userIDs.filter { rows.removeValue(forKey: $0) != nil }
  }

  /// Rows of an event; answers those of users who are watched.
  mutating func hear(_ news: [UserStatusInfo]) -> StatusNews? {
    let known = news.filter { rows[$0.userID] != nil }
    for row in known {
      rows[row.userID] = row
      told.insert(row.userID)
    }
    return StatusNews(userList: known, unknownUserIDs: []).orNil
  }
}

extension StatusNews {
  /// Nil where it tells nothing.
  fileprivate var orNil: StatusNews? { userList.isEmpty && unknownUserIDs.isEmpty ? nil : self }
}
