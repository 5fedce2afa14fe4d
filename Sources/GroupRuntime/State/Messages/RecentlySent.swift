import DequeModule
import GroupModel
import WireProtocol

/// The receipts of messages with a clientMsgID of the last 5 minutes: sending again answers the first receipt
/// (Protocol.md, "Repeated sends").
struct RecentlySent: Sendable {
  /// How long a mark is remembered, in milliseconds.
  static let memory: Instant = 300_000

  private struct Note: Sendable {
    let result: MessageReceipt
    /// When it was noted: an imported message is older than its import.
    let time: Instant
  }

  private struct Mark: Hashable, Sendable {
    let sender: UserID
    let clientMsgID: ExactText
  }

  private var notes: [Mark: Note] = [:]
  private var byAge: Deque<(mark: Mark, time: Instant)> = []
  /// When the newest of a message without `seq` was noted.
  private var lastVolatile: Instant?

  /// The marks of messages as the store remembers them; none is of a time to come.
  init(_ messages: [SentMessage], at now: Instant) {
    for message in messages {
      let result = MessageReceipt(msgID: message.msgID, seq: message.seq, timestamp: message.timestamp, status: .stored)
      note(result, Mark(sender: message.sender, clientMsgID: ExactText(message.clientMsgID)), at: min(message.timestamp, now))
    }
  }

  /// Whether a mark is remembered of a message that is not stored: nothing could tell it again.
  func remembersVolatile(at now: Instant) -> Bool {
    guard let newest = lastVolatile else { return false }
    return now - newest < RecentlySent.memory
  }

  /// How many marks are kept, those too old included until the next message.
  var count: Int { byAge.count }

  /// The first result, where this mark was used before.
  func result(of clientMsgID: String?, from sender: UserID, at now: Instant) -> MessageReceipt? {
    guard let clientMsgID, let note = notes[Mark(sender: sender, clientMsgID: ExactText(clientMsgID))],
      now - note.time < RecentlySent.memory
    else { return nil }
    return note.result
  }

  /// Remembers a message, and forgets those that are too old.
  mutating func note(_ message: Message, _ status: MessageReceipt.Status, at now: Instant) {
    forget(before: now - RecentlySent.memory)
    guard let clientMsgID = message.clientMsgID else { return }
    let result = MessageReceipt(msgID: message.msgID, seq: message.seq, timestamp: message.timestamp, status: status)
    note(result, Mark(sender: message.sender, clientMsgID: ExactText(clientMsgID)), at: now)
  }

  private mutating func note(_ result: MessageReceipt, _ mark: Mark, at now: Instant) {
    if result.seq == nil { lastVolatile = now }
    notes[mark] = Note(result: result, time: now)
    byAge.append((mark, now))
  }

  /// Forgets a message that was dropped after all: "errors and Dropped are not remembered".
  mutating func forget(_ message: Message) {
    guard let clientMsgID = message.clientMsgID else { return }
    let mark = Mark(sender: message.sender, clientMsgID: ExactText(clientMsgID))
    if notes[mark]?.result.msgID == message.msgID { notes[mark] = nil }
  }

  /// Marks are noted in the order of time, so the oldest stands first. One that was used again, after its message was dropped, stands there
  /// twice; its newer result stays.
  private mutating func forget(before limit: Instant) {
    while let oldest = byAge.first, oldest.time <= limit {
      if notes[oldest.mark]?.time == oldest.time { notes[oldest.mark] = nil }
      byAge.removeFirst()
    }
  }
}
