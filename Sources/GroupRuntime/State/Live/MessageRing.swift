import DequeModule
import GroupModel
import WireProtocol

/// A message that a live room remembers.
public struct RecentMessage: Sendable {
  /// Beside its bytes: the object that has them, the places of its parts, its ID, and what a deque has
  /// room for.
  static let overhead = 256

  /// As it was fanned out, or without its content.
  private(set) var frame: MessageFrame
  /// The number of its recall; 0 = it is not recalled.
  private(set) var changeSeq: Int64 = 0

  /// A message that is fanned out.
  /// - Returns: nil where the event is another one, or its message has no place.
  init?(_ event: GroupEvent) {
    guard let frame = event.messageFrame else { return nil }
    self.frame = frame
  }

  var seq: Int64 { frame.seq }
  var msgID: String { frame.msgID }
  var sender: UserID { frame.sender }
  var timestamp: WallInstant { frame.timestamp }
  var isRecalled: Bool { changeSeq > 0 }

  /// About the memory that it takes.
  var byteCount: Int { frame.bytes.count + RecentMessage.overhead }

  /// Takes the content away.
  fileprivate mutating func recall(_ changeSeq: Int64) {
    frame = frame.recalled(changeSeq: changeSeq)
    self.changeSeq = changeSeq
  }
}

/// A page of what a live room remembers.
struct RecentPage: Sendable {
  let messages: [RecentMessage]
  /// Nothing more is remembered in this direction.
  let isFinished: Bool
}

/// What a client of a live room has missed.
struct RecentSync: Sendable {
  /// The messages that were recalled since, ascending by the recall.
  let changes: [RecentMessage]
  /// Ascending.
  let messages: [RecentMessage]
  /// The change to go on from.
  let changeSeq: Int64
  let more: Bool
}

/// The last messages of one live room. A value without a clock: an instant is when a message was
/// handed to the fan-out, and instants never go back. What is older than `since` is not read.
struct MessageRing: Sendable {
  private struct Entry: Sendable {
    var message: RecentMessage
    let time: MonotonicInstant
  }

  /// Another one where the memory was lost.
  let epoch: String
  /// The newest message, remembered or not; 0 = there was none.
  private(set) var lastSeq: Int64 = 0
  /// The number of the last recall; 0 = there was none.
  private(set) var changeSeq: Int64 = 0
  /// About the memory of all messages.
  private(set) var byteCount = 0
  /// Ascending by `seq`, without gaps.
  private var entries: Deque<Entry> = []
  /// The most entries that `entries` has had: it keeps room for them until it is made anew.
  private var mostCount = 0

  init(epoch: String) { self.epoch = epoch }

  /// How many messages there are.
  var count: Int { entries.count }

  /// The oldest message that is there; the next one where none is.
  var firstSeq: Int64 { lastSeq - Int64(entries.count) + 1 }

  // MARK: Changing

  /// Adds the next message.
  mutating func append(_ message: RecentMessage, at now: MonotonicInstant) {
    assert(message.seq == lastSeq + 1, "seq \(message.seq) follows \(lastSeq)")
    lastSeq = message.seq
    byteCount += message.byteCount
    entries.append(Entry(message: message, time: now))
    mostCount = max(mostCount, entries.count)
  }

  /// Removes the oldest message, if there is one.
  mutating func removeOldest() {
    guard let entry = entries.popFirst() else { return }
    byteCount -= entry.message.byteCount
    // Thousands of rooms that were busy once would keep 100 KB each.
    guard entries.count <= mostCount / 4 else { return }
    entries = Deque(entries)
    mostCount = entries.count
  }

  /// Notes a recall, and takes the content away where the message is still there.
  mutating func recall(_ seq: Int64, changeSeq: Int64) {
    self.changeSeq = max(self.changeSeq, changeSeq)
    guard let index = index(of: seq) else { return }
    byteCount -= entries[index].message.byteCount
    entries[index].message.recall(changeSeq)
    byteCount += entries[index].message.byteCount
  }

  private func index(of seq: Int64) -> Int? {
    let index = Int(seq - firstSeq)
    return seq >= firstSeq && index < entries.count ? index : nil
  }

  // MARK: Reading

  private func start(since: MonotonicInstant) -> Int { entries.firstIndexInOrder { $0.time > since } }

  /// The message at a place; nil = it is not remembered.
  func message(_ seq: Int64, since: MonotonicInstant) -> RecentMessage? {
    guard let index = index(of: seq), index >= start(since: since) else { return nil }
    return entries[index].message
  }

  /// The message of an ID; nil = it is not remembered.
  func message(msgID: String, since: MonotonicInstant) -> RecentMessage? {
    entries[start(since: since)...].last { $0.message.msgID.isSame(as: msgID) }?.message
  }

  /// The messages at some places, in this order, without those that are not remembered.
  func messages(_ seqs: [Int64], since: MonotonicInstant) -> [RecentMessage] {
    let start = start(since: since)
    return seqs.compactMap { seq in index(of: seq).flatMap { $0 >= start ? entries[$0].message : nil } }
  }

  /// The places of messages of a user that are not recalled, ascending.
  func seqs(of user: UserID, since: MonotonicInstant) -> [Int64] {
    entries[start(since: since)...].filter { $0.message.sender == user && !$0.message.isRecalled }.map(\.message.seq)
  }

  /// The newest messages below a place, newest first.
  func older(than bound: Int64, count: Int, since: MonotonicInstant) -> RecentPage {
    let all = entries[start(since: since)...]
    let below = all.prefix { $0.message.seq < bound }
    return RecentPage(messages: below.suffix(count).reversed().map(\.message), isFinished: below.count <= count)
  }

  /// The oldest messages above a place, oldest first.
  func newer(than bound: Int64, count: Int, since: MonotonicInstant) -> RecentPage {
    let above = entries[start(since: since)...].drop { $0.message.seq <= bound }
    return RecentPage(messages: above.prefix(count).map(\.message), isFinished: above.count <= count)
  }

  /// The messages behind a position and the recalls since, the latter first.
  /// - Parameters:
  ///   - changeSeq: the last change that the client has; nil = it wants none.
  ///   - limit: the most of both together.
  /// - Returns: nil where the position is not of this memory, or a message behind it is forgotten.
  func sync(
    epoch: String, seq: Int64, changeSeq: Int64?, limit: Int, since: MonotonicInstant
  ) -> RecentSync? {
    let all = entries[start(since: since)...]
    let first = all.first?.message.seq ?? lastSeq + 1
    guard epoch == self.epoch, seq <= lastSeq, seq >= first - 1, changeSeq ?? 0 <= self.changeSeq else { return nil }
    let known = changeSeq ?? self.changeSeq
    let changed = all.prefix { $0.message.seq <= seq }.map(\.message).filter { $0.changeSeq > known }
      .sorted { $0.changeSeq < $1.changeSeq }
    let changes = Array(changed.prefix(limit))
    guard changes.count == changed.count else {
      return RecentSync(changes: changes, messages: [], changeSeq: changes.last?.changeSeq ?? known, more: true)
    }
    let page = newer(than: seq, count: limit - changes.count, since: since)
    return RecentSync(changes: changes, messages: page.messages, changeSeq: self.changeSeq, more: !page.isFinished)
  }
}
