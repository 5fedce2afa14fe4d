import Foundation
import GroupModel
import JWTKit

/// Makes tokens part by part, right or wrong, with keys made for the test. It does not share code
/// with what is tested.
struct TokenForge {
  static let secret = Array("a secret of thirty-two bytes, yes".utf8)
  /// The instant at which the tests ask.
  static let now = WallInstant(milliseconds: 1_700_000_000_000)

  let ec = ES256PrivateKey()
  let otherEC = ES256PrivateKey()
  let ed: EdDSA.PrivateKey
  let rsa: Insecure.RSA.PrivateKey
  let otherRSA: Insecure.RSA.PrivateKey

  init() throws {
    ed = try EdDSA.PrivateKey()
    rsa = try Insecure.RSA.PrivateKey(pem: RSATestKeys.first)
    otherRSA = try Insecure.RSA.PrivateKey(pem: RSATestKeys.second)
  }

  enum Signer { case secret([UInt8]), ec, otherEC, ed, rsa, otherRSA }

  func signature(of text: String, by signer: Signer) async throws -> [UInt8] {
    let keys = JWTKeyCollection()
    switch signer {
    case .secret(let bytes): await keys.add(hmac: HMACKey(from: bytes), digestAlgorithm: .sha256)
    case .ec: await keys.add(ecdsa: ec)
    case .otherEC: await keys.add(ecdsa: otherEC)
    case .ed: await keys.add(eddsa: ed)
    case .rsa: await keys.add(rsa: rsa, digestAlgorithm: .sha256)
    case .otherRSA: await keys.add(rsa: otherRSA, digestAlgorithm: .sha256)
    }
    return try await keys.getKey().sign(Array(text.utf8))
  }

  /// A token with this text as header and payload, signed with `signer` whatever the header says.
  func token(header: String, payload: String, by signer: Signer) async throws -> String {
    let signed = "\(Self.base64URL(header.utf8)).\(Self.base64URL(payload.utf8))"
    return "\(signed).\(Self.base64URL(try await signature(of: signed, by: signer)))"
  }

  /// An HS256 token with this payload.
  func token(payload: String) async throws -> String {
    try await token(header: #"{"alg":"HS256"}"#, payload: payload, by: .secret(Self.secret))
  }

  static func base64URL(_ bytes: some Sequence<UInt8>) -> String {
    Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }

  /// A payload that is good for an hour.
  static let goodPayload = #"{"sub":"alice","exp":1700003600}"#

  func rsaJWK(kid: String? = "rsa", extra: String = "") throws -> String {
    let numbers = try rsa.publicKey.getKeyPrimitives()
    let n = Self.base64URL(numbers.modulus)
    return #"{"kty":"RSA","n":"\#(n)","e":"\#(Self.base64URL(numbers.publicExponent))"\#(Self.name(kid))\#(extra)}"#
  }

  func ecJWK(kid: String? = "ec", extra: String = "") throws -> String {
    guard let point = ec.publicKey.parameters, let x = Data(base64Encoded: point.x), let y = Data(base64Encoded: point.y) else {
      throw CocoaError(.coderInvalidValue)
    }
    return #"{"kty":"EC","crv":"P-256","x":"\#(Self.base64URL(x))","y":"\#(Self.base64URL(y))"\#(Self.name(kid))\#(extra)}"#
  }

  func edJWK(kid: String? = "ed", extra: String = "") -> String {
    let x = Self.base64URL(ed.publicKey.rawRepresentation)
    return #"{"kty":"OKP","crv":"Ed25519","x":"\#(x)"\#(Self.name(kid))\#(extra)}"#
  }

  static func keySet(_ keys: String...) -> Data { Data(#"{"keys":[\#(keys.joined(separator: ","))]}"#.utf8) }

  private static func name(_ kid: String?) -> String { kid.map { #","kid":"\#($0)""# } ?? "" }
}
