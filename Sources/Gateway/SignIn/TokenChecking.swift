import GroupModel
import WireProtocol

/// Who a token is for.
public struct TokenOwner: Sendable, Equatable {
  public let userID: UserID
  /// `exp`, in Unix milliseconds.
  public let expiresAt: Instant
  /// `adm:true`: good on the internal listener only.
  public let isAdministrator: Bool

  /// An owner with everything given.
  public init(userID: UserID, expiresAt: Instant, isAdministrator: Bool) {
    self.userID = userID
    self.expiresAt = expiresAt
    self.isAdministrator = isAdministrator
  }
}

/// Checks tokens; the library behind it is the composition's business.
public protocol TokenChecking: Sendable {
  /// The token's owner, or 70001, 70003 or 70009.
  func owner(of token: String, at now: Instant) -> Result<TokenOwner, WireError>
  /// Whom a token names whose signature is good, expired or not: for the log of refusals.
  func signer(of token: String) -> UserID?
}

extension TokenChecking {
  /// Nobody is named.
  public func signer(of token: String) -> UserID? { nil }
}
