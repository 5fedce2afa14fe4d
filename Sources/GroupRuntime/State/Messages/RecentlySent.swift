import DequeModule
import GroupModel
import WireProtocol

/// The receipts of the last 5 minutes' messages with a clientMsgID: sending again answers the first
/// receipt (Protocol.md, "Repeated sends").
struct RecentlySent: Sendable {
  /// How long a receipt is kept.
  static let retentionMilliseconds: Int64 = 300_000

  private struct Entry: Sendable {
    let receipt: MessageReceipt
    /// When it was recorded: an imported message is older than its import.
    let time: MonotonicInstant
  }

  private struct Key: Hashable, Sendable {
    let sender: UserID
    let clientMsgID: ExactText
  }

  private var entries: [Key: Entry] = [:]
  /// The keys in the order of recording. A key that was used again, after its message was dropped,
  /// appears twice; only the newer entry is kept.
  private var byAge: Deque<(key: Key, time: MonotonicInstant)> = []
  /// When the newest receipt of a message that no store holds was recorded.
  private var lastVolatile: MonotonicInstant?
  /// The receipts of all messages with a timestamp from here on were recorded, and none was deleted.
  private var completeSince: WallInstant

  /// The stored messages' receipts. The wall clock may have been set back since, so none counts as
  /// later than `now`.
  /// - Parameter since: the messages are all with a timestamp from here on.
  init(_ messages: [SentMessage], since: WallInstant = .unset, at now: ClockReading) {
    completeSince = since
    for message in messages {
      let receipt = MessageReceipt(msgID: message.msgID, seq: message.seq, timestamp: message.timestamp, status: .stored)
      record(
        receipt, Key(sender: message.sender, clientMsgID: ExactText(message.clientMsgID)),
        at: now.monotonic(of: message.timestamp))
    }
  }

  /// Whether a receipt is kept of a message that no store holds.
  func remembersVolatile(at now: MonotonicInstant) -> Bool {
    guard let newest = lastVolatile else { return false }
    return now.milliseconds(since: newest) < RecentlySent.retentionMilliseconds
  }

  /// Whether every stored message with this timestamp or a later one is answered by its receipt.
  func isComplete(since instant: WallInstant, at now: MonotonicInstant) -> Bool {
    guard instant >= completeSince else { return false }
    // The timestamps of stored messages ascend, so the newest of the expired stands for all.
    let limit = now.advanced(byMilliseconds: -RecentlySent.retentionMilliseconds)
    var (low, high) = (0, byAge.count)
    while low < high {
      let middle = low + (high - low) / 2
      if byAge[middle].time <= limit { low = middle + 1 } else { high = middle }
    }
    // Of a key that was used again only the newer entry is kept.
    for (key, time) in byAge[..<low].reversed() {
      if let newest = entries[key], newest.time == time { return newest.receipt.timestamp < instant }
    }
    return true
  }

  /// How many receipts are kept, expired ones included until the next message.
  var count: Int { byAge.count }

  /// The first receipt, where the sender used this clientMsgID before.
  func receipt(of clientMsgID: String?, from sender: UserID, at now: MonotonicInstant) -> MessageReceipt? {
    guard let clientMsgID, let entry = entries[Key(sender: sender, clientMsgID: ExactText(clientMsgID))],
      now.milliseconds(since: entry.time) < RecentlySent.retentionMilliseconds
    else { return nil }
    return entry.receipt
  }

  /// Records the receipt of a message that has a clientMsgID, and deletes expired ones.
  mutating func record(_ message: Message, _ status: MessageReceipt.Status, at now: MonotonicInstant) {
    deleteExpired(through: now.advanced(byMilliseconds: -RecentlySent.retentionMilliseconds))
    guard let clientMsgID = message.clientMsgID else { return }
    let receipt = MessageReceipt(msgID: message.msgID, seq: message.seq, timestamp: message.timestamp, status: status)
    record(receipt, Key(sender: message.sender, clientMsgID: ExactText(clientMsgID)), at: now)
  }

  private mutating func record(_ receipt: MessageReceipt, _ key: Key, at now: MonotonicInstant) {
    // A live room gives its messages a `seq`, too.
    if receipt.status != .stored { lastVolatile = now }
    entries[key] = Entry(receipt: receipt, time: now)
    byAge.append((key, now))
  }

  /// Deletes the receipt of a message that was dropped later: "errors and Dropped are not
  /// remembered".
  mutating func forget(_ message: Message) {
    guard let clientMsgID = message.clientMsgID else { return }
    let key = Key(sender: message.sender, clientMsgID: ExactText(clientMsgID))
    if entries[key]?.receipt.msgID == message.msgID { entries[key] = nil }
  }

  private mutating func deleteExpired(through limit: MonotonicInstant) {
    while let oldest = byAge.first, oldest.time <= limit {
      if entries[oldest.key]?.time == oldest.time, let deleted = entries.removeValue(forKey: oldest.key) {
        completeSince = max(completeSince, deleted.receipt.timestamp.advanced(byMilliseconds: 1))
      }
      byAge.removeFirst()
    }
  }
}
