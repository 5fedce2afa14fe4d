import CCryptography
import Synchronization

/// A key of AES-256-GCM: what is sealed under it can neither be read nor changed without it.
public final class SealingKey: Sendable {
  public static let keyBytes = Int(CC_KEY_BYTES)
  public static let nonceBytes = Int(CC_NONCE_BYTES)
  public static let tagBytes = Int(CC_TAG_BYTES)

  /// It is used within the lock only.
  private struct Cipher: @unchecked Sendable {
    let pointer: OpaquePointer
  }

  private let cipher: Mutex<Cipher>

  /// - Parameter key: `keyBytes` bytes.
  public init(_ key: [UInt8]) {
    precondition(key.count == SealingKey.keyBytes)
    guard let made = cc_cipher_create(key) else { fatalError("libcrypto has no memory, or no AES-256-GCM") }
    cipher = Mutex(Cipher(pointer: made))
  }

  deinit { cipher.withLock { cc_cipher_release($0.pointer) } }

  /// The text encrypted, and the tag behind it, which is of `header` too; nil where it is longer than 2 GiB,
  /// or there is no memory.
  /// - Parameter nonce: `nonceBytes` bytes that come once under this key.
  public func seal(_ text: [UInt8], nonce: [UInt8], header: [UInt8]) -> [UInt8]? {
    precondition(nonce.count == SealingKey.nonceBytes)
    let length = text.count + SealingKey.tagBytes
    var isDone = false
    let sealed = [UInt8](unsafeUninitializedCapacity: length) { sealed, count in
      isDone = cipher.withLock { cipher in
        header.withUnsafeBytes { header in
          text.withUnsafeBytes { cc_seal(cipher.pointer, nonce, cc_bytes(header), cc_bytes($0), sealed.baseAddress) }
        }
      }
      count = isDone ? length : 0
    }
    return isDone ? sealed : nil
  }

  /// The text that was sealed; nil where it was not sealed with this key, nonce and header.
  public func open(_ sealed: ArraySlice<UInt8>, nonce: [UInt8], header: ArraySlice<UInt8>) -> [UInt8]? {
    precondition(nonce.count == SealingKey.nonceBytes)
    guard sealed.count >= SealingKey.tagBytes else { return nil }
    let length = sealed.count - SealingKey.tagBytes
    var isGood = false
    let text = [UInt8](unsafeUninitializedCapacity: length) { text, count in
      isGood = cipher.withLock { cipher in
        header.withUnsafeBytes { header in
          sealed.withUnsafeBytes { cc_open(cipher.pointer, nonce, cc_bytes(header), cc_bytes($0), text.baseAddress) }
        }
      }
      count = isGood ? length : 0
    }
    return isGood ? text : nil
  }
}
