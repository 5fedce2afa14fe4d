/// Why a token signs nobody in (contract sections 2 and 7); the raw value is the code on the wire.
public enum TokenError: Int, Error, Sendable, CaseIterable {
  /// It was good until its `exp`, which is past by more than the leeway.
  case expired = 70001
  /// It is no token, or one that says something it may not: `alg`, `exp`, `nbf`, `sub`, `aud`, `iss`.
  case malformed = 70003
  /// No configured key made its signature.
  case wrongSignature = 70009
}
