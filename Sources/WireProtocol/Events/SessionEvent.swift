import GroupModel

/// An event of sessions, without a group.
public enum SessionEvent: Event {
  /// The texts of the session's user have changed.
  case onSelfInfoUpdated(UserInfoFields, opTime: WallInstant)
  /// The statuses of users whom the session watches have changed; each row is encoded once for all.
  case onUsersStatusChanged([Encoded<UserStatusInfo>], opTime: WallInstant)
  /// - Parameter streamKey: names the session in its requests, where it is an event stream.
  case onConnectSuccess(Login.Result, streamKey: String? = nil)
  case onKickedOffline(reason: String, message: String?)
  case onUserSigExpired(expiresAt: WallInstant)
  case onServerDraining(retryAfterMs: Int64)

  public var name: EventName {
    switch self {
    case .onSelfInfoUpdated: .onSelfInfoUpdated
    case .onUsersStatusChanged: .onUsersStatusChanged
    case .onConnectSuccess: .onConnectSuccess
    case .onKickedOffline: .onKickedOffline
    case .onUserSigExpired: .onUserSigExpired
    case .onServerDraining: .onServerDraining
    }
  }

  public var capacity: Int {
    switch self {
    case .onUsersStatusChanged(let rows, _): 128 + rows.byteCount()
    case .onSelfInfoUpdated, .onConnectSuccess, .onKickedOffline, .onUserSigExpired, .onServerDraining: 320
    }
  }

  public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
    switch self {
    case .onSelfInfoUpdated(let changed, let opTime):
      writer.member("opTime", opTime)
      writer.member("nickName", ifPresent: changed.nickName)
      writer.member("faceURL", ifPresent: changed.faceURL)
      writer.member("customInfo", ifPresent: changed.customInfo.map { TextMap($0) })
    case .onUsersStatusChanged(let rows, let opTime):
      writer.member("opTime", opTime)
      writer.member("userList", rows)
    case .onConnectSuccess(let result, let streamKey):
      result.encodeFields(into: &writer)
      writer.member("streamKey", ifPresent: streamKey)
    case .onKickedOffline(let reason, let message):
      writer.member("reason", reason)
      writer.member("message", ifPresent: message)
    case .onUserSigExpired(let instant): writer.member("expiresAt", instant)
    case .onServerDraining(let milliseconds): writer.member("retryAfterMs", milliseconds)
    }
  }
}
