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

  func check(_ token: String, at now: WallInstant) -> Result<AcceptedToken, TokenRefusal> {
    verifier.current.verify(token, now: now)
      .map { verified in
        AcceptedToken(
          userID: verified.userID, expiresAt: verified.expiresAt, issuedAt: verified.issuedAt,
          isAdministrator: verified.isAdministrator, warning: verified.warning(at: now))
      }
      .mapError { TokenRefusal($0) }
  }
}

extension TokenRefusal {
  /// A client without a token of a configured key learns the code alone, and nothing of keys and
  /// algorithms.
  init(_ fault: TokenFault) {
    let code: ErrorCode =
      switch fault.code {
      case .expired: .tokenExpired
      case .malformed: .tokenMalformed
      case .wrongSignature: .tokenWrongSignature
      }
    let sentence = "\(code.title): \(fault.reason)"
    self.init(WireError(code, fault.isSigned ? sentence : nil), reason: sentence, userID: fault.userID)
  }
}
