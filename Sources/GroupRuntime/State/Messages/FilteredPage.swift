/// A page of a history in which single messages are addressed to others than the reader. It is made
/// window by window: each window is read for such messages, until the page is full or the history ends.
struct FilteredPage {
  /// How many places a window has at most.
  static let windowSize: Int64 = 4096

  private let ranges: [ClosedRange<Int64>]
  private let newestFirst: Bool
  private let count: Int
  /// What lies beyond it, in the direction of reading, has not been in a window yet.
  private var bound: Int64
  private var hasWindows = false
  /// The messages of the page and the one behind it, in the order of reading.
  private var seqs: [Int64] = []

  /// A page without messages yet.
  /// - Parameters:
  ///   - ranges: the places that the reader may see, ascending.
  ///   - bound: exclusive.
  init(in ranges: [ClosedRange<Int64>], from bound: Int64, newestFirst: Bool, count: Int64) {
    self.ranges = ranges
    self.newestFirst = newestFirst
    self.count = Int(count)
    self.bound = bound
  }

  /// The places that have to be looked at next; nil = the page is whole.
  var nextWindow: ClosedRange<Int64>? {
    if seqs.count > count { return nil }
    // The first is small, because as a rule few messages are addressed to others.
    let size = hasWindows ? Self.windowSize : min(Self.windowSize, Int64(count) + 512)
    if newestFirst {
      guard let range = ranges.last(where: { $0.lowerBound < bound }) else { return nil }
      let newest = min(range.upperBound, bound - 1)
      return max(range.lowerBound, newest - size + 1)...newest
    }
    guard let range = ranges.first(where: { $0.upperBound > bound }) else { return nil }
    let oldest = max(range.lowerBound, bound + 1)
    return oldest...min(range.upperBound, oldest + size - 1)
  }

  /// Adds the messages of `nextWindow`.
  /// - Parameter hidden: those of them that are addressed to others.
  mutating func add(_ window: ClosedRange<Int64>, without hidden: [Int64]) {
    let hidden = Set(hidden)
    hasWindows = true
    bound = newestFirst ? window.lowerBound : window.upperBound
    for offset in 0..<Int64(window.count) {
      let seq = newestFirst ? window.upperBound - offset : window.lowerBound + offset
      if hidden.contains(seq) { continue }
      seqs.append(seq)
      if seqs.count > count { return }
    }
  }

  /// The messages of the page, and whether no other follows, once there is no further window.
  var page: VisibleHistory.Page {
    var ranges: [ClosedRange<Int64>] = []
    for seq in seqs.prefix(count) {
      switch ranges.last {
      case let last? where newestFirst && last.lowerBound == seq + 1: ranges[ranges.count - 1] = seq...last.upperBound
      case let last? where !newestFirst && last.upperBound == seq - 1: ranges[ranges.count - 1] = last.lowerBound...seq
      default: ranges.append(seq...seq)
      }
    }
    return VisibleHistory.Page(ranges: ranges, isFinished: seqs.count <= count)
  }
}
