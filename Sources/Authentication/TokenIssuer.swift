import Foundation
import GroupModel

/// Makes HS256 tokens as the application's backend does, for `throng token` and the demo page
/// (Protocol.md, "Tokens").
public struct TokenIssuer: Sendable {
  private let key: TokenKey
  private let audience: String?
  private let issuer: String?

  /// An issuer with the secret (at least 32 bytes); every token has the `audience` and `issuer`.
  public init(secret: [UInt8], audience: String? = nil, issuer: String? = nil) async throws(AuthenticationError) {
    key = try TokenKey(secret: secret)
    self.audience = audience
    self.issuer = issuer
  }

  /// A token for the user, valid for `lifetime` (whole seconds, at most 2³²−1) from `now`.
  /// - Throws: where the name is no userID.
  public func issue(
    user name: String, lifetime: Duration, isAdministrator: Bool = false, now: WallInstant
  ) throws(AuthenticationError) -> String {
    let userID = try TokenIssuer.userID(name)
    let issuedAt = now.milliseconds / 1000
    let claims = Claims(
      sub: userID.rawValue, iat: issuedAt, exp: issuedAt + lifetime.components.seconds, adm: isAdministrator ? true : nil,
      aud: audience,
      iss: issuer)
    do { return try sign(claims) } catch { throw AuthenticationError("the token cannot be signed: \(error)") }
  }

  /// The user of a name.
  /// - Throws: a sentence for the operator where it is no userID (Protocol.md, "Identifiers").
  @discardableResult
  public static func userID(_ name: String) throws(AuthenticationError) -> UserID {
    if let userID = UserID(name) { return userID }
    throw AuthenticationError(
      "\(name.debugDescription) is no userID: 1 to 32 bytes of visible ASCII, not beginning with @, not administrator")
  }

  private func sign(_ claims: Claims) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let header = Base64URL.encode(#"{"alg":"HS256","typ":"JWT"}"#.utf8)
    let signed = "\(header).\(Base64URL.encode(try encoder.encode(claims)))"
    return "\(signed).\(Base64URL.encode(try key.sign(Array(signed.utf8))))"
  }

  private struct Claims: Encodable {
    let sub: String
    let iat: Int64
    let exp: Int64
    let adm: Bool?
    let aud: String?
    let iss: String?
  }
}
