import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// Pages over ranges of `seq`, against a list of single numbers.
@Suite struct VisibleHistoryTests {
  @Test(arguments: 1...50 as ClosedRange<UInt64>)
  func pagesAgreeWithAPlainList(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var ranges: [ClosedRange<Int64>] = []
    var next: Int64 = 1
    for _ in 0..<Int.random(in: 0...4, using: &random) {
      let first = next + Int64.random(in: 0...3, using: &random)
      let last = first + Int64.random(in: 0...5, using: &random)
      ranges.append(first...last)
      next = last + 2
    }
    let firstSeq = seed.isMultiple(of: 2) ? 1 : Int64.random(in: 1...(next + 1), using: &random)
    // The last range is that of the membership, or nothing is visible.
    let visible = VisibleHistory(
      Visibility(
        of: "mary", from: ranges.last?.lowerBound ?? 1, earlier: Array(ranges.dropLast()),
        through: ranges.last?.upperBound ?? 0, under: .joined), keptFrom: firstSeq)
    let list = ranges.flatMap { Array($0) }.filter { $0 >= firstSeq }
    let removed = ranges.flatMap { Array($0) }.filter { $0 < firstSeq }
    for bound in 0...(next + 1) {
      #expect(visible.contains(bound) == list.contains(bound), "seed \(seed), \(bound)")
      #expect(visible.isComplete(after: bound) == !removed.contains { $0 > bound }, "seed \(seed), \(bound)")
      for count in 1...8 as ClosedRange<Int64> {
        let (older, newer) = (visible.older(than: bound, count: count), visible.newer(than: bound, count: count))
        let below = Array(list.filter { $0 < bound }.reversed())
        let above = list.filter { $0 > bound }
        #expect(
          older.ranges.flatMap { $0.reversed() } == Array(below.prefix(Int(count))), "seed \(seed), older than \(bound), \(count)"
        )
        #expect(older.isFinished == (below.count <= count), "seed \(seed), older than \(bound), \(count)")
        #expect(
          newer.ranges.flatMap { Array($0) } == Array(above.prefix(Int(count))), "seed \(seed), newer than \(bound), \(count)")
        #expect(newer.isFinished == (above.count <= count), "seed \(seed), newer than \(bound), \(count)")
      }
    }
  }

  @Test func aMessageIsSeenWhereItsPlaceIsKeptAndItIsForTheReader() {
    let visible = VisibleHistory(Visibility(of: "mary", from: 5, through: 9, under: .joined), keptFrom: 6)
    func message(_ seq: Int64?, from sender: UserID = "olga", to targets: [UserID] = []) -> Message {
      var message = Message(
        msgID: "m", groupID: "g", seq: seq, sender: sender, nameCard: "", timestamp: 1, content: .text("t"), priority: .normal,
        clientMsgID: nil, platform: .web)
      message.extras = MessageExtras(toUserIDList: targets)
      return message
    }
    #expect(([4, 5, 6, 9, 10] as [Int64]).map { visible.contains(message($0)) } == [false, false, true, true, false])
    #expect(!visible.contains(message(nil)))
    #expect(visible.contains(message(7, to: ["carl", "mary"])) && !visible.contains(message(7, to: ["carl"])))
    #expect(visible.contains(message(7, from: "mary", to: ["carl"])))
  }
}
