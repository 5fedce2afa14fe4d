import Testing
import ThrongTestKit

@testable import GroupRuntime

/// Pages of a history in which some messages are addressed to others, against a list of what is left.
@Suite struct FilteredPageTests {
  /// The page, and the windows that were read for it.
  private func page(
    _ ranges: [ClosedRange<Int64>], hidden: Set<Int64>, from bound: Int64, newestFirst: Bool, count: Int64
  ) -> (page: VisibleHistory.Page, windows: [ClosedRange<Int64>]) {
    var filtered = FilteredPage(in: ranges, from: bound, newestFirst: newestFirst, count: count)
    var windows: [ClosedRange<Int64>] = []
    while let window = filtered.nextWindow {
      windows.append(window)
      filtered.add(window, without: window.filter(hidden.contains))
    }
    return (filtered.page, windows)
  }

  @Test(arguments: 1...200 as ClosedRange<UInt64>)
  func aPageHoldsTheNextMessagesThatAreNotForOthers(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var ranges: [ClosedRange<Int64>] = []
    var next: Int64 = 1
    for _ in 0..<Int.random(in: 0...4, using: &random) {
      let first = next + Int64.random(in: 0...5, using: &random)
      let last = first + Int64.random(in: 0...12, using: &random)
      ranges.append(first...last)
      next = last + 2
    }
    let share = Int.random(in: 0...4, using: &random)
    let hidden = Set((1...next).filter { _ in Int.random(in: 0..<4, using: &random) < share })
    let left = ranges.flatMap { Array($0) }.filter { !hidden.contains($0) }
    for bound in 0...(next + 1) {
      for count in [1, 2, 5, 100] as [Int64] {
        let older = page(ranges, hidden: hidden, from: bound, newestFirst: true, count: count).page
        let below = Array(left.filter { $0 < bound }.reversed())
        #expect(older.ranges.flatMap { $0.reversed() } == Array(below.prefix(Int(count))), "\(bound), \(count)")
        #expect(older.isFinished == (below.count <= count), "\(bound), \(count)")
        let newer = page(ranges, hidden: hidden, from: bound, newestFirst: false, count: count).page
        let above = left.filter { $0 > bound }
        #expect(newer.ranges.flatMap { Array($0) } == Array(above.prefix(Int(count))), "\(bound), \(count)")
        #expect(newer.isFinished == (above.count <= count), "\(bound), \(count)")
      }
    }
  }

  @Test func asARuleOneWindowIsEnough() {
    let (found, windows) = page([1...1_000_000], hidden: [999_990], from: .max, newestFirst: true, count: 20)
    #expect(found.ranges == [999_991...1_000_000, 999_980...999_989] && !found.isFinished)
    #expect(windows == [999_469...1_000_000])
  }

  @Test func windowsAreBoundedAndDisjointHoweverManyAreForOthers() {
    let hidden = Set(2...20_000 as ClosedRange<Int64>)
    for newestFirst in [true, false] {
      let (found, windows) = page(
        [1...20_000], hidden: hidden, from: newestFirst ? .max : 0, newestFirst: newestFirst, count: 1)
      #expect(found == VisibleHistory.Page(ranges: [1...1], isFinished: true))
      #expect(windows.allSatisfy { $0.count <= FilteredPage.windowSize })
      #expect(windows.reduce(0) { $0 + $1.count } == 20_000 && windows.count < 10)
    }
  }
}
