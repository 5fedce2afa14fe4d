import GroupModel
import WireProtocol

/// The messages of a group as far as memory holds them: the newest, the receipts of recent ones,
/// counts of unread ones, and changes that a reading of the store may not show yet.
struct MessageHistory: Sendable {
  /// Begins the msgIDs of stored messages.
  private let storedPrefix: String
  /// The newest message that may be the last message; nil where there is none, or retention has
  /// removed it.
  private(set) var lastMessage: Message?
  /// That message's number, removed or not; 0 where there was none.
  private(set) var lastShownSeq: Int64
  /// That message's timestamp, removed or not.
  private(set) var lastTime: WallInstant
  /// The newest message's number, removed or not; 0 where there was none.
  private(set) var lastSeq: Int64
  /// The newest message's timestamp, removed or not.
  private(set) var newestTime: WallInstant
  /// The oldest message that is kept; `lastSeq + 1` where there is none.
  private(set) var firstSeq: Int64
  private var receipts: RecentlySent
  private var unreadCounts = UnreadCounts()
  var recentChanges = RecentChanges()
  /// Numbers the messages that are not stored.
  private var volatileCount: Int64 = 0
  /// Begins their msgIDs; the random part makes these unique beyond a restart.
  private let volatilePrefix: String

  init(_ stored: StoredGroup, at now: ClockReading) {
    storedPrefix = stored.record.epoch + "-"
    lastMessage = stored.lastMessage
    lastShownSeq = stored.lastMessage?.seq ?? stored.record.lastShownSeq
    lastTime = stored.lastTime
    lastSeq = stored.lastSeq
    newestTime = stored.newestTime
    firstSeq = stored.firstSeq
    receipts = RecentlySent(stored.recentlySent, since: stored.receiptsSince, at: now)
    volatilePrefix = "\(stored.record.epoch)-\(String(UInt32.random(in: .min ... .max), radix: 36))-"
  }

  // MARK: Sending

  /// A msgID for the next message: its place in the history, or a number that is used for nothing
  /// else.
  mutating func nextMessageID(seq: Int64?) -> String {
    if let seq { return messageID(seq: seq) }
    volatileCount += 1
    return volatilePrefix.followed(by: volatileCount)
  }

  /// The msgID of a stored message: its place in the history.
  func messageID(seq: Int64) -> String { storedPrefix.followed(by: seq) }

  /// The stored message is the newest one.
  mutating func append(_ message: Message) {
    lastSeq = message.seq ?? lastSeq
    newestTime = message.timestamp
    guard message.movesLastMessage else { return }
    lastMessage = message
    lastShownSeq = lastSeq
    lastTime = message.timestamp
  }

  // MARK: Retention

  /// Retention has removed the messages before `seq`.
  mutating func remove(before seq: Int64) {
    guard seq > firstSeq else { return }
    firstSeq = seq
    if seq > lastShownSeq { lastMessage = nil }
  }

  // MARK: Receipts

  /// The first receipt, where the sender used this clientMsgID before.
  func receipt(of clientMsgID: String?, from sender: UserID, at now: MonotonicInstant) -> MessageReceipt? {
    receipts.receipt(of: clientMsgID, from: sender, at: now)
  }

  /// Whether every message from an instant on is answered by `receipt`, if it was stored.
  func knowsReceipts(since instant: WallInstant, at now: MonotonicInstant) -> Bool {
    receipts.isComplete(since: instant, at: now)
  }

  /// Remembers the receipt of a message that has a clientMsgID.
  mutating func recordReceipt(of message: Message, _ status: MessageReceipt.Status, at now: MonotonicInstant) {
    receipts.record(message, status, at: now)
  }

  /// Forgets the receipt of a message that was dropped later.
  mutating func forgetReceipt(of message: Message) { receipts.forget(message) }

  /// How many receipts are kept.
  var receiptCount: Int { receipts.count }

  /// Whether a receipt is remembered that no store keeps.
  func hasVolatileReceipt(at now: MonotonicInstant) -> Bool { receipts.remembersVolatile(at: now) }

  // MARK: Changes

  /// Whether the message was recalled, although a reading of the store may not show it.
  func isRecentlyRecalled(_ seq: Int64) -> Bool { recentChanges[seq]?.message.isRevoked == true }

  /// - Parameters:
  ///   - message: as it is since the change.
  ///   - reactions: nil = they have not changed.
  mutating func noteChange(of message: Message, seq: Int64, reactions: ReactionsOfMessage? = nil) {
    recentChanges.note(message, seq: seq, reactions: reactions)
    if message.isRevoked { unreadCounts.removeAll() }
    if lastMessage?.seq == seq { lastMessage = message }
  }

  /// Takes from the messages in memory what shows a user who is deleted; the store has it no more.
  mutating func eraseTexts(of user: UserID) {
    lastMessage?.eraseTexts(of: user)
    recentChanges.update { $0.eraseTexts(of: user) }
  }

  // MARK: Unread messages

  /// See `UnreadCounts.question(of:after:unheard:managersOnly:)`.
  func unreadQuestion(
    of reader: UserID, after: Int64, unheard: [ClosedRange<Int64>], managersOnly: Bool
  ) -> (question: UnreadCounts.Question, known: Int, through: Int64) {
    unreadCounts.question(of: reader, after: after, unheard: unheard, managersOnly: managersOnly)
  }

  /// Remembers a count of the unread messages of a reader up to a message.
  mutating func recordUnread(_ count: Int, through: Int64, for reader: UserID, _ question: UnreadCounts.Question) {
    unreadCounts.record(count, through: through, for: reader, question)
  }
}

extension Message {
  /// Takes the name card of a user away, and what a tip shows of them; nothing of what they have said.
  fileprivate mutating func eraseTexts(of user: UserID) {
    if sender == user { nameCard = "" }
    guard case .tips(let tips) = content, let erased = PersonalTexts.erase(user, in: Array(tips.utf8), messages: .keep) else {
      return
    }
    content = .tips(String(decoding: erased, as: UTF8.self))
  }
}

extension String {
  /// The text with a number from 0 behind it, in one allocation: every message gets such a msgID.
  fileprivate func followed(by number: Int64) -> String {
    var left = number.magnitude
    var digits = 1
    var bound: UInt64 = 10
    while left >= bound {
      digits += 1
      bound *= 10
    }
    return String(unsafeUninitializedCapacity: utf8.count + digits) { bytes in
      var end = bytes.initialize(from: utf8).index + digits
      let length = end
      repeat {
        end -= 1
        bytes[end] = UInt8(ascii: "0") + UInt8(left % 10)
        left /= 10
      } while left > 0
      return length
    }
  }
}
