import Foundation
import JWTKit

/// A JWKS document (RFC 7517). jwt-kit's own `JWKS` refuses one with an unknown key; the RFC wants
/// such keys ignored, so it is read here and each usable key passed to jwt-kit.
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

  /// The most keys of a document from a URL, the first ones: a token without `kid` is compared with all.
  private static let mostRemoteKeys = 100

  /// The usable keys of a document.
  /// - Parameter source: where it is from. A broken key is left out where that is a URL: nobody here can
  ///   mend it, and the others are needed.
  /// - Throws: where it is no JWKS, a key of a known kind is broken, or no key is usable.
  static func tokenKeys(in contents: Data, of source: KeySetSource) async throws(AuthenticationError) -> [TokenKey] {
    let set: JSONWebKeySet
    do { set = try JSONDecoder().decode(JSONWebKeySet.self, from: contents) } catch {
      throw AuthenticationError("\(source.key) is no JSON Web Key Set: \(summary(of: error))")
    }
    var usable: [TokenKey] = []
    for (index, key) in set.keys.enumerated() {
      guard let algorithm = key.algorithm else { continue }
      do { usable.append(try await TokenKey(key.jwk(for: algorithm), algorithm: algorithm, identifier: key.kid)) } catch {
        if source == .url { continue }
        throw AuthenticationError("\(source.key): key \(index + 1) (\(algorithm.rawValue)) is broken: \(error)")
      }
      if source == .url, usable.count == mostRemoteKeys { break }
    }
    guard !usable.isEmpty else {
      throw AuthenticationError("\(source.key) holds no key for RS256, ES256 (P-256) or EdDSA (Ed25519) signatures")
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

/// Where a key set is from.
public enum KeySetSource: Sendable, Equatable {
  /// `auth.jwksFile`, whose keys are there when the server starts.
  case file
  /// `auth.jwksURL`, which is read again and again, and may have no answer yet.
  case url

  /// The key of the configuration.
  var key: String {
    switch self {
    case .file: "auth.jwksFile"
    case .url: "auth.jwksURL"
    }
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
