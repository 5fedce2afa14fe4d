import GroupModel
import ThrongTestKit
import WebSocketTransport

@testable import Gateway

/// Sessions without a connection behind them, for what only tells them apart.
struct BareSessions {
  private let made: [Session]

  init(_ count: Int) async throws {
    let backend = Backend()
    let transport = try Transport(TransportConfiguration(), delegate: backend.services.gateway(http: NoHTTP()))
    let context = LoopContext(clocks: backend.clocks)
    made = (0..<count).map {
      backend.services.session(on: Connection(number: UInt64($0 + 1), on: transport.loops[0]), address: "a", context)
    }
    await transport.stop()
  }

  subscript(number: Int) -> Session { made[number] }

  var count: Int { made.count }

  /// Which of them it is.
  func number(of session: Session) -> Int { made.firstIndex { $0 === session } ?? -1 }

  /// The session as the directory lists it; its number is the sessionID.
  func entry(_ number: Int, _ platform: Platform = .web, device: String? = nil) -> SessionEntry {
    SessionEntry(
      sessionID: "\(number)", connection: made[number].connection, session: made[number], platform: platform, deviceID: device,
      address: "a", loginTime: 0)
  }

  private struct NoHTTP: HTTPHandling {
    func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {}
  }
}
