import WebSocketTransport
import WireProtocol

/// Makes the session of each connection.
package struct SessionFactory: Sendable {
  private let methods: MethodTable
  private let dispatcher: Dispatcher
  private let telemetry: RequestTelemetry
  private let signInPolicy: SignInPolicy
  private let registration: SessionRegistration
  private let connectionLimiter: ConnectionLimiter
  private let streams: StreamDirectory
  private let readyReplyBytes: Int

  /// - Parameter readyReplyBytes: how many bytes of replies may wait behind a slower one.
  package init(
    methods: MethodTable, dispatcher: Dispatcher, telemetry: RequestTelemetry, signInPolicy: SignInPolicy,
    registration: SessionRegistration, connectionLimiter: ConnectionLimiter, streams: StreamDirectory, readyReplyBytes: Int
  ) {
    self.methods = methods
    self.dispatcher = dispatcher
    self.telemetry = telemetry
    self.signInPolicy = signInPolicy
    self.registration = registration
    self.connectionLimiter = connectionLimiter
    self.streams = streams
    self.readyReplyBytes = readyReplyBytes
  }

  /// - Parameters:
  ///   - address: the client's, behind proxies too.
  ///   - context: that of the connection's loop.
  func session(on connection: Connection, address: String, _ context: LoopContext) -> Session {
    Session(
      connection, address: address, context: context, methods: methods, dispatcher: dispatcher, telemetry: telemetry,
      signInPolicy: signInPolicy, registration: registration, connectionLimiter: connectionLimiter,
      streams: streams, readyReplyBytes: readyReplyBytes)
  }
}
