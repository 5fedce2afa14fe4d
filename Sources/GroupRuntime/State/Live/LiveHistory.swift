/// The numbers of a live room that remembers its messages, as decisions give them. They may run ahead
/// of `RecentRooms`, which has what was handed to the fan-out: a state that is discarded takes its
/// numbers with it, and nobody has heard of them.
struct LiveHistory: Sendable {
  /// Another one where the memory was lost.
  let epoch: String
  /// The newest message; 0 = there was none.
  private(set) var lastSeq: Int64
  /// The number of the last recall; 0 = there was none.
  private(set) var changeSeq: Int64
  /// Messages whose recall is decided and not performed yet.
  private var recalls: Set<Int64> = []

  /// The history of a room as far as it was handed to the fan-out.
  init(epoch: String, lastSeq: Int64 = 0, changeSeq: Int64 = 0) {
    self.epoch = epoch
    self.lastSeq = lastSeq
    self.changeSeq = changeSeq
  }

  /// The place of the next message.
  mutating func nextSeq() -> Int64 {
    lastSeq += 1
    return lastSeq
  }

  /// Decides the recall of a message that was not recalled when it was looked up.
  /// - Returns: its number; nil = its recall is decided already.
  mutating func recall(_ seq: Int64) -> Int64? {
    guard recalls.insert(seq).inserted else { return nil }
    changeSeq += 1
    return changeSeq
  }

  /// The recall was performed: who looks the message up finds it recalled.
  mutating func didRecall(_ seq: Int64) { recalls.remove(seq) }
}
