import Logging
import Testing
import ThrongTestKit
import WebSocketTransport

@testable import Gateway

/// Connections on their way, and loops that did not run for a while, as the gateway sees them.
@Suite struct GatewayArrivalTests {
  @Test func theAddressOfAProxyStandsForManyClients() {
    let backend = Backend {
      $0.isTrustedProxy = { $0 == "10.0.0.1" }
      $0.connectionsPerAddress = 1
    }
    let gateway = backend.services.gateway(http: SilentHTTP())
    for _ in 0..<100 { #expect(gateway.admission(of: "10.0.0.1") == .uncounted) }
    for _ in 0..<8 { #expect(gateway.admission(of: "192.0.2.1") == .admitted) }
    #expect(gateway.admission(of: "192.0.2.1") == .full)
    gateway.didLeave("192.0.2.1")
    #expect(gateway.admission(of: "192.0.2.1") == .admitted)
  }

  /// One line a minute says how many there were, and what to do.
  @Test func crowdsAreToldOnceAMinute() {
    let log = RecordingLog(), clocks = ManualClocks()
    let refusals = RefusalLog(clocks: clocks, logger: log.logger)
    for _ in 0..<500 { refusals.arrival(.address, from: "192.0.2.1") }
    #expect(log.lines.count == 1)
    clocks.advance(by: 59_999)
    refusals.arrival(.address, from: "192.0.2.1")
    #expect(log.lines.count == 1)
    clocks.advance(by: 1)
    refusals.arrival(.address, from: "192.0.2.2")
    #expect(log.lines.map { $0.metadata["count"] } == ["1", "501"])
    #expect(log.lines.allSatisfy { $0.level == .warning })
    #expect(log.lines.allSatisfy { $0.metadata["hint"]?.contains("limits.connectionsPerAddress") == true })
    refusals.arrival(.total, from: "192.0.2.1")
    #expect(log.lines.last?.metadata["reason"] == "total")
  }

  /// SIGSTOP, `docker pause`: a login may wait in the socket.
  @Test func aPauseIsNoTimeOfTheSignIn() async throws {
    try await LiveGateway.with(world: World(), { $0.signInTime = .seconds(10) }) { live in
      let client = try await live.connect()
      let loop = live.transport.loops[0]
      await live.advance(by: 9_000)
      await live.on(loop) { [gateway = live.gateway, clocks = live.backend.clocks] in
        clocks.advance(by: 20_000)
        gateway.didPause(loop, for: .seconds(20))
        loop.runTimers()
      }
      await live.advance(by: 800)
      _ = try await client.call("login", #"{"token":"alice"}"#)
    }
  }

  /// The wall clock has gone on.
  @Test func aTokenEndsAlsoDuringAPause() async throws {
    try await LiveGateway.with(world: World()) { live in
      let client = try await live.signIn("alice~5000")
      let loop = live.transport.loops[0]
      await live.on(loop) { [gateway = live.gateway, clocks = live.backend.clocks] in
        clocks.advance(by: 86_400_000)
        gateway.didPause(loop, for: .seconds(86_400))
      }
      _ = try await client.event("onUserSigExpired")
      #expect(try await client.closed().code == 4006)
    }
  }

  private struct SilentHTTP: HTTPHandling {
    func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {}
  }
}
