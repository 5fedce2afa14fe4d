import GroupModel

/// An event of one session, without a group.
public enum SessionEvent: Event {
  case onConnectSuccess(Login.Result)
  case onKickedOffline(reason: String, message: String?)
  case onUserSigExpired(expiresAt: WallInstant)
  case onServerDraining(retryAfterMs: Int64)

  public var name: EventName {
    switch self {
    case .onConnectSuccess: .onConnectSuccess
    case .onKickedOffline: .onKickedOffline
    case .onUserSigExpired: .onUserSigExpired
    case .onServerDraining: .onServerDraining
    }
  }

  public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
    switch self {
    case .onConnectSuccess(let result): result.encodeFields(into: &writer)
    case .onKickedOffline(let reason, let message):
      writer.member("reason", reason)
      writer.member("message", ifPresent: message)
    case .onUserSigExpired(let instant): writer.member("expiresAt", instant)
    case .onServerDraining(let milliseconds): writer.member("retryAfterMs", milliseconds)
    }
  }
}
