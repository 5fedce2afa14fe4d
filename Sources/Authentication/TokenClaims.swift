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
  let iat: AnyDate?
  let adm: Bool?

  /// A date that faults no token: of another kind, or beyond a `Double`, it counts as missing.
  struct AnyDate: Decodable {
    let seconds: Double?

    init(seconds: Double?) { self.seconds = seconds }

    init(from decoder: any Decoder) throws {
      seconds = try? decoder.singleValueContainer().decode(Double.self)
    }
  }
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

extension TokenHeader {
  /// The fault of a header that cannot be read as one.
  /// - Parameter members: nil where it is no JSON object.
  static func fault(in members: [String: TokenMember]?) -> TokenFault {
    guard let members else { return .unsigned(.malformed, "its header is no JSON object in base64url") }
    switch members["alg"] ?? .null {
    case .text: break
    case .null: return .unsigned(.malformed, "its header has no alg")
    case let other: return .unsigned(.malformed, "the alg of its header is \(other.kind), not text")
    }
    switch members["kid"] ?? .null {
    case .null, .text: return .unsigned(.malformed, "its header cannot be read")
    case let other: return .unsigned(.malformed, "the kid of its header is \(other.kind), not text")
    }
  }
}

extension TokenClaims {
  /// The largest integer that JSON carries exactly.
  private static let largestInstant: Double = 9_007_199_254_740_991

  /// The instant of a date claim; nil where it is too far from 1970.
  static func instant(_ seconds: Double) -> WallInstant? {
    let milliseconds = (seconds * 1000).rounded()
    guard milliseconds.magnitude <= largestInstant else { return nil }
    return WallInstant(milliseconds: Int64(milliseconds))
  }

  /// The fault of a signed token whose claims are missing or of the wrong kind.
  /// - Parameter members: nil where the payload is no JSON object.
  static func fault(in members: [String: TokenMember]?) -> TokenFault {
    guard let members else { return .signed(.malformed, "its payload is no JSON object in base64url", of: nil) }
    let checks = [
      reason(ofUser: members["sub"] ?? .null), reason(ofDate: members["exp"] ?? .null, "exp", isRequired: true),
      reason(ofDate: members["nbf"] ?? .null, "nbf", isRequired: false), reason(ofFlag: members["adm"] ?? .null),
    ]
    let user: UserID? = if case .text(let name)? = members["sub"] { UserID(name) } else { nil }
    return .signed(.malformed, checks.compactMap { $0 }.first ?? "its claims cannot be read", of: user)
  }

  /// What is wrong with a `sub`; nil where it is a userID.
  static func reason(ofUser sub: TokenMember) -> String? {
    switch sub {
    case .text(let name): reason(ofUserID: name)
    case .null: "it has no sub"
    default: "sub is \(sub.kind), not text"
    }
  }

  /// What is wrong with the name of a user (Protocol.md, "Identifiers"); nil where it is a userID.
  static func reason(ofUserID name: String) -> String? {
    guard UserID(name) == nil else { return nil }
    let count = name.utf8.count
    if count == 0 { return "sub is empty; a userID has 1 to 32 bytes" }
    if count > 32 { return "sub \(name.quotedForReason) has \(count) bytes; a userID has 1 to 32" }
    if name.hasPrefix("@") { return "sub \(name.quotedForReason) begins with @" }
    if name == UserID.administrator.rawValue { return "sub is administrator, under which no user signs in" }
    return "sub \(name.quotedForReason) has a character that is not visible ASCII"
  }

  /// What is wrong with the kind of a date; nil where it is a number, or missing and not required.
  static func reason(ofDate date: TokenMember, _ name: String, isRequired: Bool) -> String? {
    switch date {
    case .number: nil
    case .null: isRequired ? "it has no \(name)" : nil
    default: "\(name) is \(date.kind), not a number of seconds"
    }
  }

  /// What is wrong with `adm`.
  static func reason(ofFlag adm: TokenMember) -> String? {
    switch adm {
    case .flag, .null: nil
    default: "adm is \(adm.kind), not true or false"
    }
  }
}
