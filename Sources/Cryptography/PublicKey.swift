import CCryptography

/// A key that verifies signatures of one algorithm.
public final class PublicKey: Sendable {
  /// The numbers of a key, as a JSON Web Key has them (RFC 7518 section 6).
  public enum Numbers: Sendable {
    /// RSASSA-PKCS1-v1_5 with SHA-256; 2,048 bits or more.
    case rsa(modulus: [UInt8], exponent: [UInt8])
    /// ECDSA with SHA-256; 32 bytes each.
    case p256(x: [UInt8], y: [UInt8])
    /// Ed25519; 32 bytes.
    case ed25519([UInt8])
  }

  /// Calls only read it, on any thread (CCryptography.h, "Threads").
  private nonisolated(unsafe) let key: OpaquePointer

  /// Nil where the numbers are no such key.
  public init?(_ numbers: Numbers) {
    guard let made = PublicKey.make(numbers) else { return nil }
    key = made
  }

  deinit { cc_public_key_release(key) }

  /// Whether the key's owner has signed these bytes. A signature of another length is wrong like any other.
  public func verifies(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
    signature.withUnsafeBytes { signature in
      bytes.withUnsafeBytes { cc_verifies(key, cc_bytes(signature), cc_bytes($0)) }
    }
  }

  private static func make(_ numbers: Numbers) -> OpaquePointer? {
    switch numbers {
    case .rsa(let modulus, let exponent):
      modulus.withUnsafeBytes { modulus in exponent.withUnsafeBytes { cc_rsa_key_create(cc_bytes(modulus), cc_bytes($0)) } }
    case .p256(let x, let y):
      x.withUnsafeBytes { x in y.withUnsafeBytes { cc_p256_key_create(cc_bytes(x), cc_bytes($0)) } }
    case .ed25519(let key):
      key.withUnsafeBytes { cc_ed25519_key_create(cc_bytes($0)) }
    }
  }
}
