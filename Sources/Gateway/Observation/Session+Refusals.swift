import GroupModel
import WireProtocol

/// What a session tells of its refusals.
extension Session {
  /// Who is signed in or about to be, or whom the last good token named.
  private var refusedUser: UserID? {
    switch phase {
    case .signedIn(let identity), .signingIn(let identity): identity.userID
    case .anonymous, .ended: tokenOwner
    }
  }

  /// A request, or a sign-in, is answered with an error.
  func noteRefusal(_ error: WireError, of method: MethodTable.Entry?) {
    if method?.name == Login.specification.name {
      services.refusals.signIn(error, from: address, user: refusedUser)
    } else {
      services.refusals.request(error, method?.name, from: address, user: refusedUser)
    }
  }

  /// A token of the upgrade signed nobody in.
  func noteRefusedUpgrade(_ error: WireError) { services.refusals.signIn(error, from: address, user: refusedUser) }

  /// The session closes; of its client's own wish (logout) there is nothing to tell.
  func noteClose(_ code: CloseCode, reason: String) {
    guard code != .normal else { return }
    services.refusals.close(code.rawValue, reason, from: address, user: refusedUser)
  }

  /// The transport has closed: it tells breaches of the protocol and connections that are too slow or silent by itself.
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
    services.refusals.close(code, reason, from: address, user: refusedUser)
  }
}
