import Crypto
import Foundation
import JWTKit

/// A key that verifies tokens. It is bound to one algorithm, so that no public key serves as a
/// shared secret.
struct TokenKey: Sendable {
  let algorithm: TokenAlgorithm
  /// The key's `kid`; the secret has none.
  let identifier: String?
  private let implementation: Implementation

  private enum Implementation {
    /// A code of no bytes yet: to prepare it takes as long as to verify a token.
    case secret(HMAC<SHA256>)
    case publicKey(any JWTAlgorithm)
  }

  /// Fewer bytes would be weaker than the hash (RFC 7518 section 3.2).
  static let minimumSecretBytes = 32

  /// The shared secret.
  init(secret: [UInt8]) throws(AuthenticationError) {
    guard secret.count >= TokenKey.minimumSecretBytes else {
      throw AuthenticationError("the secret has \(secret.count) bytes; it needs at least \(TokenKey.minimumSecretBytes)")
    }
    implementation = .secret(HMAC<SHA256>(key: SymmetricKey(data: secret)))
    algorithm = .hs256
    identifier = nil
  }

  /// A public key of a JWKS file in jwt-kit's form.
  init(_ key: JWK, algorithm: TokenAlgorithm, identifier: String?) async throws {
    // The collection needs a name for its only key.
    var named = key
    named.keyIdentifier = "key"
    implementation = .publicKey(try await JWTKeyCollection().add(jwk: named).getKey(for: "key"))
    self.algorithm = algorithm
    self.identifier = identifier
  }

  /// Whether the key made this signature of these bytes.
  func verifies(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
    switch implementation {
    // The comparison takes as long wherever they differ.
    case .secret(let code): TokenKey.finish(code, bytes) == signature
    // jwt-kit throws for a signature of another length (ES256: 64 bytes): it is wrong like any
    // other.
    case .publicKey(let key): (try? key.verify(signature, signs: bytes)) ?? false
    }
  }

  /// The signature of these bytes; only the secret can sign.
  func sign(_ bytes: [UInt8]) throws -> [UInt8] {
    switch implementation {
    case .secret(let code): Array(TokenKey.finish(code, bytes))
    case .publicKey(let key): try key.sign(bytes)
    }
  }

  private static func finish(_ code: HMAC<SHA256>, _ bytes: [UInt8]) -> HMAC<SHA256>.MAC {
    var code = code
    code.update(data: bytes)
    return code.finalize()
  }
}

/// A signature algorithm of tokens; the raw value is the JWT's `alg`.
public enum TokenAlgorithm: String, CaseIterable, Sendable {
  /// HMAC with SHA-256, by the shared secret.
  case hs256 = "HS256"
  /// RSASSA-PKCS1-v1_5 with SHA-256, by an `RSA` key of the JWKS file.
  case rs256 = "RS256"
  /// ECDSA on P-256 with SHA-256, by an `EC` key of the JWKS file.
  case es256 = "ES256"
  /// Ed25519, by an `OKP` key of the JWKS file.
  case edDSA = "EdDSA"
}

/// A fault of the configured keys or secret; it never holds key material.
public struct AuthenticationError: Error, Sendable, Equatable, CustomStringConvertible {
  /// One sentence for the operator, on one line.
  public let description: String

  init(_ description: String) { self.description = description }
}
