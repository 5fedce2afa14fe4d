/// When the frames of links are made: few at a time, so that many entries share one, and soon. A value:
/// `ClusterLinks` acts.
struct FlushSchedule: Sendable {
  /// The beginning of a flush.
  enum Start: Sendable, Equatable {
    /// Of the links with a frame that may not wait.
    case now
    /// The same, when the caller's loop ends its turn: `endTurn` follows.
    case endOfTurn
    /// Of all links, when the machine has been up for so many nanoseconds.
    case full(UInt64)
  }

  /// How long an entry that may wait does, at most.
  static let pauseNanoseconds: UInt64 = 20_000_000
  /// A turn may be long: behind so many entries its end is not waited for.
  static let maxTurnEntries = 64

  private var isScheduled = false
  /// The entries since a loop has scheduled the flush that its turn's end begins; nil = none waits for that.
  private var turnEntries: Int?
  /// A flush that takes what may wait.
  private var isFullScheduled = false
  /// When the last one began.
  private var lastFull: UInt64 = 0

  /// Nothing is scheduled.
  init() {}

  /// An entry has come.
  /// - Parameters:
  ///   - mayWait: it shares a frame with others.
  ///   - isInTurn: the caller is a loop, which may add more in this turn.
  /// - Returns: the flush that is to begin; nil where one is on its way.
  mutating func schedule(mayWait: Bool = false, isInTurn: Bool = false) -> Start? {
    if mayWait {
      guard !isFullScheduled else { return nil }
      isFullScheduled = true
      // The first of a moment goes at once, and those behind it together.
      return .full(lastFull + FlushSchedule.pauseNanoseconds)
    }
    if !isScheduled {
      isScheduled = true
      turnEntries = isInTurn ? 1 : nil
      return isInTurn ? .endOfTurn : .now
    }
    guard let count = turnEntries else { return nil }
    turnEntries = count + 1
    // Nobody but a loop waits for a turn.
    guard !isInTurn || count >= FlushSchedule.maxTurnEntries else { return nil }
    turnEntries = nil
    return .now
  }

  /// A loop has ended the turn in which it scheduled a flush.
  /// - Returns: whether the flush is to begin now.
  mutating func endTurn() -> Bool {
    defer { turnEntries = nil }
    return turnEntries != nil
  }

  /// A flush begins: entries from now on need another.
  /// - Parameter now: for how many nanoseconds the machine has been up.
  mutating func begin(takesAll: Bool, at now: UInt64) {
    if takesAll {
      isFullScheduled = false
      lastFull = now
    } else {
      isScheduled = false
      turnEntries = nil
    }
  }
}
