import GroupModel
import GroupRuntime
import WireProtocol

/// The refusals of a session, for the log.
extension Session {
  /// The user who is signed in or signing in, or the user of the last signed token.
  private var refusedUser: UserID? {
    switch phase {
    case .signedIn(let identity), .signingIn(let identity): identity.userID
    case .anonymous, .ended: tokenUser
    }
  }

  /// A request or a sign-in is answered with an error.
  /// - Parameters:
  ///   - sent: the name of an unknown method.
  ///   - trace: to which the request belongs.
  func noteRefusal(
    _ error: WireError, of method: MethodTable.Entry?, sent: SentMethodName? = nil, in trace: TraceContext? = nil
  ) {
    if method?.specification.name == .login {
      noteRefusedSignIn(error)
    } else {
      telemetry.refusals.request(error, method?.name, sent: sent, from: address, user: refusedUser, in: trace)
    }
  }

  /// A request has parameters that its method does not have.
  /// - Parameter trace: to which the request belongs.
  func noteUnknownParameters(of call: borrowing Call, in trace: TraceContext?) {
    guard telemetry.unknownParameters.isLogged, let unknown = call.unknownParameters else { return }
    telemetry.refusals.unknownParameters(unknown, of: call.methodName, from: address, user: refusedUser, in: trace)
  }

  /// The sign-in of an upgrade, or by `login`, was refused.
  func noteRefusedSignIn(_ error: WireError) {
    telemetry.refusals.signIn(error, from: address, user: refusedUser, reason: refusalReason)
  }

  /// A token was accepted; the log tells of one that looks wrong.
  func noteWarning(of token: AcceptedToken) {
    guard let warning = token.warning else { return }
    telemetry.refusals.acceptedToken(warning, of: token.userID, from: address)
  }

  /// The session closes; a logout is no refusal.
  func noteClose(_ code: CloseCode, reason: String) {
    if telemetry.tracer.isActive { traceEnd(code.rawValue) }
    guard code != .normal else { return }
    telemetry.refusals.close(code.rawValue, reason, from: address, user: refusedUser)
  }

  /// The transport has closed by itself: a breach of the protocol, a slow or a silent connection.
  func noteTransportClose(_ code: Int) {
    let reason: String
    switch code {
    case 1002: reason = "breach of the WebSocket protocol"
    case 1003: reason = "binary message"
    case 1007: reason = "not UTF-8"
    case 1009: reason = "message too big"
    case CloseCode.slowConsumer.rawValue: reason = CloseCode.slowConsumer.reason
    case CloseCode.noSignOfLife.rawValue: reason = CloseCode.noSignOfLife.reason
    default: return
    }
    if case .ended = phase { return }
    telemetry.refusals.close(code, reason, from: address, user: refusedUser)
  }

  /// A traced user's connection has ended, or will: `code` is the close's.
  func traceEnd(_ code: Int) {
    guard let identity else { return }
    telemetry.tracer.note(
      TraceEntry(
        .close, "", at: context.clocks.wall, userID: identity.userID, sessionID: identity.sessionID, code: Int64(code)))
  }

  /// A traced user has signed in.
  func traceSignIn(_ identity: Identity) {
    telemetry.tracer.note(
      TraceEntry(.signIn, platform.rawValue, at: context.clocks.wall, userID: identity.userID, sessionID: identity.sessionID))
  }
}
