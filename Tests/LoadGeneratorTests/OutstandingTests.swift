import Testing

@testable import LoadGenerator

@Suite struct OutstandingTests {
  @Test func numbersAreConsecutiveAndEachIsTakenOnce() {
    var outstanding = Outstanding()
    #expect(outstanding.append(.init(stamp: 10, sender: 0)) == 1)
    #expect(outstanding.append(.init(stamp: 20, sender: 1)) == 2)
    #expect(outstanding.take(2)?.stamp == 20)
    #expect(outstanding.take(2) == nil)
    #expect(outstanding.numbers == [1])
    #expect(outstanding.take(1)?.sender == 0)
    #expect(outstanding.count == 0)
    #expect(outstanding.take(0) == nil && outstanding.take(3) == nil && outstanding.take(-1) == nil)
  }

  @Test func behavesAsADictionaryWhateverTheOrderOfTheReplies() {
    for backlog in [1, 3, 1000, 5000] {
      var outstanding = Outstanding()
      var model: [Int: UInt64] = [:]
      for stamp in 1...20_000 as ClosedRange<UInt64> {
        model[outstanding.append(.init(stamp: stamp, sender: 0))] = stamp
        while model.count > backlog, let number = model.keys.randomElement() {
          #expect(outstanding.take(number)?.stamp == model.removeValue(forKey: number))
        }
      }
      #expect(outstanding.count == model.count)
      #expect(outstanding.numbers == model.keys.sorted())
    }
  }
}
