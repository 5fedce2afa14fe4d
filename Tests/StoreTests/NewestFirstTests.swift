import Testing
import ThrongTestKit

@testable import SQLiteStore

/// Merging what is ordered by number, the newest first.
@Suite struct NewestFirstTests {
  private func merged(_ sources: [[Int64]], below: Int64 = .max, atMost limit: Int, _ didLook: () -> Void = {}) -> [Int64] {
    NewestFirst.merged(sources, below: below, atMost: limit) { source, below in
      didLook()
      return source.filter { $0 < below }.max().map { (number: $0, item: $0) }
    }
  }

  @Test(arguments: 1...50 as ClosedRange<UInt64>)
  func itIsWhatSortingEverythingGives(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var sources = Array(repeating: [Int64](), count: Int.random(in: 0...6, using: &random))
    let last = Int64.random(in: 0...60, using: &random)
    for number in 0..<last where !sources.isEmpty && Bool.random(using: &random) {
      sources[Int.random(in: sources.indices, using: &random)].append(number)
    }
    for source in sources.indices { sources[source].shuffle(using: &random) }
    let all = sources.joined().sorted(by: >)
    for bound in [Int64.max, 0, Int64.random(in: 0...60, using: &random)] {
      for limit in [-1, 0, 1, Int.random(in: 0...70, using: &random), .max] {
        let expected = Array(all.filter { $0 < bound }.prefix(max(0, limit)))
        #expect(merged(sources, below: bound, atMost: limit) == expected, "seed \(seed), below \(bound), \(limit)")
      }
    }
  }

  @Test func itLooksOnceAtEachSourceAndOnceMoreForEachItemButTheLast() {
    var looks = 0
    let sources = (0..<40).map { [Int64($0), Int64($0) + 100, Int64($0) + 200] }
    #expect(merged(sources, atMost: 10) { looks += 1 } == Array(230...239).reversed())
    #expect(looks == 40 + 9)
  }
}
