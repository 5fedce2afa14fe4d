import GroupModel

/// What a good token says (contract section 2).
public struct VerifiedToken: Sendable, Equatable {
  /// Who signs in: `sub`.
  public let userID: UserID
  /// The end of the token in Unix milliseconds: `exp`, without the leeway.
  public let expiresAt: Instant
  /// `adm` is true: an application administrator, whom only the internal listener lets in.
  public let isAdministrator: Bool
}
