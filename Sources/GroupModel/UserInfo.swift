/// The texts that others see beside a userID. A class, because sessions, members and messages
/// share it; nil stands for an empty one.
public final class UserProfile: Sendable, Equatable {
  /// Up to 100 bytes, no control characters; empty = none.
  public let nickName: String
  /// Up to 500 bytes; empty = none.
  public let faceURL: String

  /// Nil where both are empty.
  public static func make(nickName: String, faceURL: String) -> UserProfile? {
    nickName.isEmpty && faceURL.isEmpty ? nil : UserProfile(nickName: nickName, faceURL: faceURL)
  }

  private init(nickName: String, faceURL: String) {
    self.nickName = nickName
    self.faceURL = faceURL
  }

  public static func == (a: UserProfile, b: UserProfile) -> Bool {
    a === b || a.nickName.isSame(as: b.nickName) && a.faceURL.isSame(as: b.faceURL)
  }
}

/// A user's own texts (Protocol.md, "Profiles").
public struct UserInfo: Sendable, Equatable {
  /// The user.
  public let userID: UserID
  /// Up to 100 bytes, no control characters; empty = none.
  public var nickName: String
  /// Up to 500 bytes; empty = none.
  public var faceURL: String
  /// The application's own fields: at most 10.
  public var customInfo: [String: String]

  /// An info; everything is empty by default.
  public init(userID: UserID, nickName: String = "", faceURL: String = "", customInfo: [String: String] = [:]) {
    self.userID = userID
    self.nickName = nickName
    self.faceURL = faceURL
    self.customInfo = customInfo
  }

  /// The part that stands beside the userID; nil = it is empty.
  public var profile: UserProfile? { .make(nickName: nickName, faceURL: faceURL) }

  /// Whether there is nothing to store.
  public var isEmpty: Bool { nickName.isEmpty && faceURL.isEmpty && customInfo.isEmpty }

  /// Byte for byte, as clients compare.
  public static func == (a: UserInfo, b: UserInfo) -> Bool {
    a.userID == b.userID && a.nickName.isSame(as: b.nickName) && a.faceURL.isSame(as: b.faceURL)
      && a.customInfo.isSame(as: b.customInfo)
  }
}

extension [String: String] {
  /// Whether both hold the same bytes; keys are ASCII.
  public func isSame(as other: [String: String]) -> Bool {
    count == other.count && allSatisfy { key, value in other[key]?.isSame(as: value) == true }
  }
}
