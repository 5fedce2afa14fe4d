import GroupModel

/// The header of a token: which algorithm and key it claims.
struct TokenHeader: Decodable {
  let alg: String
  let kid: String?
  let crit: Extensions?

  /// Extensions that a reader must understand (RFC 7515 section 4.1.11); none is, so that their names do not matter.
  struct Extensions: Decodable {
    init(from decoder: any Decoder) throws {}
  }
}

/// The claims that are always read (contract section 2). Dates are seconds, with or without a fraction.
struct TokenClaims: Decodable {
  let sub: String
  let exp: Double
  let nbf: Double?
  let adm: Bool?
}

/// The claims about whom a token is from and for; read only where the configuration asks for them.
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
  /// What every date must stay within: integers that JSON carries exactly.
  private static let largestInstant: Double = 9_007_199_254_740_991

  /// A date claim in Unix milliseconds; malformed beyond what JSON carries exactly.
  static func instant(_ seconds: Double) throws(TokenError) -> Instant {
    let milliseconds = (seconds * 1000).rounded()
    guard milliseconds.magnitude <= largestInstant else { throw .malformed }
    return Instant(milliseconds)
  }
}
