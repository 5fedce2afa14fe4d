import Crypto
import Cryptography
import Foundation
import Testing

/// libcrypto's results are those of swift-crypto, which shares no code with it. Signatures of tokens:
/// `SignatureTests`.
@Suite struct CryptographyTests {
  private static func bytes(_ count: Int, from first: UInt8 = 1) -> [UInt8] {
    (0..<count).map { first &+ UInt8(truncatingIfNeeded: $0) }
  }

  @Test(arguments: [0, 1, 32, 64, 65, 200], [0, 1, 55, 64, 1000])
  func codesAreThoseOfTheOther(secretCount: Int, count: Int) {
    let (secret, text) = (Self.bytes(secretCount), Self.bytes(count, from: 9))
    let expected = Array(HMAC<SHA256>.authenticationCode(for: text, using: SymmetricKey(data: secret)))
    let key = CodeKey(secret)
    // A key goes on unchanged.
    for _ in 0..<2 { #expect(key.code(of: text) == expected) }
    #expect(key.verifies(expected, of: text))
    #expect(!key.verifies(Array(expected.dropLast()), of: text) && !key.verifies([], of: text))
    for index in expected.indices {
      var changed = expected
      changed[index] ^= 1
      #expect(!key.verifies(changed, of: text))
    }
  }

  @Test(arguments: [0, 16], [0, 20])
  func derivedKeysAreThoseOfTheOther(saltCount: Int, infoCount: Int) {
    let (secret, salt, info) = (Self.bytes(40), Self.bytes(saltCount, from: 3), Self.bytes(infoCount, from: 5))
    let expected = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: secret), salt: salt, info: info, outputByteCount: 48)
    #expect(KeyDerivation.bytes(from: secret, salt: salt, info: info, count: 48) == expected.withUnsafeBytes { Array($0) })
  }

  @Test(arguments: [0, 1, 700, 20_000], [0, 50])
  func whatIsSealedHereIsOpenedThereAndTheOtherWay(count: Int, headerCount: Int) throws {
    let (secret, nonce) = (Self.bytes(SealingKey.keyBytes), Self.bytes(SealingKey.nonceBytes, from: 7))
    let (text, header) = (Self.bytes(count, from: 11), Self.bytes(headerCount, from: 13))
    let (own, other) = (SealingKey(secret), SymmetricKey(data: secret))
    let box = try AES.GCM.seal(text, using: other, nonce: AES.GCM.Nonce(data: nonce), authenticating: header)
    let expected = Array(box.ciphertext) + Array(box.tag)
    for _ in 0..<2 {
      #expect(own.seal(text, nonce: nonce, header: header) == expected)
      #expect(own.open(expected[...], nonce: nonce, header: header[...]) == text)
    }
    #expect(own.open(expected[...], nonce: Self.bytes(SealingKey.nonceBytes), header: header[...]) == nil)
    #expect(own.open(expected[...], nonce: nonce, header: (header + [0])[...]) == nil)
    #expect(own.open(expected.dropLast(), nonce: nonce, header: header[...]) == nil)
    #expect(own.open([], nonce: nonce, header: header[...]) == nil)
    #expect(own.open(expected[...], nonce: nonce, header: header[...]) == text, "a refusal leaves nothing behind")
  }

  @Test func signaturesOfP256AreVerified() throws {
    let key = P256.Signing.PrivateKey()
    let raw = Array(key.publicKey.rawRepresentation)
    let (x, y) = (Array(raw[..<32]), Array(raw[32...]))
    let own = try #require(PublicKey(.p256(x: x, y: y)))
    let text = Self.bytes(100)
    let signature = Array(try key.signature(for: text).rawRepresentation)
    #expect(own.verifies(signature, of: text) && !own.verifies(signature, of: text + [0]))
    let others: [[UInt8]] = [
      [], Array(signature.dropLast()), signature + [0], [UInt8](repeating: 0, count: 64), Array(signature.reversed()),
    ]
    for wrong in others {
      #expect(!own.verifies(wrong, of: text))
    }
    var off = x
    off[5] ^= 1
    #expect(PublicKey(.p256(x: off, y: y)) == nil)
    #expect(PublicKey(.p256(x: Array(x.dropFirst()), y: y)) == nil)
  }

  @Test func signaturesOfEd25519AreVerified() throws {
    let key = Curve25519.Signing.PrivateKey()
    let own = try #require(PublicKey(.ed25519(Array(key.publicKey.rawRepresentation))))
    let text = Self.bytes(100)
    let signature = Array(try key.signature(for: text))
    #expect(own.verifies(signature, of: text) && !own.verifies(signature, of: text + [0]))
    #expect(!own.verifies([], of: text) && !own.verifies(Array(signature.dropLast()), of: text))
    #expect(PublicKey(.ed25519(Self.bytes(31))) == nil)
  }

  @Test(arguments: [0, 1, 128, 255])
  func shortKeysOfRSAAreNone(bytes: Int) {
    #expect(PublicKey(.rsa(modulus: [UInt8](repeating: 0xff, count: bytes), exponent: [1, 0, 1])) == nil)
  }
}
