import Foundation
import JWTKit

/// One key that tokens are checked with, tied to the one algorithm it may be used for: this is what keeps a public key from
/// being taken for a shared secret.
struct TokenKey: Sendable {
  let algorithm: TokenAlgorithm
  /// The key's `kid`; the secret has none.
  let identifier: String?
  private let implementation: any JWTAlgorithm

  /// Fewer bytes would be weaker than the hash (RFC 7518 section 3.2, contract section 9).
  static let minimumSecretBytes = 32

  /// The shared secret.
  init(secret: [UInt8]) async throws(AuthenticationError) {
    guard secret.count >= TokenKey.minimumSecretBytes else {
      throw AuthenticationError("the secret has \(secret.count) bytes; it needs at least \(TokenKey.minimumSecretBytes)")
    }
    let keys = await JWTKeyCollection().add(hmac: HMACKey(from: secret), digestAlgorithm: .sha256)
    do { implementation = try await keys.getKey() } catch { throw AuthenticationError("the secret is unusable: \(error)") }
    algorithm = .hs256
    identifier = nil
  }

  /// A public key of a JWKS file, in jwt-kit's form, its `alg` set.
  init(_ key: JWK, algorithm: TokenAlgorithm, identifier: String?) async throws {
    // The collection wants a name for each key; it holds this one only.
    var named = key
    named.keyIdentifier = "key"
    implementation = try await JWTKeyCollection().add(jwk: named).getKey(for: "key")
    self.algorithm = algorithm
    self.identifier = identifier
  }

  /// Whether the key made this signature of these bytes.
  func verifies(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
    // jwt-kit throws where a signature has not even the algorithm's shape (ES256: 64 bytes); it is as wrong as any other.
    (try? implementation.verify(signature, signs: bytes)) ?? false
  }

  /// The signature of these bytes; only the secret can sign.
  func sign(_ bytes: [UInt8]) throws -> [UInt8] { try implementation.sign(bytes) }
}
