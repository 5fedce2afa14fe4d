import Authentication
import GroupModel
import Testing

/// Readings that an expectation may change.
@dynamicMemberLookup private final class Readings {
  private var value: KeySetReadings

  init(refresh: Duration) { value = KeySetReadings(refresh: refresh) }

  subscript<Value>(dynamicMember path: KeyPath<KeySetReadings, Value>) -> Value { value[keyPath: path] }

  func timeHasCome(at now: MonotonicInstant) -> Bool { value.timeHasCome(at: now) }
  func sawUnknownKey(at now: MonotonicInstant) -> KeySetReadings.Verdict { value.sawUnknownKey(at: now) }
  func isWanted() -> Bool { value.isWanted() }
  func didEnd(isGood: Bool, at now: MonotonicInstant) -> Bool { value.didEnd(isGood: isGood, at: now) }
}

/// When the key set of `auth.jwksURL` is read.
@Suite struct KeySetReadingsTests {
  private static let start = MonotonicInstant(nanoseconds: 1_000_000_000)
  private let readings = Readings(refresh: .seconds(600))

  private static func after(_ seconds: Int64) -> MonotonicInstant { start + .seconds(seconds) }

  @Test func theFirstReadingIsDueAtOnce() {
    #expect(readings.timeHasCome(at: Self.start) && readings.isReading)
    #expect(!readings.timeHasCome(at: Self.start), "one at a time")
    #expect(readings.lastSuccess == nil && readings.due == nil)
  }

  @Test func aGoodOneIsRepeatedBehindTheRefresh() {
    _ = readings.timeHasCome(at: Self.start)
    #expect(!readings.didEnd(isGood: true, at: Self.after(1)))
    #expect(readings.due == Self.after(601) && readings.lastSuccess == Self.after(1))
    #expect(!readings.timeHasCome(at: Self.after(600)) && readings.timeHasCome(at: Self.after(601)))
  }

  @Test func afterAFailureItComesSoonerAndThenLessAndLess() throws {
    var (now, pauses) = (Self.start, [Duration]())
    for failure in 1...9 {
      #expect(readings.timeHasCome(at: now))
      #expect(!readings.didEnd(isGood: false, at: now) && readings.failures == failure)
      let due = try #require(readings.due)
      pauses.append(due - now)
      now = due
    }
    #expect(pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60].map { Duration.seconds($0) })
    #expect(readings.timeHasCome(at: now))
    _ = readings.didEnd(isGood: true, at: now)
    #expect(readings.failures == 0 && readings.due == now + .seconds(600))
  }

  @Test func noFailureIsRepeatedLaterThanTheRefresh() {
    let readings = Readings(refresh: .seconds(10))
    var now = Self.start
    for _ in 0..<100 {
      #expect(readings.timeHasCome(at: now))
      _ = readings.didEnd(isGood: false, at: now)
      now = now + .seconds(10)
    }
  }

  @Test func theLastSuccessStaysOverFailures() {
    _ = readings.timeHasCome(at: Self.start)
    _ = readings.didEnd(isGood: true, at: Self.after(1))
    _ = readings.timeHasCome(at: Self.after(601))
    _ = readings.didEnd(isGood: false, at: Self.after(602))
    #expect(readings.lastSuccess == Self.after(1))
  }

  @Test func tokensCauseOneInTenSeconds() {
    #expect(readings.sawUnknownKey(at: Self.after(0)) == .begin)
    #expect(readings.sawUnknownKey(at: Self.after(0)) == .join, "all of the same moment wait for it")
    _ = readings.didEnd(isGood: true, at: Self.after(1))
    #expect(readings.sawUnknownKey(at: Self.after(1)) == .refuse)
    #expect(readings.sawUnknownKey(at: Self.after(9)) == .refuse, "from its begin")
    #expect(readings.sawUnknownKey(at: Self.after(10)) == .begin)
    _ = readings.didEnd(isGood: false, at: Self.after(11))
    #expect(readings.sawUnknownKey(at: Self.after(11)) == .refuse, "a failure counts, too")
  }

  @Test func tokensJoinAReadingOfTheTimer() {
    _ = readings.timeHasCome(at: Self.start)
    #expect(readings.sawUnknownKey(at: Self.start) == .join)
    _ = readings.didEnd(isGood: true, at: Self.after(1))
    #expect(readings.sawUnknownKey(at: Self.after(1)) == .begin, "none was caused by a token")
  }

  @Test func theOperatorsIsNotSwallowedByOneUnderWay() {
    #expect(readings.isWanted())
    #expect(!readings.isWanted() && !readings.isWanted())
    #expect(readings.didEnd(isGood: true, at: Self.after(1)), "another one, for what came meanwhile")
    #expect(readings.isReading && readings.due == nil)
    #expect(!readings.didEnd(isGood: true, at: Self.after(2)) && readings.due == Self.after(602))
  }

  /// Whatever happens: one reading at a time, those of tokens 10 s apart, and always a next one.
  @Test func atAnyTime() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<200 {
      let readings = Readings(refresh: .seconds(30))
      var (now, isReading, lastForToken) = (Self.start, false, MonotonicInstant?.none)
      for _ in 0..<200 {
        now = now + .milliseconds(Int64.random(in: 0...4000, using: &generator))
        switch Int.random(in: 0..<4, using: &generator) {
        case 0:
          let begins = readings.timeHasCome(at: now)
          #expect(!(begins && isReading))
          isReading = isReading || begins
        case 1:
          switch readings.sawUnknownKey(at: now) {
          case .begin:
            #expect(!isReading && lastForToken.map { now - $0 >= .seconds(10) } ?? true)
            (isReading, lastForToken) = (true, now)
          case .join: #expect(isReading)
          case .refuse: #expect(!isReading && lastForToken.map { now - $0 < .seconds(10) } ?? false)
          }
        case 2:
          let begins = readings.isWanted()
          #expect(begins == !isReading)
          isReading = true
        default:
          guard isReading else { continue }
          isReading = readings.didEnd(isGood: Bool.random(using: &generator), at: now)
        }
        #expect(readings.isReading == isReading)
        if readings.failures > 0 || readings.lastSuccess != nil { #expect(isReading == (readings.due == nil)) }
      }
    }
  }
}
