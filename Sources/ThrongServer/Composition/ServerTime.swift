import GroupModel
import GroupRuntime
import WebSocketTransport

/// The time that a server goes by: its clocks, and the alarms that wake its parts.
public struct ServerTime: Sendable {
  let clocks: any Clocks
  let alarms: any Alarms
  /// Of the loops' deadlines and pings; nil = the system's.
  let loopClock: (@convention(c) () -> UInt64)?
  /// Is told which server is to do what has become due when a test moves the time.
  let onAdvance: @Sendable (AdvancedServer) -> Void

  /// The time of this machine.
  public static let system = ServerTime(
    clocks: SystemClocks(), alarms: SystemAlarms(), loopClock: nil, onAdvance: { _ in })
}

/// The parts of a server that work by themselves when the time has moved.
struct AdvancedServer: Sendable {
  let loops: [EventLoop]
  let store: any ServerStore
}
