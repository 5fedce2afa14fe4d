/// What a store forgets where it is too large: in steps, each of which is a change of its own, until it is small
/// enough. Messages that wait to be sent are none of it.
enum Eviction {
  /// A store that is too large is made smaller than its bound, so that this is no matter of each change.
  static let share = 0.9
  /// The messages of a conversation that stay at first.
  static let firstMessages = 20

  /// One step, for one conversation or for all profiles.
  enum Step: Hashable {
    /// The messages but for the newest so many.
    case messages(groupID: String, keeping: Int)
    case members(groupID: String)
    /// One that has ended, whole.
    case conversation(groupID: String)
    case profiles
  }

  /// The steps that make a store smaller, in their order.
  static func steps(_ conversations: some Collection<ConversationRow>) -> [Step] {
    let victims = victims(conversations)
    var steps = victims.map { Step.messages(groupID: $0.info.groupID, keeping: firstMessages) }
    steps += victims.map { Step.members(groupID: $0.info.groupID) }
    steps += victims.filter { $0.status != .member }.map { Step.conversation(groupID: $0.info.groupID) }
    steps.append(.profiles)
    steps += victims.map { Step.messages(groupID: $0.info.groupID, keeping: 0) }
    return steps
  }

  /// The steps where there are more conversations than the bound says: ended ones go, and of others no more is kept
  /// than the groups themselves.
  static func steps(_ conversations: some Collection<ConversationRow>, most: Int) -> [Step] {
    guard conversations.count > most else { return [] }
    let victims = victims(conversations)
    let gone = victims.filter { $0.status != .member }.prefix(conversations.count - Int(Double(max(0, most)) * share))
    let members = victims.filter { $0.status == .member }.prefix(max(0, conversations.count - gone.count - most))
    var steps = gone.map { Step.conversation(groupID: $0.info.groupID) }
    for row in members {
      steps += [.messages(groupID: row.info.groupID, keeping: 0), .members(groupID: row.info.groupID)]
    }
    return steps
  }

  /// The first to lose something first: ended ones by their end, then those where nothing was said for longest,
  /// pinned ones last.
  private static func victims(_ conversations: some Collection<ConversationRow>) -> [ConversationRow] {
    conversations.sorted { $0.rank < $1.rank }
  }
}

extension ConversationRow {
  /// The least goes first.
  fileprivate var rank: (Int, Int, String) {
    let kind = status != .member ? 0 : info.selfInfo?.isPinned == true ? 2 : 1
    return (kind, status != .member ? endedAt ?? 0 : activeAt, info.groupID)
  }
}

extension StoreDraft {
  /// Forgets the messages of a group but for the newest ones; its window is known.
  mutating func forgetMessages(of groupID: String, keeping count: Int) {
    guard var row = state.conversations[groupID] else { return }
    keepNewest(count, of: groupID)
    let last = state.positions[groupID]?.seq ?? ClientLimits.count(row.info.lastSeq)
    row.firstStored = max(row.firstStored, state.windows[groupID]?.first ?? last + 1)
    setConversation(row)
  }

  /// - Parameter keys: of all rows of its members.
  mutating func forgetMembers(of groupID: String, _ keys: [String]) {
    for key in keys { members[key] = nil }
    state.memberCounts[groupID] = 0
  }

  /// Forgets a conversation that has ended; its window is known.
  mutating func forgetConversation(_ groupID: String, members keys: [String]) {
    guard state.conversations[groupID] != nil else { return }
    removeMessages(of: groupID)
    forgetMembers(of: groupID, keys)
    state.windows[groupID] = nil
    state.memberCounts[groupID] = nil
    removeConversation(groupID)
  }

  /// Forgets the profiles that were seen longest ago, until so many bytes are free.
  mutating func forgetProfiles(_ rows: [StorageRow], bytes: Int) throws(StorageError) {
    var seen: [(at: Int, row: StorageRow)] = []
    for row in rows { seen.append((try StoreText.decode(StoredProfile.self, row).seenAt, row)) }
    var (freed, count) = (0, rows.count)
    for (_, row) in seen.sorted(by: { $0.at < $1.at }) where freed < bytes {
      profiles[row.key] = nil
      freed += row.bytes
      count -= 1
    }
    state.profileCount = count
  }
}

extension StorageRow {
  /// What the row takes of a store's size.
  var bytes: Int { key.utf8.count + value.utf8.count }
}
