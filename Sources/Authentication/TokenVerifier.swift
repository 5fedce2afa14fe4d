import Foundation
import GroupModel

/// Verifies the tokens that users sign in with (Protocol.md, "Tokens"), without state, on any
/// thread.
public struct TokenVerifier: Sendable {
  /// The keys, and the values that claims must have.
  public struct Configuration: Sendable {
    /// The HS256 secret, at least 32 bytes; nil where HS256 is not in use.
    public var secret: [UInt8]?
    /// The contents of the JWKS file, nil where there is none.
    public var keySet: Data?
    /// `auth.algorithms`; nil = HS256 where there is a secret, and those of the keys in the file.
    public var algorithms: [TokenAlgorithm]?
    /// The name that `aud` must contain; nil = any.
    public var audience: String?
    /// The value that `iss` must have; nil = any.
    public var issuer: String?

    public init(
      secret: [UInt8]?, keySet: Data? = nil, algorithms: [TokenAlgorithm]? = nil, audience: String? = nil, issuer: String? = nil
    ) {
      self.secret = secret
      self.keySet = keySet
      self.algorithms = algorithms
      self.audience = audience
      self.issuer = issuer
    }
  }

  /// The tolerated difference of the issuer's clock and ours.
  public static let leeway = Duration.seconds(5)

  private let keys: [TokenAlgorithm: [TokenKey]]
  private let audience: String?
  private let issuer: String?

  /// Reads the keys.
  /// - Throws: a sentence for the operator where a key is unusable, or an algorithm has no key.
  public init(_ configuration: Configuration) async throws(AuthenticationError) {
    var found: [TokenKey] = []
    if let secret = configuration.secret { found.append(try await TokenKey(secret: secret)) }
    if let keySet = configuration.keySet { found += try await JSONWebKeySet.tokenKeys(in: keySet) }
    let byAlgorithm = Dictionary(grouping: found, by: \.algorithm)
    for algorithm in configuration.algorithms ?? [] where byAlgorithm[algorithm] == nil {
      let source = algorithm == .hs256 ? "there is no secret" : "the JWKS file has no such key"
      throw AuthenticationError("auth.algorithms names \(algorithm.rawValue), but \(source)")
    }
    keys = byAlgorithm.filter { configuration.algorithms?.contains($0.key) ?? true }
    guard !keys.isEmpty else { throw AuthenticationError("no algorithm is left that a token could be signed with") }
    audience = configuration.audience
    issuer = configuration.issuer
  }

  /// The algorithms in use, in the order of `TokenAlgorithm`.
  public var algorithms: [TokenAlgorithm] { TokenAlgorithm.allCases.filter { keys[$0] != nil } }

  /// The content of a token that is valid at `now`, or the reason why it is not.
  public func verify(_ token: String, now: WallInstant) -> Result<VerifiedToken, TokenError> {
    Result { () throws(TokenError) in try accept(token, now: now) }
  }

  /// The user of a token with a good signature, even where its claims are not valid.
  public func signer(of token: String) -> UserID? {
    do throws(TokenError) {
      let token = try CompactToken(token)
      try checkSignature(of: token)
      return UserID(try token.payload(as: TokenClaims.self).sub)
    } catch {
      return nil
    }
  }

  /// Checks in the order of Protocol.md, "Tokens": format, algorithm, signature, claims, expiry.
  private func accept(_ token: String, now: WallInstant) throws(TokenError) -> VerifiedToken {
    let token = try CompactToken(token)
    try checkSignature(of: token)
    let claims = try token.payload(as: TokenClaims.self)
    guard let userID = UserID(claims.sub) else { throw .malformed }
    let expiresAt = try TokenClaims.instant(claims.exp)
    if let nbf = claims.nbf, try TokenClaims.instant(nbf) > now + TokenVerifier.leeway { throw .malformed }
    try checkAddress(of: token)
    guard now < expiresAt + TokenVerifier.leeway else { throw .expired }
    return VerifiedToken(userID: userID, expiresAt: expiresAt, isAdministrator: claims.adm ?? false)
  }

  private func checkSignature(of token: CompactToken) throws(TokenError) {
    let header = try token.header(as: TokenHeader.self)
    guard header.crit == nil, let algorithm = TokenAlgorithm(rawValue: header.alg), let keys = keys[algorithm] else {
      throw .malformed
    }
    // Any `kid` may mean a key without a name, such as the secret: the signature decides.
    let candidates = keys.filter { header.kid == nil || $0.identifier == nil || $0.identifier == header.kid }
    guard let signature = token.signature, candidates.contains(where: { $0.verifies(signature, of: token.signedBytes) }) else {
      throw .wrongSignature
    }
  }

  private func checkAddress(of token: CompactToken) throws(TokenError) {
    guard audience != nil || issuer != nil else { return }
    let claims = try token.payload(as: AddressClaims.self)
    if let audience, claims.aud?.names.contains(audience) != true { throw .malformed }
    if let issuer, claims.iss != issuer { throw .malformed }
  }
}

/// The reason why a token is refused; the raw value is the code on the wire.
public enum TokenError: Int, Error, Sendable, CaseIterable {
  /// Its `exp` is past by more than the leeway, and all else is valid.
  case expired = 70001
  /// It is no token, or its `alg`, `exp`, `nbf`, `sub`, `aud` or `iss` is not accepted.
  case malformed = 70003
  /// Its signature is of no configured key.
  case wrongSignature = 70009
}

/// The content of a valid token.
public struct VerifiedToken: Sendable, Equatable {
  /// `sub`.
  public let userID: UserID
  /// `exp`, without the leeway.
  public let expiresAt: WallInstant
  /// Whether `adm` is true: an application administrator, for the internal listener only.
  public let isAdministrator: Bool
}
