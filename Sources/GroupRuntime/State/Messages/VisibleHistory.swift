import GroupModel

/// The messages that a reader may see and that are kept, as disjoint ascending ranges of `seq`. There
/// is no gap in `seq`, so a page is a list of ranges.
struct VisibleHistory: Equatable {
  /// What the reader could see if nothing had been removed.
  let visibility: Visibility
  let ranges: [ClosedRange<Int64>]
  /// The newest message that the reader could see and retention has removed; nil = there is none.
  private let lastRemoved: Int64?

  /// - Parameters:
  ///   - visibility: what the reader could see if nothing had been removed.
  ///   - firstSeq: the oldest message that is kept.
  init(_ visibility: Visibility, keptFrom firstSeq: Int64 = 1) {
    self.visibility = visibility
    let ranges = visibility.ranges
    guard let first = ranges.first, first.lowerBound < firstSeq else {
      (self.ranges, lastRemoved) = (ranges, nil)
      return
    }
    self.ranges = ranges.compactMap { $0.upperBound < firstSeq ? nil : max($0.lowerBound, firstSeq)...$0.upperBound }
    lastRemoved = ranges.last { $0.lowerBound < firstSeq }.map { min($0.upperBound, firstSeq - 1) }
  }

  /// Whether every message above a bound that the reader could see is kept.
  func isComplete(after bound: Int64) -> Bool { lastRemoved.map { $0 <= bound } ?? true }

  /// The ranges to read, in that order, and whether no message lies beyond them.
  struct Page: Equatable {
    let ranges: [ClosedRange<Int64>]
    let isFinished: Bool
  }

  /// Whether the reader may see what stands at a place, unless it is targeted at others.
  func contains(_ seq: Int64) -> Bool { ranges.contains { $0.contains(seq) } }

  /// Whether the reader may see a message.
  func contains(_ message: Message) -> Bool { contains(message.seq ?? 0) && visibility.contains(message) }

  /// The ranges up to a message.
  func ranges(through seq: Int64) -> [ClosedRange<Int64>] {
    ranges.filter { $0.lowerBound <= seq }.map { $0.clamped(to: $0.lowerBound...max($0.lowerBound, seq)) }
  }

  /// The newest `count` messages with a `seq` below a bound, newest range first.
  func older(than bound: Int64, count: Int64) -> Page {
    var left = count
    var page: [ClosedRange<Int64>] = []
    for range in ranges.reversed() where range.lowerBound < bound {
      guard left > 0 else { return Page(ranges: page, isFinished: false) }
      let newest = min(range.upperBound, bound - 1)
      let oldest = max(range.lowerBound, newest - left + 1)
      page.append(oldest...newest)
      left -= newest - oldest + 1
      if oldest > range.lowerBound { return Page(ranges: page, isFinished: false) }
    }
    return Page(ranges: page, isFinished: true)
  }

  /// The oldest `count` messages with a `seq` above a bound.
  func newer(than bound: Int64, count: Int64) -> Page {
    var left = count
    var page: [ClosedRange<Int64>] = []
    for range in ranges where range.upperBound > bound {
      guard left > 0 else { return Page(ranges: page, isFinished: false) }
      let oldest = max(range.lowerBound, bound + 1)
      let newest = min(range.upperBound, oldest + left - 1)
      page.append(oldest...newest)
      left -= newest - oldest + 1
      if newest < range.upperBound { return Page(ranges: page, isFinished: false) }
    }
    return Page(ranges: page, isFinished: true)
  }
}
