import GroupModel

/// How far a group's members are told, and how far the store has the numbers of it (Cluster.md,
/// "Stamps"): the members never know more than the store, and both meet when nothing is pending.
///
/// `board` tells of last states, which are told late and together. So it is raised by the first change
/// behind the last time when all was told, and the members know it when nothing of it is pending.
struct ToldStamp: Sendable {
  /// What the members know; nil = the group is not loaded, or its type is not stamped.
  private var stamp: GroupStamp?
  /// Whether a new group was told, so that the topic is no more that of one before it.
  private var isBegun = false
  /// How often it has begun.
  private(set) var beginnings = 0
  /// The numbers that a commit holds, or that were read.
  private var storedRevision: Int64 = 0
  private var storedBoard: Int64 = 0
  /// Decisions about the board that are not delivered yet.
  private var undelivered = 0
  /// The first change of a message whose event was lost with a state, and is not made again yet.
  private var firstLostChange: Int64?
  /// How many such events are not made again yet.
  private var lostCount = 0

  /// What the members are told, who have the topic's sessions; nil = they have no stamp.
  var known: GroupStamp? { isBegun ? stamp : nil }

  /// Whether a decision about the board is not delivered yet.
  var hasUndelivered: Bool { undelivered > 0 }

  /// The group was loaded.
  /// - Parameters:
  ///   - isBoardPending: the members are to be told once more of a last state.
  ///   - lostChanges: of which the members are still to be told.
  mutating func begin(_ state: inout GroupState, isBoardPending: Bool = false, lostChanges: [Int64] = []) {
    var begun = state.currentStamp()
    // It never goes back: a failed commit was not told.
    let known = stamp?.epoch == begun.epoch ? stamp : nil
    if isBoardPending, let known { begun.board = min(begun.board, known.board) }
    let first = lostChanges.min()
    if let first { begun.changeSeq = max(min(begun.changeSeq, first - 1), known?.changeSeq ?? 0) }
    begin(begun, storedBoard: state.record.board)
    (isBegun, firstLostChange, lostCount) = (true, first, lostChanges.count)
  }

  /// The group was made. Nothing of it is told before decisions of a group before it.
  mutating func begin(new state: inout GroupState) {
    begin(state.currentStamp(), storedBoard: state.record.board)
    (isBegun, firstLostChange, lostCount) = (false, nil, 0)
  }

  private mutating func begin(_ begun: GroupStamp, storedBoard board: Int64) {
    beginnings += 1
    stamp = begun
    (storedRevision, storedBoard, undelivered) = (begun.revision, board, 0)
  }

  /// There is no group any more, or one of another type.
  mutating func end() {
    let beginnings = beginnings
    self = ToldStamp()
    self.beginnings = beginnings
  }

  /// The event of a change that was lost is made again, or cannot be.
  /// - Parameter beginning: that of the loading behind which it was looked for.
  mutating func didMakeLostChange(of beginning: Int) {
    guard beginning == beginnings, lostCount > 0 else { return }
    lostCount -= 1
    if lostCount == 0 { firstLostChange = nil }
  }

  /// Raises the numbers of a decision.
  /// - Returns: the change that stores them; nil = none is needed.
  mutating func raise(_ visibility: DecisionVisibility, in state: inout GroupState) -> StoreChange? {
    guard !visibility.isDisjoint(with: [.revision, .board]) else { return nil }
    if visibility.contains(.revision) { state.record.revision += 1 }
    if visibility.contains(.removal) {
      state.record.board += GroupStamp.removalStep
    } else if visibility.contains(.board), state.record.board == stamp?.board {
      state.record.board += 1
    }
    let (revision, board) = (state.record.revision, state.record.board)
    guard revision > storedRevision || board > storedBoard else { return nil }
    (storedRevision, storedBoard) = (revision, board)
    return .putStamp(revision: revision, board: board, in: state.record.id)
  }

  /// What the members will know when a decision is delivered, which was just made.
  mutating func note(_ visibility: DecisionVisibility, of state: inout GroupState) -> DecisionStamp {
    if visibility.contains(.board) { undelivered += 1 }
    var stamp = state.currentStamp()
    if let firstLostChange { stamp.changeSeq = min(stamp.changeSeq, firstLostChange - 1) }
    return DecisionStamp(stamp, isOnBoard: visibility.contains(.board))
  }

  /// A decision was delivered. One of a former group of the same groupID tells nothing of this one.
  mutating func didDeliver(_ decision: DecisionStamp) {
    guard let known = stamp, known.epoch == decision.stamp.epoch else { return }
    isBegun = true
    if decision.isOnBoard { undelivered -= 1 }
    var told = decision.stamp
    told.changeSeq = max(told.changeSeq, known.changeSeq)
    told.board = known.board
    stamp = told
  }

  /// The members know all last states.
  mutating func didTellBoard(of state: inout GroupState) {
    if stamp?.epoch == state.record.epoch { stamp?.board = state.record.board }
  }
}

/// What members know when a decision is delivered. A class: each message has a decision, which is small.
final class DecisionStamp: Sendable {
  /// Its `board` is not told by the decision alone: see `ToldStamp`.
  let stamp: GroupStamp
  /// Whether the decision changes what is told by its last state.
  let isOnBoard: Bool

  init(_ stamp: GroupStamp, isOnBoard: Bool) {
    self.stamp = stamp
    self.isOnBoard = isOnBoard
  }
}

/// How a decision changes a message. A class, as `DecisionStamp`.
final class NotedChange: Sendable {
  let origin: ChangeOrigin
  let seq: Int64
  let changeSeq: Int64

  init(_ origin: ChangeOrigin, seq: Int64, changeSeq: Int64) {
    self.origin = origin
    self.seq = seq
    self.changeSeq = changeSeq
  }
}

extension GroupState {
  /// The stamp of all that was decided, as far as events of changed messages do not wait. Not a getter,
  /// which would be given a copy of the state.
  mutating func currentStamp() -> GroupStamp {
    GroupStamp(
      epoch: record.epoch, seq: messages.lastSeq, changeSeq: announcements.firstChangeSeq.map { $0 - 1 } ?? record.changeSeq,
      revision: record.revision, board: record.board)
  }
}
