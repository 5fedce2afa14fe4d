/// What a client keeps of its user's groups: the state of the rules, and the storage that it is written to. One
/// change comes after the other (`write`). Where the storage fails the client goes on in memory.
actor LocalStore {
  /// What the store held when it was opened.
  struct Start: Sendable {
    var conversations: [ConversationRow] = []
    var positions: [String: PositionRow] = [:]
    var outbox: [OutboxRow] = []
    var summary = SummaryRow()
    /// Whether nothing that waits to be sent is missing.
    var hasReadOutbox = false
    /// Whether it outlives the client.
    var isDurable = false
    var failures: [StorageFailure] = []
  }

  /// What has become of a change.
  struct Written: Sendable {
    /// A conversation that is another one now.
    struct Change: Sendable {
      let conversation: Conversation
      /// About what it takes to keep it.
      let bytes: Int
    }

    var changes: [Change] = []
    var failures: [StorageFailure] = []
    /// Whether the store outlives the client, from now on.
    var isDurable = false
    /// Whether the store has begun anew, without the messages that wait to be sent.
    var hasBegunAnew = false
    /// Groups of which the store cannot tell what is unread.
    var doubtful: Set<String> = []
  }

  /// A part of a conversation.
  struct Page: Sendable {
    var messages = StoredMessages()
    /// Whether the server is asked for what is missing.
    var isMember = false
    /// Whether messages may be missing in it.
    var isHeardInPart = false
  }

  /// A number that is found within a storage.
  private final class Size: @unchecked Sendable {
    // Unchecked: a storage calls `decide` once, and `update` returns behind it.
    var bytes = 0
  }

  private let name: String
  private let limits: StorageLimits
  private var storage: any Storage
  /// The one that has failed.
  private var failedStorage: (any Storage)?
  private var state: StoreState
  private var isDurable: Bool
  private var isOpen = false
  /// Whether the storage may hold messages that this client sends.
  private var holdsOutbox = false
  /// A second damage is the end of the storage.
  private var hasBegunAnew = false
  /// How often a repair has begun or ended: what a reader finds in between is none of the storage's.
  private var repairs = 0
  /// What a reader has found: the next change takes it up.
  private(set) var readFailure: StorageError?
  /// The store is not made smaller before it has as many bytes, or another number of conversations.
  private var nextEviction = 0
  private var lastCount = 0

  /// - Parameter storage: nil = memory that ends with the client.
  init(_ storage: (any Storage)?, name: String, userID: String, limits: StorageLimits) {
    self.name = name
    self.limits = limits
    self.storage = storage ?? MemoryStorage()
    isDurable = storage != nil
    state = StoreState(userID: userID, limits: limits)
  }

  // MARK: Opening

  /// Opens the store, and reads what the client begins with. It succeeds always, if need be in memory.
  func open() async -> Start {
    var start = Start()
    isOpen = true
    do {
      try await read(&start)
    } catch {
      await recover(from: StorageError(error), &start)
    }
    start.conversations = Array(state.conversations.values)
    start.positions = state.positions
    start.summary = state.summary
    start.isDurable = isDurable
    return start
  }

  private func read(_ start: inout Start) async throws {
    try await storage.open(name)
    guard let meta = try await storage.value(for: StoreKeys.meta) else { return try await begin([]) }
    let row = try StoreText.decode(MetaRow.self, StorageRow(key: StoreKeys.meta, value: meta))
    guard row.version <= StoreKeys.version else { throw StorageError(.tooNew, "a store of version \(row.version)") }
    guard row.version == StoreKeys.version, row.name == name else { throw StorageError(.corrupt, "a store of another name") }
    // First: nobody else has these.
    for row in try await rows(StoreKeys.outboxes) { start.outbox.append(try StoreText.decode(OutboxRow.self, row)) }
    start.hasReadOutbox = true
    holdsOutbox = isDurable
    if let summary = try await storage.value(for: StoreKeys.summary) {
      state.summary = try StoreText.decode(SummaryRow.self, StorageRow(key: StoreKeys.summary, value: summary))
    }
    for row in try await rows(StoreKeys.conversations) {
      let conversation = try StoreText.decode(ConversationRow.self, row)
      let groupID = conversation.info.groupID
      guard StoreKeys.conversation(groupID) == row.key else { throw StorageError(.corrupt, "\(row.key) is of another group") }
      state.conversations[groupID] = conversation
    }
    let positions = Dictionary(
      try await rows(StoreKeys.positions).map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
    for groupID in state.conversations.keys {
      guard let row = positions[StoreKeys.position(groupID)] else { continue }
      state.positions[groupID] = try StoreText.decode(PositionRow.self, row)
    }
  }

  /// Makes a new store of one that has nothing in it.
  private func begin(_ outbox: [OutboxRow]) async throws {
    var changes = [StorageChange.put(StoreKeys.meta, value: try StoreText.encode(MetaRow(name: name)))]
    for row in outbox { changes.append(try StorageChange(StoreKeys.outbox(row.order, row.clientMsgID), row)) }
    for (groupID, row) in state.conversations { changes.append(try StorageChange(StoreKeys.conversation(groupID), row)) }
    for (groupID, row) in state.positions { changes.append(try StorageChange(StoreKeys.position(groupID), row)) }
    state.summary.bytes = 0
    try await save(changes, state)
    holdsOutbox = isDurable
  }

  /// A store that is damaged begins anew, with what waits to be sent if that was read; any other is left.
  private func recover(from error: StorageError, _ start: inout Start) async {
    let isDamaged = error.reason == .corrupt
    start.failures.append(StorageFailure(error, lostOutbox: isDamaged && !start.hasReadOutbox))
    if isDamaged {
      hasBegunAnew = true
      state = StoreState(userID: state.userID, limits: limits)
      if !start.hasReadOutbox { start.outbox = [] }
      state.summary.order = start.outbox.map(\.order).max() ?? 0
      do {
        try await storage.destroy()
        try await storage.open(name)
        return try await begin(start.outbox)
      } catch {
        start.failures.append(StorageFailure(StorageError(error), lostOutbox: false))
        return await goToMemory(after: StorageError(error))
      }
    }
    await goToMemory(after: error)
  }

  // MARK: Writing

  /// Makes changes that belong together: all of them are on the disk when it returns.
  func write(_ events: [StoreEvent]) async -> Written {
    var written = Written()
    if let error = readFailure {
      readFailure = nil
      await mend(error, [], &written)
    }
    do {
      try await commit(events, &written)
    } catch {
      await mend(StorageError(error), events, &written)
    }
    do {
      try await evict()
    } catch {
      await mend(StorageError(error), [], &written)
    }
    written.isDurable = isOpen && isDurable
    return written
  }

  private func commit(_ events: [StoreEvent], _ written: inout Written) async throws {
    guard isOpen else { return }
    var draft = StoreDraft(state)
    for event in events.flatMap(\.parts) {
      try await load(event, &draft)
      draft.apply(event)
    }
    let changes = try draft.changes()
    try await save(changes, draft.state)
    let sizes = Dictionary(changes.map { ($0.key ?? "", $0.bytes) }, uniquingKeysWith: { $1 })
    written.doubtful.formUnion(draft.doubtful)
    written.changes += draft.changed.keys.sorted().compactMap { groupID in
      draft.changed[groupID].map { row in
        let bytes = sizes[StoreKeys.conversation(groupID)] ?? 0
        return Written.Change(conversation: Conversation(row, source: .server), bytes: bytes)
      }
    }
  }

  /// Reads what the rules look at.
  private func load(_ event: StoreEvent, _ draft: inout StoreDraft) async throws {
    if let groupID = draft.windowToRead(for: event) { try await readWindow(groupID, &draft) }
    if let groupID = draft.groupEnteredAgain(by: event) {
      // Members of before may be gone.
      let keys = try await rows(StoreKeys.members(of: groupID)).map(\.key)
      draft.forgetMembers(of: groupID, keys)
    }
    if let groupID = draft.membersToCount(for: event) {
      let count = try await rows(StoreKeys.members(of: groupID)).count
      draft.state.memberCounts[groupID] = count
    }
    if draft.countsProfiles(for: event) {
      let count = try await rows(StoreKeys.profiles).count
      draft.state.profileCount = count
    }
    for key in draft.keysToRead(for: event) {
      let value = try await storage.value(for: key)
      try draft.load(key, value)
    }
  }

  private func readWindow(_ groupID: String, _ draft: inout StoreDraft) async throws {
    let seqs = try await rows(StoreKeys.messages(of: groupID)).compactMap { StoreKeys.seq(of: $0.key) }
    draft.state.windows[groupID] = seqs
  }

  private func rows(_ range: StoreKeys.KeyRange) async throws -> [StorageRow] {
    try await storage.rows(from: range.from, to: range.to, limit: nil, isDescending: false)
  }

  /// Writes changes, and the size that the store has then.
  /// - Parameter next: what is known of the store then.
  private func save(_ changes: [StorageChange], _ next: StoreState) async throws {
    let summary = next.summary
    guard !changes.isEmpty || summary != state.summary else {
      state = next
      return
    }
    let size = Size()
    try await storage.update(changes.compactMap(\.key) + [StoreKeys.summary]) { values in
      var row = summary
      row.bytes = max(0, row.bytes + changes.reduce(0) { $0 + $1.growth(from: values) })
      size.bytes = row.bytes
      return changes + [.put(StoreKeys.summary, value: try StoreText.encode(row))]
    }
    // The user may have been forgotten meanwhile.
    guard isOpen else { return }
    state = next
    state.summary.bytes = size.bytes
  }

  // MARK: Failures

  /// The storage has failed; the changes are made all the same.
  private func mend(_ error: StorageError, _ events: [StoreEvent], _ written: inout Written) async {
    // The user is forgotten, or the client closed.
    guard isOpen else { return }
    repairs += 1
    defer { repairs += 1 }
    var last = error
    do {
      switch error.reason {
      case .full where isDurable:
        try await evict(to: state.summary.bytes / 2)
        return try await commit(events, &written)
      case .corrupt where isDurable && !hasBegunAnew:
        hasBegunAnew = true
        written.failures.append(StorageFailure(error, lostOutbox: false))
        try await storage.destroy()
        try await storage.open(name)
        forgetRows()
        try await begin([])
        // The outbox is in the client's memory.
        written.hasBegunAnew = true
        return try await commit(events, &written)
      default: break
      }
    } catch {
      last = StorageError(error)
    }
    guard isOpen else { return }
    written.failures.append(StorageFailure(last, lostOutbox: false))
    await goToMemory(after: last)
    do {
      try await commit(events, &written)
    } catch {
      // Memory refuses nothing; what the rules could not write is no matter of the storage.
      isOpen = false
    }
  }

  /// The messages are gone, and what was counted of other rows.
  private func forgetRows() {
    state.windows = state.conversations.mapValues { _ in [] }
    state.memberCounts = [:]
    state.profileCount = 0
    for (groupID, row) in state.conversations {
      let last = state.positions[groupID]?.seq ?? ClientLimits.count(row.info.lastSeq)
      state.conversations[groupID]?.firstStored = last + 1
    }
  }

  /// The client goes on without the storage, with the groups that it knows.
  private func goToMemory(after error: StorageError) async {
    let (failed, memory) = (storage, MemoryStorage())
    do {
      try await memory.open(name)
      storage = memory
      isDurable = false
      failedStorage = error.reason == .inUse ? nil : failed
      forgetRows()
      await leave(failed, after: error)
      try await begin([])
    } catch {
      // Memory that was just made refuses nothing.
      isOpen = false
    }
  }

  /// This client sends what waits in the store; a later one that found it there would send it once more.
  private func leave(_ failed: any Storage, after error: StorageError) async {
    // What somebody else has open is not closed.
    guard error.reason != .inUse else { return }
    do {
      if holdsOutbox {
        let outboxes = StoreKeys.outboxes
        do {
          try await failed.update([]) { _ in [.deleteRange(from: outboxes.from, to: outboxes.to)] }
        } catch {
          // What cannot be written may still be removed.
          try await failed.destroy()
        }
      }
      try await failed.close()
    } catch {
      // There is nothing more to be done, and the failure was told.
      return
    }
  }

  // MARK: Bounds

  /// Makes the store smaller where it is larger than its bounds.
  private func evict() async throws {
    if lastCount != state.conversations.count {
      for step in Eviction.steps(state.conversations.values, most: max(1, limits.groups)) { try await perform(step, to: 0) }
      lastCount = state.conversations.count
    }
    let most = limits.bytes ?? (isDurable ? 64 << 20 : 16 << 20)
    guard state.summary.bytes > max(most, nextEviction) else { return }
    try await evict(to: Int(Double(most) * Eviction.share))
    // Where groups alone are more than the bound, it is not tried again at each change.
    nextEviction = state.summary.bytes > most ? state.summary.bytes + most / 10 : 0
  }

  private func evict(to most: Int) async throws {
    for step in Eviction.steps(state.conversations.values) {
      guard state.summary.bytes > most else { return }
      try await perform(step, to: most)
    }
  }

  private func perform(_ step: Eviction.Step, to most: Int) async throws {
    var draft = StoreDraft(state)
    switch step {
    case .messages(let groupID, let count):
      if draft.state.windows[groupID] == nil { try await readWindow(groupID, &draft) }
      draft.forgetMessages(of: groupID, keeping: count)
    case .members(let groupID):
      let keys = try await rows(StoreKeys.members(of: groupID)).map(\.key)
      draft.forgetMembers(of: groupID, keys)
    case .conversation(let groupID):
      if draft.state.windows[groupID] == nil { try await readWindow(groupID, &draft) }
      let keys = try await rows(StoreKeys.members(of: groupID)).map(\.key)
      draft.forgetConversation(groupID, members: keys)
    case .profiles:
      let rows = try await rows(StoreKeys.profiles)
      try draft.forgetProfiles(rows, bytes: state.summary.bytes - most)
    }
    try await save(try draft.changes(), draft.state)
  }

  // MARK: Reading

  /// Pinned ones first, then those where something was said last.
  func conversations(hidden: Bool) -> [Conversation] {
    state.conversations.values.inOrder().filter { hidden || $0.info.selfInfo?.isHidden != true }.map { shown($0) }
  }

  func conversation(_ groupID: String) -> Conversation? { state.conversations[groupID].map { shown($0) } }

  private func shown(_ row: ConversationRow) -> Conversation { Conversation(row, source: state.isInStep ? .server : .stored) }

  /// The newest messages before a place; nil = before nothing. Nil where the group was never known.
  func page(of groupID: String, before seq: Int?, count: Int) async -> Page? {
    guard isOpen, let row = state.conversations[groupID] else { return nil }
    let to = seq.map { StoreKeys.message($0, in: groupID) } ?? StoreKeys.messages(of: groupID).to
    let found = await read(GroupMessage.self, from: StoreKeys.message(row.firstStored, in: groupID), to: to, newest: count + 1)
    var page = Page(isMember: row.status == .member, isHeardInPart: row.isHeardInPart)
    page.messages.messageList = Array(found.suffix(count))
    let isAtEnd = row.firstStored <= max(1, ClientLimits.count(row.info.firstSeq))
    page.messages.isFinished = row.info.keepsMessages && isAtEnd && found.count <= count
    return page
  }

  func members(of groupID: String) async -> [MemberInfo] {
    let range = StoreKeys.members(of: groupID)
    return await read(MemberInfo.self, from: range.from, to: range.to)
  }

  func member(_ userID: String, of groupID: String) async -> MemberInfo? {
    let key = StoreKeys.member(userID, of: groupID)
    return await read(MemberInfo.self, from: key, to: key + "\u{1}").first
  }

  func profile(of userID: String) async -> StoredProfile? {
    let key = StoreKeys.profile(userID)
    return await read(StoredProfile.self, from: key, to: key + "\u{1}").first
  }

  /// Rows in the order of their keys. Where the storage fails there are none, and the next change takes that up.
  /// - Parameter newest: the last so many; nil = all.
  private func read<Row: Decodable>(_ type: Row.Type, from: String, to: String, newest: Int? = nil) async -> [Row] {
    guard isOpen else { return [] }
    let before = repairs
    do {
      let rows = try await storage.rows(from: from, to: to, limit: newest, isDescending: newest != nil)
      let found = try rows.map { try StoreText.decode(type, $0) }
      return newest == nil ? found : found.reversed()
    } catch {
      if isOpen, repairs == before { readFailure = StorageError(error) }
      return []
    }
  }

  // MARK: The end

  /// Another client may open the store from now on. What was known stays readable, but for messages.
  func close() async {
    guard isOpen else { return }
    isOpen = false
    do {
      try await storage.close()
    } catch {
      // Everything is written, and nobody asks any more.
      return
    }
  }

  /// Removes the store, and whatever was known. Answers what keeps it from that.
  func forget() async -> StorageFailure? {
    let wasOpen = isOpen
    isOpen = false
    state = StoreState(userID: state.userID, limits: limits)
    do {
      if !wasOpen { try await storage.open(name) }
      try await storage.destroy()
      if let failed = failedStorage {
        try await failed.open(name)
        try await failed.destroy()
      }
      return nil
    } catch {
      return StorageFailure(StorageError(error), lostOutbox: false)
    }
  }
}

extension StoreEvent {
  /// What an answer tells, one by one.
  fileprivate var parts: [StoreEvent] { if case .answered(let answer) = self { answer.events } else { [self] } }
}

extension StorageFailure {
  init(_ error: StorageError, lostOutbox: Bool) {
    self.init(reason: error.reason, message: error.message, lostOutbox: lostOutbox)
  }
}

extension StorageChange {
  /// What it puts, with its key.
  fileprivate var bytes: Int {
    if case .put(let key, let value) = self { key.utf8.count + value.utf8.count } else { 0 }
  }

  /// By how much a store grows.
  /// - Parameter values: those that the keys have.
  fileprivate func growth(from values: [String: String]) -> Int {
    guard let key else { return 0 }
    return bytes - (values[key].map { key.utf8.count + $0.utf8.count } ?? 0)
  }
}
