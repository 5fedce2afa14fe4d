import Cryptography
import Foundation

/// A JWKS document (RFC 7517). Keys of an unknown kind are ignored, as the RFC wants.
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
  static func tokenKeys(in contents: Data, of source: KeySetSource) throws(AuthenticationError) -> [TokenKey] {
    let set: JSONWebKeySet
    do { set = try JSONDecoder().decode(JSONWebKeySet.self, from: contents) } catch {
      throw AuthenticationError("\(source.key) is no JSON Web Key Set: \(summary(of: error))")
    }
    var usable: [TokenKey] = []
    for (index, key) in set.keys.enumerated() {
      guard let algorithm = key.algorithm else { continue }
      guard let publicKey = key.publicKey(of: algorithm) else {
        if source == .url { continue }
        throw AuthenticationError(
          "\(source.key): key \(index + 1) (\(algorithm.rawValue)) is broken: \(algorithm.demandOfNumbers)")
      }
      usable.append(TokenKey(publicKey, algorithm: algorithm, identifier: key.kid))
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

  /// The key of its numbers; nil where one is missing, or they are no key.
  func publicKey(of algorithm: TokenAlgorithm) -> PublicKey? {
    switch algorithm {
    case .hs256: return nil
    case .rs256:
      guard let modulus = bytes(self.n), let exponent = bytes(self.e) else { return nil }
      return PublicKey(.rsa(modulus: modulus, exponent: exponent))
    case .es256:
      guard let x = bytes(self.x), let y = bytes(self.y) else { return nil }
      return PublicKey(.p256(x: x, y: y))
    case .edDSA: return bytes(self.x).flatMap { PublicKey(.ed25519($0)) }
    }
  }

  /// Some issuers write padding, which RFC 7515 leaves out.
  private func bytes(_ text: String?) -> [UInt8]? {
    guard let text else { return nil }
    var digits = Array(text.utf8)[...]
    while digits.last == UInt8(ascii: "=") { digits.removeLast() }
    return Base64URL.decode(digits)
  }
}

extension TokenAlgorithm {
  /// What the numbers of a key must be, for the operator.
  fileprivate var demandOfNumbers: String {
    switch self {
    case .hs256: "a key set holds public keys alone"
    case .rs256: "it needs n of 2048 bits or more, and e, in base64url"
    case .es256: "it needs x and y of 32 bytes each in base64url, a point of P-256"
    case .edDSA: "it needs x of 32 bytes in base64url"
    }
  }
}
