import Authentication
import Foundation
import Gateway
import GroupModel
import GroupRuntime
import Synchronization
import WireProtocol

/// The verifier of tokens in use, which a reload replaces, and each reading of `auth.jwksURL`.
final class CurrentTokenVerifier: Sendable {
  private let configuration: TokenVerifier.Configuration
  private let verifier: Mutex<TokenVerifier>
  private let keyReading = Mutex<@Sendable () async -> Bool>({ false })

  init(_ configuration: TokenVerifier.Configuration) async throws(AuthenticationError) {
    self.configuration = configuration
    verifier = Mutex(try await TokenVerifier(configuration))
  }

  var current: TokenVerifier { verifier.withLock(\.self) }

  /// Sets what reads the key set for a token that names an unknown key; `TokenChecking.readKeys` says when
  /// it returns.
  func onUnknownKey(_ read: @escaping @Sendable () async -> Bool) { keyReading.withLock { $0 = read } }

  /// See `TokenChecking.readKeys`.
  func readKeys() async -> Bool {
    let read = keyReading.withLock { $0 }
    return await read()
  }

  /// Takes another key set for tokens that are checked from now on; all else stays.
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
    let current = verifier.current
    return current.verify(token, now: now)
      .map { verified in
        AcceptedToken(
          userID: verified.userID, expiresAt: verified.expiresAt, issuedAt: verified.issuedAt,
          isAdministrator: verified.isAdministrator, warning: verified.warning(at: now))
      }
      .mapError { fault in
        // Nobody knows whether the keys that are still to come have signed it.
        let isUndecided = fault.namesUnknownKey && current.awaitsKeySet
        return isUndecided ? TokenRefusal(undecided: fault) : TokenRefusal(fault)
      }
  }

  func readKeys() async -> Bool { await verifier.readKeys() }
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
    self.init(
      WireError(code, fault.isSigned ? sentence : nil), reason: sentence, userID: fault.userID,
      awaitsKeys: fault.namesUnknownKey)
  }

  /// A token that is neither accepted nor refused: 10002.
  fileprivate init(undecided fault: TokenFault) {
    self.init(WireError(.temporary), reason: fault.reason, awaitsKeys: true)
  }
}
