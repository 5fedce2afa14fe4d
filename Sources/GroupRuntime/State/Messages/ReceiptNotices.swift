import DequeModule
import GroupModel

/// The messages whose senders are to be told of new read receipts (Protocol.md, "Read receipts").
/// Takes a bit for each message, so that it stays small however many wait.
struct ReceiptNotices: Sendable {
  /// The least time between two rounds of events: at most 5 in any second, also where the network
  /// delays the first of them.
  static let interval = Duration.milliseconds(250)
  /// How many messages one round tells of; its events stay small.
  static let maxCount = 200
  /// How many blocks one round reads: a row for each reader and block.
  static let maxBlocks = 8

  private var blocks: [Int64: SeqBlock] = [:]
  /// The numbers of the blocks, the longest waiting first.
  private var order: Deque<Int64> = []
  /// When the next round may begin.
  private var nextRound = MonotonicInstant.distantPast
  /// A round has begun: its counts are being read.
  private(set) var isReading = false

  /// Whether no message waits and no round is under way.
  var isIdle: Bool { order.isEmpty && !isReading }

  /// When the next round may begin; nil = nothing waits, or one is under way.
  func due(at now: MonotonicInstant) -> MonotonicInstant? {
    guard !isReading, !order.isEmpty else { return nil }
    return max(now, nextRound)
  }

  /// Messages have new receipts.
  mutating func add(_ seqs: [Int64]) {
    for seq in seqs {
      let block = SeqBlock.number(of: seq)
      if blocks[block] == nil { order.append(block) }
      blocks[block, default: SeqBlock()].insert(seq)
    }
  }

  /// Begins a round; `endRound` must follow.
  /// - Returns: the messages to tell of. Later receipts of theirs wait for a later round.
  mutating func beginRound() -> [Int64] {
    isReading = true
    var taken: [Int64] = []
    for _ in 0..<ReceiptNotices.maxBlocks {
      guard taken.count < ReceiptNotices.maxCount, let block = order.popFirst(), var waiting = blocks[block] else { break }
      let seqs = waiting.seqs(in: block).prefix(ReceiptNotices.maxCount - taken.count)
      for seq in seqs { waiting.remove(seq) }
      blocks[block] = waiting.bytes.isEmpty ? nil : waiting
      if !waiting.bytes.isEmpty { order.prepend(block) }
      taken += seqs
    }
    return taken
  }

  /// The events of a round were sent.
  mutating func endRound(at now: MonotonicInstant) {
    isReading = false
    nextRound = now + ReceiptNotices.interval
  }

  /// The counts could not be read: the messages wait for a round at or after an instant.
  mutating func repeatRound(_ seqs: [Int64], at instant: MonotonicInstant) {
    isReading = false
    nextRound = instant
    add(seqs)
  }

  /// The group has ended.
  mutating func removeAll() { (blocks, order) = ([:], []) }
}
