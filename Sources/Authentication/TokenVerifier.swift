import Foundation
import GroupModel

/// Checks the tokens that users sign in with (contract section 2). It holds no state and waits for nothing: any thread may ask.
public struct TokenVerifier: Sendable {
  /// What tokens are checked against.
  public struct Configuration: Sendable {
    /// The HS256 secret, at least 32 bytes; nil where HS256 is not in use.
    public var secret: [UInt8]?
    /// The contents of the JWKS file, nil where there is none.
    public var keySet: Data?
    /// `auth.algorithms`; nil is HS256 where there is a secret, plus those of the keys in the file.
    public var algorithms: [TokenAlgorithm]?
    /// What `aud` must name; nil accepts any token.
    public var audience: String?
    /// What `iss` must be; nil accepts any token.
    public var issuer: String?

    /// A configuration of the given parts.
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

  /// How far the clocks of the application's servers and ours may differ, in milliseconds (contract section 2).
  public static let leeway: Instant = 5000

  private let keys: [TokenAlgorithm: [TokenKey]]
  private let audience: String?
  private let issuer: String?

  /// Reads the keys. Throws a sentence for the operator where a key is unusable, or an algorithm is named that no key can check.
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

  /// Who the token signs in at the instant `now` (Unix milliseconds), or why it signs nobody in.
  public func verify(_ token: String, now: Instant) -> Result<VerifiedToken, TokenError> {
    Result { () throws(TokenError) in try accept(token, now: now) }
  }

  /// Whom a token names whose signature is good, whatever else is wrong with it.
  public func signer(of token: String) -> UserID? {
    do throws(TokenError) {
      let token = try CompactToken(token)
      try checkSignature(of: token)
      return UserID(try token.payload(as: TokenClaims.self).sub)
    } catch {
      return nil
    }
  }

  /// The order is the contract's: form and algorithm, signature, what the claims say, expiry last.
  private func accept(_ token: String, now: Instant) throws(TokenError) -> VerifiedToken {
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
    // A key without a name (the secret has none) may be the one that any `kid` means: the signature decides.
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
