import Foundation
import GroupModel

/// Verifies the tokens that users sign in with (Protocol.md, "Tokens"), without state, on any
/// thread.
public struct TokenVerifier: Sendable {
  /// The keys, and the values that claims must have.
  public struct Configuration: Sendable {
    /// The HS256 secret, at least 32 bytes; nil where HS256 is not in use.
    public var secret: [UInt8]?
    /// The HS256 secret before it, whose tokens are good still; nil = none.
    public var previousSecret: [UInt8]?
    /// The key set (JWKS), nil where there is none, or none was read from its URL yet.
    public var keySet: Data?
    /// Where the key set is from.
    public var keySetSource: KeySetSource
    /// `auth.algorithms`; nil = HS256 where there is a secret, and those of the keys in the set.
    public var algorithms: [TokenAlgorithm]?
    /// The name that `aud` must contain; nil = any.
    public var audience: String?
    /// The value that `iss` must have; nil = any.
    public var issuer: String?

    public init(
      secret: [UInt8]?, previousSecret: [UInt8]? = nil, keySet: Data? = nil, keySetSource: KeySetSource = .file,
      algorithms: [TokenAlgorithm]? = nil, audience: String? = nil, issuer: String? = nil
    ) {
      self.secret = secret
      self.previousSecret = previousSecret
      self.keySet = keySet
      self.keySetSource = keySetSource
      self.algorithms = algorithms
      self.audience = audience
      self.issuer = issuer
    }
  }

  /// The tolerated difference of the issuer's clock and ours.
  public static let leeway = Duration.seconds(5)

  private let keys: [TokenAlgorithm: [TokenKey]]
  private let source: KeySetSource
  /// The algorithms of which the key set may have keys one day.
  private let remoteAlgorithms: Set<TokenAlgorithm>
  /// Whether the key set was not read yet: nobody knows which tokens it would accept.
  public let awaitsKeySet: Bool
  let audience: String?
  let issuer: String?

  /// Reads the keys.
  /// - Throws: a sentence for the operator where a key is unusable, or an algorithm has no key. A set from
  ///   a URL need not be there; one that is has a key at least.
  public init(_ configuration: Configuration) async throws(AuthenticationError) {
    var found: [TokenKey] = []
    // Without a secret HS256 is not in use, and a former one brings it not back.
    if let secret = configuration.secret {
      for secret in [secret, configuration.previousSecret].compactMap({ $0 }) { found.append(try TokenKey(secret: secret)) }
    }
    let (origin, isRemote) = (configuration.keySetSource, configuration.keySetSource == .url)
    if let keySet = configuration.keySet { found += try await JSONWebKeySet.tokenKeys(in: keySet, of: origin) }
    let byAlgorithm = Dictionary(grouping: found, by: \.algorithm)
    let accepted = configuration.algorithms ?? TokenAlgorithm.allCases
    let remote: Set<TokenAlgorithm> = isRemote ? Set(accepted.filter { $0 != .hs256 }) : []
    for algorithm in configuration.algorithms ?? [] where byAlgorithm[algorithm] == nil && !remote.contains(algorithm) {
      let source = algorithm == .hs256 ? "there is no secret" : "the JWKS file has no such key"
      throw AuthenticationError("auth.algorithms names \(algorithm.rawValue), but \(source)")
    }
    let usable = byAlgorithm.filter { configuration.algorithms?.contains($0.key) ?? true }
    let isAwaited = isRemote && configuration.keySet == nil
    if isRemote, !isAwaited, remote.isDisjoint(with: usable.keys) {
      throw AuthenticationError("auth.jwksURL holds no key for the algorithms of auth.algorithms")
    }
    guard !usable.isEmpty || isAwaited else {
      throw AuthenticationError("no algorithm is left that a token could be signed with")
    }
    keys = usable
    source = origin
    remoteAlgorithms = remote
    awaitsKeySet = isAwaited
    audience = configuration.audience
    issuer = configuration.issuer
  }

  /// The algorithms in use, in the order of `TokenAlgorithm`.
  public var algorithms: [TokenAlgorithm] { TokenAlgorithm.allCases.filter { keys[$0] != nil } }

  /// How many keys of the key set are in use.
  public var setKeyCount: Int { keys.reduce(0) { $1.key == .hs256 ? $0 : $0 + $1.value.count } }

  /// The content of a token that is valid at `now`, or the reason why it is not.
  public func verify(_ token: String, now: WallInstant) -> Result<VerifiedToken, TokenFault> {
    Result { () throws(TokenFault) in try accept(token, now: now) }
  }

