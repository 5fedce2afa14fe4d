import GroupModel
import WireProtocol

/// The user that a token names.
public struct TokenOwner: Sendable, Equatable {
  /// The user that the token names.
  public let userID: UserID
  /// `exp`.
  public let expiresAt: WallInstant
  /// `adm:true`: valid on the internal listener only.
  public let isAdministrator: Bool

  /// An owner with everything given.
  public init(userID: UserID, expiresAt: WallInstant, isAdministrator: Bool) {
    self.userID = userID
    self.expiresAt = expiresAt
    self.isAdministrator = isAdministrator
  }
}

/// Checks tokens. The composition chooses the library.
public protocol TokenChecking: Sendable {
  /// The token's owner, or 70001, 70003 or 70009.
  func owner(of token: String, at now: WallInstant) -> Result<TokenOwner, WireError>
  /// The user of a token with a valid signature, expired or not, for the log of refusals.
  func signer(of token: String) -> UserID?
}

extension TokenChecking {
  /// No user.
  public func signer(of token: String) -> UserID? { nil }
}
