import Testing

@testable import LoadGenerator

@Suite struct UnderWayTests {
  private let patience = UnderWay.patience

  /// Messages with these stamps.
  private func underWay(_ stamps: some Sequence<UInt64>) -> UnderWay {
    var underWay = UnderWay()
    for stamp in stamps { underWay.begin(stamp) }
    return underWay
  }

  @Test func aMessageIsOverOnceInWhateverOrder() {
    var underWay = underWay([4, 8, 12])
    #expect(underWay.count == 3)
    underWay.comeBack(8, at: 20)
    underWay.comeBack(8, at: 21)
    underWay.comeBack(9, at: 22)
    #expect(underWay.count == 2)
    underWay.finish(4)
    underWay.comeBack(12, at: 23)
    #expect(underWay.count == 0 && underWay.givenUp == 0)
    #expect(underWay.deadline == .max)
  }

  @Test func stampsRiseHoweverCoarseTheClock() {
    var underWay = UnderWay()
    #expect(underWay.stamp(at: 1003) == 1000)
    underWay.begin(1000)
    #expect(underWay.stamp(at: 1003) == 1004)
    underWay.finish(1000)
    #expect(underWay.stamp(at: 1003) == 1004)
    #expect(underWay.stamp(at: 2000) == 2000)
  }

  @Test func inALongQueueEveryMessageIsOldAndNoneIsGivenUp() {
    var underWay = underWay([0, 4, 8])
    // Ten times the patience under way, and still something comes back now and then.
    for (number, stamp) in ([0, 4, 8] as [UInt64]).enumerated() {
      let now = patience * UInt64(10 + number)
      underWay.comeBack(stamp, at: now)
      underWay.giveUp(at: now + patience - 1)
      #expect(underWay.count == 2 - number && underWay.givenUp == 0)
    }
  }

  @Test func aMessageThatOthersHaveOvertakenForLongIsGivenUp() {
    var underWay = underWay([0, 4, patience, patience + 4])
    underWay.comeBack(patience, at: patience * 3)
    underWay.giveUp(at: patience * 3)
    #expect(underWay.givenUp == 1 && underWay.count == 2, "only the first was sent so long before")
    underWay.comeBack(patience + 4, at: patience * 3)
    underWay.giveUp(at: patience * 3)
    #expect(underWay.givenUp == 2 && underWay.count == 0)
    underWay.comeBack(0, at: patience * 3)
    #expect(underWay.count == 0, "it comes after all")
  }

  @Test func whenNothingComesBackWhatIsOldIsGivenUp() {
    var underWay = underWay([4, 400])
    underWay.begin(800)
    underWay.comeBack(4, at: 1000)
    #expect(underWay.deadline == 1000 + patience)
    underWay.giveUp(at: 999 + patience)
    #expect(underWay.givenUp == 0)
    underWay.giveUp(at: 1000 + patience)
    #expect(underWay.givenUp == 2 && underWay.count == 0)
    underWay.begin(1000 + patience)
    #expect(underWay.deadline == 1000 + 2 * patience)
  }

  @Test func behavesAsASetHoweverManyThereWere() {
    var underWay = UnderWay()
    var model: Set<UInt64> = []
    for _ in 1...20_000 {
      let stamp = underWay.stamp(at: 0)
      underWay.begin(stamp)
      model.insert(stamp)
      while model.count > 50, let over = model.randomElement() {
        model.remove(over)
        underWay.finish(over)
      }
      #expect(underWay.count == model.count)
    }
    for stamp in model { underWay.finish(stamp) }
    #expect(underWay.count == 0)
  }
}
