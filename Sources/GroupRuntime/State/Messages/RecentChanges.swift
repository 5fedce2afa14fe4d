import DequeModule
import GroupModel

/// Messages that were changed lately, as they are since. A reading of the store that began before
/// may show them as they were. An entry stays until its change is durable, and the readings that
/// began before have ended.
struct RecentChanges: Sendable {
  /// A changed message.
  struct Entry: Sendable {
    var message: Message
    /// Nil = they have not changed lately.
    var reactions: ReactionsOfMessage?
  }

  private struct Change: Sendable {
    let seq: Int64
    let changeSeq: Int64
    /// The number of its commit, 0 = not known yet; once durable, of the first reading that shows it.
    var number: Int
  }

  private var entries: [Int64: Entry] = [:]
  /// In the order of their commits.
  private var pending: Deque<Change> = []
  private var durable: Deque<Change> = []

  var isEmpty: Bool { entries.isEmpty }

  subscript(seq: Int64) -> Entry? { entries[seq] }

  /// How many messages are kept.
  var count: Int { entries.count }

  /// - Parameter reactions: nil = they have not changed.
  mutating func note(_ message: Message, seq: Int64, reactions: ReactionsOfMessage? = nil) {
    entries[seq] = Entry(message: message, reactions: reactions ?? entries[seq]?.reactions)
    pending.append(Change(seq: seq, changeSeq: message.changeSeq, number: 0))
  }

  /// Changes the messages, each in its place.
  mutating func update(_ change: (inout Message) -> Void) {
    for seq in entries.keys {
      guard var entry = entries[seq] else { continue }
      change(&entry.message)
      entries[seq] = entry
    }
  }

  /// The latest changes are on their way to the store.
  mutating func noteCommit(_ number: Int) {
    for index in pending.indices.reversed() {
      guard pending[index].number == 0 else { return }
      pending[index].number = number
    }
  }

  /// Forgets what no reading can have missed.
  /// - Parameters:
  ///   - durableThrough: the last commit that is durable.
  ///   - firstReading: the oldest reading under way, or the next.
  ///   - nextReading: the next one to begin.
  mutating func forget(durableThrough: Int, firstReading: Int, nextReading: Int) {
    while let change = pending.first, change.number > 0, change.number <= durableThrough {
      pending.removeFirst()
      durable.append(Change(seq: change.seq, changeSeq: change.changeSeq, number: nextReading))
    }
    while let change = durable.first, change.number <= firstReading {
      durable.removeFirst()
      if entries[change.seq]?.message.changeSeq == change.changeSeq { entries[change.seq] = nil }
    }
  }

  /// Every reading that begins from now on shows the changes.
  mutating func removeAll() { self = RecentChanges() }
}

/// The reactions of a message as memory knows them: counts, and what lately became of users' own.
struct ReactionsOfMessage: Sendable {
  private struct Given: Hashable, Sendable {
    let reaction: ExactText
    let user: UserID
  }

  /// In the order in which they came; `isByReader` and `users` mean nothing.
  private(set) var kinds: [StoredReaction]
  private var given: [Given: Bool] = [:]

  init(_ kinds: [StoredReaction]) { self.kinds = kinds }

  /// The reaction of that text.
  func kind(_ reaction: String) -> StoredReaction? { kinds.first { $0.reaction.isSame(as: reaction) } }

  /// Whether the user gives the reaction; nil = that has not changed lately.
  func isGiven(_ reaction: String, by user: UserID) -> Bool? {
    given[Given(reaction: ExactText(reaction), user: user)]
  }

  /// A user has added a reaction.
  /// - Returns: the number of the reaction: the change that began it.
  mutating func add(_ reaction: String, by user: UserID, changeSeq: Int64) -> Int64 {
    given[Given(reaction: ExactText(reaction), user: user)] = true
    if let index = kinds.firstIndex(where: { $0.reaction.isSame(as: reaction) }) {
      kinds[index].count += 1
      return kinds[index].number
    }
    kinds.append(StoredReaction(number: changeSeq, reaction: reaction, count: 1))
    return changeSeq
  }

  /// A user has removed a reaction.
  /// - Returns: the number of the reaction; nil = there was none.
  mutating func remove(_ reaction: String, by user: UserID) -> Int64? {
    given[Given(reaction: ExactText(reaction), user: user)] = false
    guard let index = kinds.firstIndex(where: { $0.reaction.isSame(as: reaction) }) else { return nil }
    kinds[index].count -= 1
    let number = kinds[index].number
    if kinds[index].count <= 0 { kinds.remove(at: index) }
    return number
  }
}
