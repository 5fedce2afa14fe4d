import GroupModel
import WireProtocol

/// A token that is accepted.
public struct AcceptedToken: Sendable, Equatable {
  /// The user that the token names.
  public let userID: UserID
  /// `exp`.
  public let expiresAt: WallInstant
  /// `iat`; nil = the token does not say it.
  public let issuedAt: WallInstant?
  /// `adm:true`: valid on the internal listener only.
  public let isAdministrator: Bool
  /// A sentence for the log about a token that is accepted and looks wrong; nil where it does not.
  public let warning: String?

  /// A token with everything given.
  public init(
    userID: UserID, expiresAt: WallInstant, issuedAt: WallInstant?, isAdministrator: Bool, warning: String? = nil
  ) {
    self.userID = userID
    self.expiresAt = expiresAt
    self.issuedAt = issuedAt
    self.isAdministrator = isAdministrator
    self.warning = warning
  }
}

/// Why a token is refused.
public struct TokenRefusal: Error, Sendable, Equatable {
  /// What the client is told: 70001, 70003, 70009 or 70021, with the reason only where a configured key
  /// has signed the token; 10002 where this server has no keys yet to judge it by.
  public let error: WireError
  /// What the log says.
  public let reason: String
  /// The user of a signed token, for the log; nil where the token is not signed, or names no user.
  public let userID: UserID?
  /// Whether the token may be accepted once the keys were read again (`TokenChecking.readKeys`).
  public let awaitsKeys: Bool

  /// - Parameters:
  ///   - reason: nil = the message of the error.
  ///   - awaitsKeys: it names a key that this server has not read.
  public init(_ error: WireError, reason: String? = nil, userID: UserID? = nil, awaitsKeys: Bool = false) {
    self.error = error
    self.reason = reason ?? error.message
    self.userID = userID
    self.awaitsKeys = awaitsKeys
  }
}

/// Checks tokens. The composition chooses the library.
public protocol TokenChecking: Sendable {
  /// The token, where it is accepted, or why it is refused.
  func check(_ token: String, at now: WallInstant) -> Result<AcceptedToken, TokenRefusal>

  /// Reads the keys again for a token that names one which is not there, or waits for a reading that is
  /// under way.
  /// - Returns: whether one has ended, so that the token is worth another check; false at once where none
  ///   is due.
  func readKeys() async -> Bool
}

extension TokenChecking {
  /// Keys that are there from the start are never read again.
  public func readKeys() async -> Bool { false }
}
