import Testing

@testable import LoadGenerator

@Suite struct PendingRepliesTests {
  @Test func numbersAreConsecutiveAndEachIsTakenOnce() {
    var pendingReplies = PendingReplies()
    #expect(pendingReplies.insert(.init(stamp: 10, sender: 0)) == 1)
    #expect(pendingReplies.insert(.init(stamp: 20, sender: 1)) == 2)
    #expect(pendingReplies.remove(2)?.stamp == 20)
    #expect(pendingReplies.remove(2) == nil)
    #expect(pendingReplies.numbers == [1])
    #expect(pendingReplies.remove(1)?.sender == 0)
    #expect(pendingReplies.count == 0)
    #expect(pendingReplies.remove(0) == nil && pendingReplies.remove(3) == nil && pendingReplies.remove(-1) == nil)
  }

  @Test func behavesAsADictionaryWhateverTheOrderOfTheReplies() {
    for backlog in [1, 3, 1000, 5000] {
      var pendingReplies = PendingReplies()
      var model: [Int: UInt64] = [:]
      for stamp in 1...20_000 as ClosedRange<UInt64> {
        model[pendingReplies.insert(.init(stamp: stamp, sender: 0))] = stamp
        while model.count > backlog, let number = model.keys.randomElement() {
          #expect(pendingReplies.remove(number)?.stamp == model.removeValue(forKey: number))
        }
      }
      #expect(pendingReplies.count == model.count)
      #expect(pendingReplies.numbers == model.keys.sorted())
    }
  }
}
