import Foundation
import JWTKit

/// A JWKS file (RFC 7517). jwt-kit's own `JWKS` refuses a file with one unknown key; the RFC wants
/// such keys ignored, so the file is read here and each usable key passed to jwt-kit.
struct JSONWebKeySet: Decodable {
  let keys: [Key]

  /// The public members of a key.
  struct Key: Decodable {
    let kty: String
    let kid: String?
    let use: String?
    let alg: String?
    let crv: String?
    let n: String?
    let e: String?
    let x: String?
    let y: String?
    let keyOperations: [String]?

    enum CodingKeys: String, CodingKey {
      case kty, kid, use, alg, crv, n, e, x, y
      case keyOperations = "key_ops"
    }
  }

  /// The usable keys of the file.
  /// - Throws: where it is no JWKS, a key of a known kind is broken, or no key is usable.
  static func tokenKeys(in contents: Data) async throws(AuthenticationError) -> [TokenKey] {
    let set: JSONWebKeySet
    do { set = try JSONDecoder().decode(JSONWebKeySet.self, from: contents) } catch {
      throw AuthenticationError("auth.jwksFile is no JSON Web Key Set: \(summary(of: error))")
    }
    var usable: [TokenKey] = []
    for (index, key) in set.keys.enumerated() {
      guard let algorithm = key.algorithm else { continue }
      do { usable.append(try await TokenKey(key.jwk(for: algorithm), algorithm: algorithm, identifier: key.kid)) } catch {
        throw AuthenticationError("auth.jwksFile: key \(index + 1) (\(algorithm.rawValue)) is broken: \(error)")
      }
    }
    guard !usable.isEmpty else {
      throw AuthenticationError("auth.jwksFile holds no key for RS256, ES256 (P-256) or EdDSA (Ed25519) signatures")
    }
    return usable
  }

  private static func summary(of error: any Error) -> String {
    guard let error = error as? DecodingError else { return "\(error)" }
    let context: DecodingError.Context
    switch error {
    case .dataCorrupted(let found), .keyNotFound(_, let found), .typeMismatch(_, let found), .valueNotFound(_, let found):
      context = found
    @unknown default: return "\(error)"
    }
    let path = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
    return path.isEmpty ? context.debugDescription : "\(path): \(context.debugDescription)"
  }
}

extension JSONWebKeySet.Key {
  /// The algorithm that the key verifies; nil where it is unsupported or has another use.
  var algorithm: TokenAlgorithm? {
    guard use == nil || use == "sig", keyOperations?.contains("verify") ?? true else { return nil }
    let natural: TokenAlgorithm
    switch (kty, crv) {
    case ("RSA", _): natural = .rs256
    case ("EC", "P-256"): natural = .es256
    case ("OKP", "Ed25519"): natural = .edDSA
    default: return nil
    }
    return alg == nil || alg == natural.rawValue ? natural : nil
  }

  /// The key in jwt-kit's form.
  func jwk(for algorithm: TokenAlgorithm) -> JWK {
    switch algorithm {
    case .hs256, .rs256: .rsa(.rs256, identifier: nil, modulus: n, exponent: e)
    case .es256: .ecdsa(.es256, identifier: nil, x: x, y: y, curve: .p256)
    case .edDSA: .octetKeyPair(.eddsa, identifier: nil, x: x, y: nil, curve: .ed25519)
    }
  }
}
