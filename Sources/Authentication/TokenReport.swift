import GroupModel

/// What `throng token check` says about a token: its header and claims in words, and whether a
/// server with these keys accepts it. It holds no key.
public struct TokenReport: Sendable, Equatable {
  /// A line of the report.
  public struct Row: Sendable, Equatable {
    /// The name of a claim, or `header`, `signature`, `verdict`.
    public let name: String
    /// On one line.
    public let text: String

    init(_ name: String, _ text: String) {
      self.name = name
      self.text = text
    }
  }

  /// The lines, the verdict last.
  public let rows: [Row]
  /// Sentences about what is accepted and looks wrong.
  public let warnings: [String]
  /// Whether the token signs in, or is an application administrator's, which the internal listener
  /// accepts.
  public let isAccepted: Bool
}

extension TokenVerifier {
  /// Explains any token, also one that nobody has signed, or that is none.
  public func report(on text: String, now: WallInstant) -> TokenReport {
    let result = verify(text, now: now)
    var rows: [TokenReport.Row] = []
    var warnings: [String] = []
    if let token = try? CompactToken(text) {
      rows.append(TokenReport.Row("header", TokenReport.list(token.members(of: .header))))
      rows.append(TokenReport.Row("signature", TokenReport.signature(result)))
      if let claims = token.members(of: .payload) {
        rows += claimRows(claims, addresses: token.read(.payload, as: AddressClaims.self), now: now)
        if case .number(let seconds)? = claims["exp"], let end = TokenClaims.instant(seconds),
          let warning = TokenClaims.warning(ofEnd: end, now: now)
        {
          warnings.append(warning)
        }
      } else {
        rows.append(TokenReport.Row("payload", "no JSON object in base64url"))
      }
    }
    rows.append(TokenReport.Row("verdict", TokenReport.verdict(result, now: now)))
    let isAccepted: Bool =
      switch result {
      case .success: true
      case .failure: false
      }
    return TokenReport(rows: rows, warnings: warnings, isAccepted: isAccepted)
  }

  /// A row for each claim; `sub` and `exp` have theirs where they are missing too.
  private func claimRows(_ claims: [String: TokenMember], addresses: AddressClaims?, now: WallInstant) -> [TokenReport.Row] {
    var rows: [TokenReport.Row] = []
    func add(_ name: String, _ text: String?) {
      if let text { rows.append(TokenReport.Row(name, text)) }
    }
    add("sub", TokenClaims.reason(ofUser: claims["sub"] ?? .null) ?? claims["sub"]?.shown)
    add("exp", TokenReport.date(claims["exp"] ?? .null, "exp", now: now))
    add("nbf", claims["nbf"].map { TokenReport.date($0, "nbf", now: now) })
    add("iat", claims["iat"].map { TokenReport.date($0, "iat", now: now) + " (only revokeTokens looks at it)" })
    add("adm", claims["adm"].map(TokenReport.administrator))
    add("aud", address(claims["aud"], names: addresses?.aud?.names, wanted: audience, key: "auth.audience"))
    add("iss", address(claims["iss"], names: addresses?.iss.map { [$0] }, wanted: issuer, key: "auth.issuer"))
    add("jti", claims["jti"].map { $0.shown + " (not checked)" })
    let known: Set = ["sub", "exp", "nbf", "iat", "adm", "aud", "iss", "jti"]
    let others = claims.keys.filter { !known.contains($0) }.sorted().map(\.nameForReport)
    add("others", others.isEmpty ? nil : others.joined(separator: ", ") + " (not read)")
    return rows
  }

  /// The text of `aud` or `iss`; nil where it is neither there nor demanded.
  private func address(_ value: TokenMember?, names: [String]?, wanted: String?, key: String) -> String? {
    let shown = names.map { $0.map(\.quotedForReason).joined(separator: ", ") } ?? value?.shown
    guard let wanted else { return shown.map { "\($0) (not checked: \(key) is not set)" } }
    if names?.contains(wanted) == true { return "\(wanted.quotedForReason), as \(key) wants" }
    return (shown ?? "none") + "; \(key) wants \(wanted.quotedForReason)"
  }
}

extension TokenReport {
  fileprivate static func list(_ members: [String: TokenMember]?) -> String {
    guard let members else { return "no JSON object in base64url" }
    let shown = members.sorted { $0.key < $1.key }.map { $0.key.nameForReport + " " + $0.value.shown }
    return shown.joined(separator: ", ")
  }

  fileprivate static func signature(_ result: Result<VerifiedToken, TokenFault>) -> String {
    switch result {
    case .success: "good"
    case .failure(let fault) where fault.isSigned: "good"
    case .failure(let fault) where fault.code == .wrongSignature: "wrong: what follows may have been written by anybody"
    case .failure: "not checked: what follows may have been written by anybody"
    }
  }

  fileprivate static func date(_ value: TokenMember, _ name: String, now: WallInstant) -> String {
    guard case .number(let seconds) = value else {
      return TokenClaims.reason(ofDate: value, name, isRequired: true) ?? value.shown
    }
    guard let instant = TokenClaims.instant(seconds) else { return "too large a number for a date in seconds" }
    return "\(instant.textForPeople), \(instant.distanceForPeople(from: now))"
  }

  fileprivate static func administrator(_ adm: TokenMember) -> String {
    if adm == .flag(true) { return "true: an application administrator, for the internal listener" }
    return TokenClaims.reason(ofFlag: adm) ?? adm.shown
  }

  fileprivate static func verdict(_ result: Result<VerifiedToken, TokenFault>, now: WallInstant) -> String {
    switch result {
    case .success(let token) where token.isAdministrator:
      "accepted on the internal listener, as application administrator; the public one answers 70003"
    case .success(let token):
      "accepted: signs in \(token.userID)"
    case .failure(let fault): "refused with \(fault.code.rawValue): \(fault.reason)"
    }
  }
}

extension String {
  /// The name of a member; in quotes where it is no word.
  fileprivate var nameForReport: String {
    let isWord = (1...40).contains(utf8.count) && utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
    return isWord ? self : quotedForReason
  }
}

extension TokenMember {
  /// The value for people: texts in quotes and cut, lists and objects by their kind.
  fileprivate var shown: String {
    switch self {
    case .text(let text): text.quotedForReason
    case .number(let number): number == number.rounded() && abs(number) < 1e15 ? "\(Int64(number))" : "\(number)"
    case .null, .flag, .list, .object, .unreadable: kind
    }
  }
}
