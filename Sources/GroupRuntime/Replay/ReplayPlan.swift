import GroupModel

/// What is to be read to tell again what came between two stamps of a group (Cluster.md, "Replay").
struct ReplayPlan: Sendable, Equatable {
  /// The most messages, and the most changes of messages, that are told again.
  static let maxCount = 200
  /// The most bytes of all that is told again.
  static let maxBytes = 1 << 20
  /// How many of the newest messages have their read receipts told again.
  static let receiptCount: Int64 = 200

  /// What the group has now.
  struct History: Sendable, Equatable {
    let type: GroupType
    /// All that was decided, whether its events wait or not.
    let stamp: GroupStamp
    /// The oldest message that is kept.
    let firstSeq: Int64
    /// Imported messages have no events.
    let importedThroughSeq: Int64
  }

  /// Changes of messages up to one.
  struct Changes: Sendable, Equatable {
    let after: Int64
    let through: Int64
    let seqs: ClosedRange<Int64>
  }

  let epoch: String
  /// Nil = none was missed.
  private(set) var messages: ClosedRange<Int64>?
  /// Nil = none was missed.
  private(set) var changes: Changes?
  /// Whether attributes and counters are told as they are now.
  private(set) var tellsBoard = false
  /// The messages whose read receipts are told; nil = of none.
  private(set) var receipts: ClosedRange<Int64>?

  /// Whether nothing is to be told.
  var isEmpty: Bool { messages == nil && changes == nil && !tellsBoard }

  /// What was missed between two stamps.
  /// - Parameter from: nil = a live room's, which has none.
  init(from: GroupStamp?, through: GroupStamp, in history: History) throws(GroupReplay.Reason) {
    epoch = history.stamp.epoch
    guard let from else {
      guard !history.type.isStamped else { throw .epoch }
      tellsBoard = true
      return
    }
    guard history.type.isStamped, from.epoch == epoch, through.epoch == epoch else { throw .epoch }
    for (one, other) in [(from, through), (through, history.stamp)] {
      switch one.order(to: other) {
      case .same, .behind: break
      case .ahead, .apart: throw .ahead
      }
    }
    guard from.revision == through.revision,
      from.board / GroupStamp.removalStep == through.board / GroupStamp.removalStep
    else { throw .revision }
    let firstMissed = max(from.seq, history.importedThroughSeq) + 1
    if firstMissed <= through.seq {
      if firstMissed < history.firstSeq { throw .retention }
      guard through.seq - firstMissed < Int64(ReplayPlan.maxCount) else { throw .tooMuch }
      messages = firstMissed...through.seq
    }
    if from.changeSeq < through.changeSeq, through.seq > 0 {
      changes = Changes(after: from.changeSeq, through: through.changeSeq, seqs: 1...through.seq)
    }
    guard from.board < through.board else { return }
    tellsBoard = true
    if history.type.hasReadReceipts, through.seq > 0 {
      receipts = max(1, through.seq - ReplayPlan.receiptCount + 1)...through.seq
    }
  }
}
