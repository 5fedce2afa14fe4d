import GroupModel

/// The header of a token: the algorithm and key that it names.
struct TokenHeader: Decodable {
  let alg: String
  let kid: String?
  let crit: Extensions?

  /// Extensions that a reader must understand (RFC 7515 section 4.1.11); none is supported.
  struct Extensions: Decodable {
    init(from decoder: any Decoder) throws {}
  }
}

/// The claims that are always read (Protocol.md, "Tokens"). Dates are seconds, also with a
/// fraction.
struct TokenClaims: Decodable {
  let sub: String
  let exp: Double
  let nbf: Double?
  let adm: Bool?
}

/// The issuer and audience of a token, read only where the configuration names them.
struct AddressClaims: Decodable {
  let iss: String?
  let aud: Audience?

  /// One name or several (RFC 7519 section 4.1.3).
  struct Audience: Decodable {
    let names: [String]

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let name = try? container.decode(String.self) {
        names = [name]
      } else {
        names = try container.decode([String].self)
      }
    }
  }
}

extension TokenClaims {
  /// The largest integer that JSON carries exactly.
  private static let largestInstant: Double = 9_007_199_254_740_991

  /// The instant of a date claim.
  static func instant(_ seconds: Double) throws(TokenError) -> WallInstant {
    let milliseconds = (seconds * 1000).rounded()
    guard milliseconds.magnitude <= largestInstant else { throw .malformed }
    return WallInstant(milliseconds: Int64(milliseconds))
  }
}
