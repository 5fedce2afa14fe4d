import Cryptography

/// A key that verifies tokens. It is bound to one algorithm, so that no public key serves as a
/// shared secret.
struct TokenKey: Sendable {
  let algorithm: TokenAlgorithm
  /// The key's `kid`; the secret has none.
  let identifier: String?
  private let implementation: Implementation

  private enum Implementation {
    case secret(CodeKey)
    case publicKey(PublicKey)
  }

  /// Fewer bytes would be weaker than the hash (RFC 7518 section 3.2).
  static let minimumSecretBytes = 32

  /// The shared secret.
  init(secret: [UInt8]) throws(AuthenticationError) {
    guard secret.count >= TokenKey.minimumSecretBytes else {
      throw AuthenticationError("the secret has \(secret.count) bytes; it needs at least \(TokenKey.minimumSecretBytes)")
    }
    implementation = .secret(CodeKey(secret))
    algorithm = .hs256
    identifier = nil
  }

  /// A public key of a JWKS file.
  init(_ key: PublicKey, algorithm: TokenAlgorithm, identifier: String?) {
    implementation = .publicKey(key)
    self.algorithm = algorithm
    self.identifier = identifier
  }

  /// Whether the key made this signature of these bytes.
  func verifies(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
    switch implementation {
    case .secret(let key): key.verifies(signature, of: bytes)
    case .publicKey(let key): key.verifies(signature, of: bytes)
    }
  }

  /// The signature of these bytes; only the secret can sign.
  func sign(_ bytes: [UInt8]) throws(AuthenticationError) -> [UInt8] {
    switch implementation {
    case .secret(let key): return key.code(of: bytes)
    case .publicKey: throw AuthenticationError("a public key signs nothing")
    }
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
