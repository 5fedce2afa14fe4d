import GroupModel
import Testing
import ThrongTestKit

@testable import Gateway

@Suite struct DeadlinesTests {
  @Test func dueDeadlinesComeInTheOrderOfTimeAndAreRemoved() {
    var deadlines = Deadlines()
    deadlines[.signIn] = 30
    deadlines[.drain] = 10
    deadlines[.expiry] = 31
    #expect(deadlines.next == 10)
    #expect(deadlines.popDue(at: 30) == [.drain, .signIn])
    #expect(deadlines.next == 31)
    #expect(deadlines.popDue(at: 30) == [])
    deadlines[.expiry] = nil
    #expect(deadlines.next == nil)
  }

  /// A token that has expired when it signs in is told of, and then it closes.
  @Test func ofOneInstantTheWarningStandsBeforeTheExpiry() {
    for _ in 0..<20 {
      var deadlines = Deadlines()
      deadlines[.expiry] = 5
      deadlines[.drain] = 5
      deadlines[.expiryWarning] = 5
      #expect(deadlines.popDue(at: 5) == [.expiryWarning, .expiry, .drain])
    }
  }
}
