/// A signature algorithm that tokens may be signed with (contract section 2); the raw value is the JWT's `alg`.
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