  /// Checks in the order of Protocol.md, "Tokens": format, algorithm, signature, claims, expiry.
  private func accept(_ text: String, now: WallInstant) throws(TokenFault) -> VerifiedToken {
    let token = try CompactToken(text)
    try checkSignature(of: token)
    guard let claims = token.read(.payload, as: TokenClaims.self) else {
      throw TokenClaims.fault(in: token.members(of: .payload))
    }
    guard let userID = UserID(claims.sub) else {
      throw .signed(.malformed, TokenClaims.reason(ofUserID: claims.sub) ?? "sub is no userID", of: nil)
    }
    guard let expiresAt = TokenClaims.instant(claims.exp) else {
      throw .signed(.malformed, "exp is too large a number for a date in seconds", of: userID)
    }
    if let wrong = reason(ofStart: claims.nbf, now: now) ?? reason(ofAddressOf: token) {
      throw .signed(.malformed, wrong, of: userID)
    }
    guard now < expiresAt + TokenVerifier.leeway else {
      throw .signed(.expired, "exp was \(expiresAt.textForPeople), \(expiresAt.distanceForPeople(from: now))", of: userID)
    }
    return VerifiedToken(
      userID: userID, expiresAt: expiresAt, issuedAt: claims.iat?.seconds.flatMap(TokenClaims.instant),
      isAdministrator: claims.adm ?? false)
  }

  private func checkSignature(of token: CompactToken) throws(TokenFault) {
    guard let header = token.read(.header, as: TokenHeader.self) else {
      throw TokenHeader.fault(in: token.members(of: .header))
    }
    guard header.crit == nil else { throw .unsigned(.malformed, "its header has crit, and this server knows no extensions") }
    let named = TokenAlgorithm(rawValue: header.alg)
    let namesUnknownKey = named.map { isUnknown(header.kid, of: $0) } ?? false
    guard let algorithm = named, let keys = keys[algorithm] else {
      let accepted = algorithms.map(\.rawValue).joined(separator: ", ")
      let reason = awaitsKeySet ? "the keys of auth.jwksURL were not read yet" : "this server accepts \(accepted)"
      throw .unsigned(
        .malformed, "its alg is \(header.alg.quotedForReason); \(reason)", namesUnknownKey: namesUnknownKey)
    }
    // Any `kid` may mean a key without a name, such as the secret: the signature decides.
    let candidates = keys.filter { header.kid == nil || $0.identifier == nil || $0.identifier == header.kid }
    if candidates.isEmpty, let kid = header.kid {
      throw .unsigned(
        .wrongSignature, "its kid is \(kid.quotedForReason); \(source.key) has no \(algorithm.rawValue) key of that name",
        namesUnknownKey: namesUnknownKey)
    }
    guard let signature = token.signature, candidates.contains(where: { $0.verifies(signature, of: token.signedBytes) }) else {
      let hasNoKey = "no \(algorithm.rawValue) key of \(source.key) has signed it"
      throw .unsigned(
        .wrongSignature, algorithm == .hs256 ? "this server's secret has not signed it" : hasNoKey,
        namesUnknownKey: namesUnknownKey)
    }
  }

  /// Whether the key set may have come to have a key of that name since it was read.
  private func isUnknown(_ kid: String?, of algorithm: TokenAlgorithm) -> Bool {
    guard remoteAlgorithms.contains(algorithm) else { return false }
    guard let kid else { return awaitsKeySet }
    return keys[algorithm]?.contains { $0.identifier == kid } != true
  }

  /// What is wrong with `nbf`; nil where the token is valid already.
  private func reason(ofStart nbf: Double?, now: WallInstant) -> String? {
    guard let nbf else { return nil }
    guard let start = TokenClaims.instant(nbf) else { return "nbf is too large a number for a date in seconds" }
    guard start > now + TokenVerifier.leeway else { return nil }
    return "nbf is \(start.textForPeople), \(start.distanceForPeople(from: now))"
  }

  /// What is wrong with `aud` and `iss`; nil where they are as configured.
  private func reason(ofAddressOf token: CompactToken) -> String? {
    guard audience != nil || issuer != nil else { return nil }
    guard let claims = token.read(.payload, as: AddressClaims.self) else { return "aud or iss is not text" }
    if let audience, claims.aud?.names.contains(audience) != true {
      return "aud does not name \(audience.quotedForReason) (auth.audience)"
    }
    if let issuer, claims.iss != issuer { return "iss is not \(issuer.quotedForReason) (auth.issuer)" }
    return nil
  }
}

/// The content of a valid token.
public struct VerifiedToken: Sendable, Equatable {
  /// `sub`.
  public let userID: UserID
  /// `exp`, without the leeway.
  public let expiresAt: WallInstant
  /// `iat`; nil where it is missing or no date. Nothing but a revocation looks at it.
  public let issuedAt: WallInstant?
  /// Whether `adm` is true: an application administrator, for the internal listener only.
  public let isAdministrator: Bool

  /// A sentence for the operator about a token that is accepted and looks wrong; nil where it does
  /// not: `exp` is more than ten years ahead, most likely in milliseconds.
  public func warning(at now: WallInstant) -> String? { TokenClaims.warning(ofEnd: expiresAt, now: now) }
}

extension TokenClaims {
  /// No backend means a longer life; tokens in milliseconds live for 56,000 years.
  private static let longestLife: Int64 = 10 * 31_556_952_000

  static func warning(ofEnd end: WallInstant, now: WallInstant) -> String? {
    guard end.milliseconds(since: now) > longestLife else { return nil }
    return "exp is more than ten years ahead, \(end.textForPeople): it takes seconds, and these are most likely milliseconds"
  }
}
