import CCryptography

/// A key of HMAC-SHA-256 (RFC 2104). To prepare it takes about as long as to make a code.
public final class CodeKey: Sendable {
  /// Calls only read it, on any thread (CCryptography.h, "Threads").
  private nonisolated(unsafe) let key: OpaquePointer

  /// - Parameter secret: of any length.
  public init(_ secret: [UInt8]) {
    guard let made = secret.withUnsafeBytes({ cc_code_key_create(cc_bytes($0)) }) else {
      fatalError("libcrypto has no memory, or no HMAC-SHA-256")
    }
    key = made
  }

  deinit { cc_code_key_release(key) }

  /// The code of these bytes: 32 of them.
  public func code(of bytes: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Int(CC_CODE_BYTES)) { code, count in
      guard bytes.withUnsafeBytes({ cc_code(key, cc_bytes($0), code.baseAddress) }) else {
        fatalError("libcrypto has no memory")
      }
      count = Int(CC_CODE_BYTES)
    }
  }

  /// Whether this is the code of these bytes. The comparison takes as long wherever they differ.
  public func verifies(_ code: [UInt8], of bytes: [UInt8]) -> Bool {
    code.count == Int(CC_CODE_BYTES) && cc_equal(code, self.code(of: bytes), code.count)
  }
}

/// Makes keys of other keys (RFC 5869).
public enum KeyDerivation {
  /// Bytes that only who has the secret can make, others for each salt and `info`.
  public static func bytes(from secret: [UInt8], salt: [UInt8] = [], info: [UInt8], count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { derived, length in
      let isMade = secret.withUnsafeBytes { secret in
        salt.withUnsafeBytes { salt in
          info.withUnsafeBytes { info in
            cc_derive(cc_bytes(secret), cc_bytes(salt), cc_bytes(info), derived.baseAddress, count)
          }
        }
      }
      guard isMade else { fatalError("libcrypto has no memory, or no HKDF") }
      length = count
    }
  }
}

extension cc_bytes {
  /// Valid as long as the buffer is.
  init(_ bytes: UnsafeRawBufferPointer) { self.init(first: bytes.baseAddress, count: bytes.count) }
}
