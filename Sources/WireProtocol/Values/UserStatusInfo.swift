import GroupModel

/// Whether a user is there, and what the user says of that (Protocol.md, "Presence").
public struct UserStatusInfo: Sendable, Equatable {
  public let userID: UserID
  /// Each platform with a session once, in the order of `Platform`; empty = offline.
  public let platformList: [Platform]
  /// The user's own words; empty = none.
  public let customStatus: String
  /// The end of the last session; unset = online, or never was.
  public let lastOnlineTime: WallInstant

  /// A status; offline, and never online, by default.
  public init(
    userID: UserID, platformList: [Platform] = [], customStatus: String = "", lastOnlineTime: WallInstant = .unset
  ) {
    self.userID = userID
    self.platformList = platformList
    self.customStatus = customStatus
    self.lastOnlineTime = lastOnlineTime
  }

  /// Whether the user has a session, or had one within `presence.grace`.
  public var isOnline: Bool { !platformList.isEmpty }

  /// Byte for byte, as clients compare.
  public static func == (a: UserStatusInfo, b: UserStatusInfo) -> Bool {
    a.userID == b.userID && a.platformList == b.platformList && a.customStatus.isSame(as: b.customStatus)
      && a.lastOnlineTime == b.lastOnlineTime
  }
}

extension UserStatusInfo: WireObject {
  public static let notation = "UserStatusInfo"
  public static let example = UserStatusInfo(userID: .administrator)

  public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
    writer.member("userID", userID.rawValue)
    writer.member("isOnline", isOnline)
    writer.member("platformList", platformList.map(\.rawValue))
    writer.member("customStatus", customStatus)
    writer.member("lastOnlineTime", lastOnlineTime)
  }
}
