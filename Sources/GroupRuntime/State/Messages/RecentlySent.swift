import DequeModule
import GroupModel

/// What a sender is answered about a message (contract section 4).
enum SendStatus: String, Sendable {
  /// Durable when the reply is sent.
  case stored = "Stored"
  /// Handed to the fan-out.
  case delivered = "Delivered"
  /// Waits for its turn in a room over its limit.
  case queued = "Queued"
  /// The room is over its limit and full of better ones.
  case dropped = "Dropped"
}

/// What senders marked with a clientMsgID in the last 5 minutes: the same mark from the same sender answers the first result again
/// (contract section 4).
struct RecentlySent: Sendable {
  /// How long a mark is remembered, in milliseconds.
  static let memory: Instant = 300_000

  /// What the first sending was answered.
  struct Result: Sendable, Equatable {
    let msgID: String
    let seq: Int64?
    let timestamp: Instant
    let status: SendStatus
  }

  private struct Note: Sendable {
    let result: Result
    /// When it was noted: an imported message is older than its import.
    let time: Instant
  }

  private struct Mark: Hashable, Sendable {
    let sender: UserID
    let clientMsgID: ExactText
  }

  private var notes: [Mark: Note] = [:]
  private var byAge: Deque<(mark: Mark, time: Instant)> = []

  /// The marks of messages as the store remembers them; none is of a time to come.
  init(_ messages: [SentMessage], at now: Instant) {
    for message in messages {
      let result = Result(msgID: message.msgID, seq: message.seq, timestamp: message.timestamp, status: .stored)
      note(result, Mark(sender: message.sender, clientMsgID: ExactText(message.clientMsgID)), at: min(message.timestamp, now))
    }
  }

  /// How many marks are kept, those too old included until the next message.
  var count: Int { byAge.count }

  /// The first result, where this mark was used before.
  func result(of clientMsgID: String?, from sender: UserID, at now: Instant) -> Result? {
    guard let clientMsgID, let note = notes[Mark(sender: sender, clientMsgID: ExactText(clientMsgID))],
      now - note.time < RecentlySent.memory
    else { return nil }
    return note.result
  }

  /// Remembers a message, and forgets those that are too old.
  mutating func note(_ message: Message, _ status: SendStatus, at now: Instant) {
    forget(before: now - RecentlySent.memory)
    guard let clientMsgID = message.clientMsgID else { return }
    let result = Result(msgID: message.msgID, seq: message.seq, timestamp: message.timestamp, status: status)
    note(result, Mark(sender: message.sender, clientMsgID: ExactText(clientMsgID)), at: now)
  }

  private mutating func note(_ result: Result, _ mark: Mark, at now: Instant) {
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
