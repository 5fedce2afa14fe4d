import Authentication
import Gateway
import GroupModel
import GroupRuntime
import WireProtocol

/// Checks the tokens of sessions by `TokenVerifier`.
struct TokenChecker: TokenChecking {
  private let verifier: TokenVerifier

  init(_ verifier: TokenVerifier) { self.verifier = verifier }

  func signer(of token: String) -> UserID? { verifier.signer(of: token) }

  func owner(of token: String, at now: WallInstant) -> Result<TokenOwner, WireError> {
    verifier.verify(token, now: now)
      .map { TokenOwner(userID: $0.userID, expiresAt: $0.expiresAt, isAdministrator: $0.isAdministrator) }
      .mapError { error in
        switch error {
        case .expired: WireError(.tokenExpired)
        case .malformed: WireError(.tokenMalformed)
        case .wrongSignature: WireError(.tokenWrongSignature)
        }
      }
  }
}
