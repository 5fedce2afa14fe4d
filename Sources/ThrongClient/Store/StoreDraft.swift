/// Changes to a store that belong together. The rules (`apply`) read and write here, and `changes` is one atomic
/// change; what is not written to the disk has not happened.
struct StoreDraft: Sendable {
  var state: StoreState
  var messages = DraftTable<GroupMessage>()
  var members = DraftTable<MemberInfo>()
  var profiles = DraftTable<StoredProfile>()
  var outbox = DraftTable<OutboxRow>()
  /// Conversations that are others than before, as they are now: also one whose row is gone.
  private(set) var changed: [String: ConversationRow] = [:]
  /// Groups of which the store cannot tell what is unread: the server is asked.
  var doubtful: Set<String> = []
  private var removed: Set<String> = []
  private var changedPositions: Set<String> = []

  init(_ state: StoreState) { self.state = state }

  // MARK: Rows

  /// Takes in a row that was read; nil = there is none.
  mutating func load(_ key: String, _ value: String?) throws(StorageError) {
    switch key.utf8.first {
    case UInt8(ascii: "m"): try messages.load(key, value)
    case UInt8(ascii: "u"): try members.load(key, value)
    case UInt8(ascii: "U"): try profiles.load(key, value)
    default: return
    }
  }

  func isLoaded(_ key: String) -> Bool {
    messages.isLoaded(key) || members.isLoaded(key) || profiles.isLoaded(key)
  }

  /// The conversation of a group that the user is in.
  func membership(in groupID: String) -> ConversationRow? {
    state.conversations[groupID].flatMap { $0.status == .member ? $0 : nil }
  }

  mutating func setConversation(_ row: ConversationRow) {
    let groupID = row.info.groupID
    guard state.conversations[groupID] != row else { return }
    state.conversations[groupID] = row
    changed[groupID] = row
  }

  /// - Parameter row: as the application is told of it.
  mutating func remove(_ row: ConversationRow) {
    let groupID = row.info.groupID
    state.conversations[groupID] = nil
    changed[groupID] = row
    setPosition(nil, of: groupID)
  }

  /// Nobody is told: the application has known the end before.
  mutating func removeConversation(_ groupID: String) {
    state.conversations[groupID] = nil
    removed.insert(groupID)
    setPosition(nil, of: groupID)
  }

  mutating func setPosition(_ position: PositionRow?, of groupID: String) {
    guard state.positions[groupID] != position else { return }
    state.positions[groupID] = position
    changedPositions.insert(groupID)
  }

  mutating func reach(_ place: Place, in groupID: String) {
    guard var position = state.positions[groupID] else { return }
    position.reach(place)
    setPosition(position, of: groupID)
  }

  // MARK: Messages

  func message(_ seq: Int, in groupID: String) -> GroupMessage? { messages[StoreKeys.message(seq, in: groupID)] }

  func isStored(_ seq: Int, in groupID: String) -> Bool { state.windows[groupID]?.contains(seq) == true }

  mutating func put(_ message: GroupMessage, at seq: Int, in groupID: String) {
    messages[StoreKeys.message(seq, in: groupID)] = message
    var window = state.windows[groupID] ?? []
    guard !window.contains(seq) else { return }
    window.insert(seq, at: window.firstIndex { $0 > seq } ?? window.count)
    state.windows[groupID] = window
  }

  /// Removes the oldest messages of a group until no more than that many are left.
  mutating func keepNewest(_ count: Int, of groupID: String) {
    let window = state.windows[groupID] ?? []
    removeMessages(window.prefix(max(0, window.count - count)), of: groupID)
  }

  /// Removes the messages of a group before a place.
  mutating func removeMessages(of groupID: String, before seq: Int) {
    removeMessages((state.windows[groupID] ?? []).prefix { $0 < seq }, of: groupID)
  }

  mutating func removeMessages(of groupID: String) { removeMessages((state.windows[groupID] ?? [])[...], of: groupID) }

  /// - Parameter oldest: the beginning of the window.
  private mutating func removeMessages(_ oldest: ArraySlice<Int>, of groupID: String) {
    for seq in oldest { messages[StoreKeys.message(seq, in: groupID)] = nil }
    state.windows[groupID] = Array((state.windows[groupID] ?? []).dropFirst(oldest.count))
  }

  // MARK: The change

  /// What is to be written, in the order of the keys.
  func changes() throws(StorageError) -> [StorageChange] {
    var changes: [StorageChange] = []
    for groupID in removed.union(changed.keys).sorted() {
      changes.append(try StorageChange(StoreKeys.conversation(groupID), state.conversations[groupID]))
    }
    for groupID in changedPositions.sorted() {
      changes.append(try StorageChange(StoreKeys.position(groupID), state.positions[groupID]))
    }
    return try changes + messages.changes() + members.changes() + profiles.changes() + outbox.changes()
  }
}

/// The rows of one type that a draft has read or written, by their keys.
struct DraftTable<Row: Codable & Equatable & Sendable>: Sendable {
  /// A row as it is now.
  private enum Entry: Sendable {
    case row(Row)
    case absent
  }

  private var entries: [String: Entry] = [:]
  private var written: Set<String> = []

  func isLoaded(_ key: String) -> Bool { entries[key] != nil }

  mutating func load(_ key: String, _ value: String?) throws(StorageError) {
    if let value {
      entries[key] = .row(try StoreText.decode(Row.self, StorageRow(key: key, value: value)))
    } else {
      entries[key] = .absent
    }
  }

  /// Nil = there is none, or it was not read.
  subscript(key: String) -> Row? {
    get { if case .row(let row) = entries[key] { row } else { nil } }
    set {
      guard !isLoaded(key) || self[key] != newValue else { return }
      entries[key] = newValue.map(Entry.row) ?? Entry.absent
      written.insert(key)
    }
  }

  func changes() throws(StorageError) -> [StorageChange] {
    var changes: [StorageChange] = []
    for key in written.sorted() { changes.append(try StorageChange(key, self[key])) }
    return changes
  }
}

extension StorageChange {
  /// - Parameter row: nil = it is gone.
  init(_ key: String, _ row: (some Encodable)?) throws(StorageError) {
    guard let row else {
      self = .delete(key)
      return
    }
    self = .put(key, value: try StoreText.encode(row))
  }

  /// The key; nil where there are many.
  var key: String? {
    switch self {
    case .put(let key, _), .delete(let key): key
    case .deleteRange: nil
    }
  }
}
