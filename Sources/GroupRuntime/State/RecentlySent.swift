import DequeModule
import GroupModel

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
  }

  private struct Mark: Hashable, Sendable {
    let sender: UserID
    let clientMsgID: ExactText
  }

  private var results: [Mark: Result] = [:]
  private var byAge: Deque<Mark> = []

  /// The marks of messages as the store remembers them.
  init(_ messages: [Message]) {
    for message in messages { note(message) }
  }

  /// How many marks are kept, those too old included until the next message.
  var count: Int { byAge.count }

  /// The first result, where this mark was used before.
  func result(of clientMsgID: String?, from sender: UserID, at now: Instant) -> Result? {
    guard let clientMsgID, let result = results[Mark(sender: sender, clientMsgID: ExactText(clientMsgID))],
      now - result.timestamp < RecentlySent.memory
    else { return nil }
    return result
  }

  /// Remembers a message, and forgets those that are too old.
  mutating func note(_ message: Message) {
    forget(before: message.timestamp - RecentlySent.memory)
    guard let clientMsgID = message.clientMsgID else { return }
    let mark = Mark(sender: message.sender, clientMsgID: ExactText(clientMsgID))
    results[mark] = Result(msgID: message.msgID, seq: message.seq, timestamp: message.timestamp)
    byAge.append(mark)
  }

  /// Marks are noted in the order of time, so the oldest stands first. A clock that was put back leaves a mark twice; its newer
  /// result stays.
  private mutating func forget(before limit: Instant) {
    while let oldest = byAge.first {
      if let result = results[oldest] {
        guard result.timestamp <= limit else { return }
        results[oldest] = nil
      }
      byAge.removeFirst()
    }
  }
}
