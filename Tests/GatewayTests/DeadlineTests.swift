import GroupModel
import GroupRuntime
import Testing
import WebSocketTransport

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

@Suite struct DeadlineWheelTests {
  /// Sessions of a transport that never starts: the wheel asks nothing of them.
  private func sessions(_ count: Int) async throws -> [Session] {
    let backend = Backend()
    let transport = try Transport(TransportConfiguration(), delegate: Gateway(backend.services, http: NoHTTP()))
    let context = LoopContext()
    let sessions = (0..<count).map { number in
      Session(
        Connection(number: UInt64(number + 1), on: transport.loops[0]), address: "a", services: backend.services, context: context
      )
    }
    await transport.stop()
    return sessions
  }

  private struct NoHTTP: HTTPHandling {
    func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {}
  }

  private func names(_ woken: [Session]) -> [UInt64] { woken.map(\.key.connection).sorted() }

  @Test func aSessionIsDueAtTheInstantOrWithinATickAfterIt() async throws {
    let session = try await sessions(1)[0]
    for instant in [0, 1, 99, 100, 101, 12_345, 12_300] as [Instant] {
      var wheel = DeadlineWheel(now: 0)
      _ = wheel.insert(session, at: instant)
      if instant > 100 { #expect(wheel.advance(to: instant - 1).isEmpty, "\(instant)") }
      #expect(wheel.advance(to: instant + 100).count == 1, "\(instant)")
      #expect(wheel.count == 0)
    }
  }

  @Test func aRemovedOrMovedSessionIsNotDueAndLeavesNothing() async throws {
    let sessions = try await sessions(2)
    var wheel = DeadlineWheel(now: 0)
    let slot = wheel.insert(sessions[0], at: 500)
    _ = wheel.insert(sessions[1], at: 500)
    #expect(wheel.count == 2)
    wheel.remove(sessions[0], from: slot)
    #expect(names(wheel.advance(to: 500)) == [2])
    #expect(wheel.count == 0)
    wheel.remove(sessions[1], from: slot)
    #expect(wheel.count == 0)
  }

  @Test func aLongSleepWakesAllThatAreDueAndNoOther() async throws {
    let sessions = try await sessions(5)
    var wheel = DeadlineWheel(now: 1000)
    for (session, instant) in zip(sessions, [1200, 50_000, 900, 7_000_000, 40_000] as [Instant]) {
      _ = wheel.insert(session, at: instant)
    }
    #expect(names(wheel.advance(to: 50_000)) == [1, 2, 3, 5])
    #expect(wheel.count == 1)
    #expect(names(wheel.advance(to: 7_000_000)) == [4])
  }

  @Test func anInstantThatHasPassedComesAtTheNextTick() async throws {
    let session = try await sessions(1)[0]
    var wheel = DeadlineWheel(now: 10_000)
    _ = wheel.advance(to: 20_000)
    _ = wheel.insert(session, at: 0)
    #expect(wheel.advance(to: 20_099).isEmpty)
    #expect(wheel.advance(to: 20_100).count == 1)
  }

  /// As far as a token may live.
  @Test func theLastInstantOfATokenFits() async throws {
    let session = try await sessions(1)[0]
    var wheel = DeadlineWheel(now: 0)
    let slot = wheel.insert(session, at: 9_007_199_254_740_991 + 1_000_000_000)
    #expect(wheel.advance(to: 1_000_000).isEmpty)
    wheel.remove(session, from: slot)
    #expect(wheel.count == 0)
  }
}
