import GroupModel

/// A session, for the application's backend.
public struct SessionInfo: WireObject {
  public static let notation = "Session"

  public let sessionID: String
  public let platform: Platform
  public let deviceID: String?
  public let address: String
  public let loginTime: WallInstant

  public static let example = SessionInfo(sessionID: "", platform: .web, deviceID: nil, address: "", loginTime: .unset)

  /// With everything given.
  public init(sessionID: String, platform: Platform, deviceID: String?, address: String, loginTime: WallInstant) {
    self.sessionID = sessionID
    self.platform = platform
    self.deviceID = deviceID
    self.address = address
    self.loginTime = loginTime
  }

  public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
    writer.member("sessionID", sessionID)
    writer.member("platform", platform.rawValue)
    writer.member("deviceID", ifPresent: deviceID)
    writer.member("address", address)
    writer.member("loginTime", loginTime)
  }
}
