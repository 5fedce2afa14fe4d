import Authentication
import Foundation
import Gateway
import GroupModel
import GroupRuntime
import Synchronization
import WireProtocol

/// The verifier of tokens in use, which a reload replaces.
final class CurrentTokenVerifier: Sendable {
  private let configuration: TokenVerifier.Configuration
  private let verifier: Mutex<TokenVerifier>

  init(_ configuration: TokenVerifier.Configuration) async throws(AuthenticationError) {
    self.configuration = configuration
    verifier = Mutex(try await TokenVerifier(configuration))
  }

  var current: TokenVerifier { verifier.withLock(\.self) }

  /// Takes another JWKS file's contents for tokens that are checked from now on; all else stays.
  func replaceKeySet(_ keySet: Data) async throws(AuthenticationError) {
    var configuration = configuration
    configuration.keySet = keySet
    let next = try await TokenVerifier(configuration)
    verifier.withLock { $0 = next }
  }
}

/// Checks the tokens of sessions by `TokenVerifier`.
struct TokenChecker: TokenChecking {
  private let verifier: CurrentTokenVerifier

  init(_ verifier: CurrentTokenVerifier) { self.verifier = verifier }

  func signer(of token: String) -> UserID? { verifier.current.signer(of: token) }

  func owner(of token: String, at now: WallInstant) -> Result<TokenOwner, WireError> {
    verifier.current.verify(token, now: now)
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
