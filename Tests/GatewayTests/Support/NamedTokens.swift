import GroupModel
import ThrongTestKit
import WireProtocol

@testable import Gateway

/// Tokens that say what they are: `alice` is good for an hour, `alice~5000` for 5 s from now on,
/// `adm:alice` an administrator's, `odd:alice` looks wrong, `iat5:alice` was issued 5 ms after 1970 and
/// not now, `noiat:alice` does not say when; `expired`, `wrong` and `bad` are refused, and so is
/// `stale`, alice's.
struct NamedTokens: TokenChecking {
  func check(_ token: String, at now: WallInstant) -> Result<AcceptedToken, TokenRefusal> {
    switch token {
    case "expired": return .failure(TokenRefusal(WireError(.tokenExpired)))
    case "wrong": return .failure(TokenRefusal(WireError(.tokenWrongSignature), reason: "another key"))
    case "bad": return .failure(TokenRefusal(WireError(.tokenMalformed), reason: "no token at all"))
    case "stale": return .failure(TokenRefusal(WireError(.tokenExpired, "stale since noon"), userID: "alice"))
    default: break
    }
    if token.hasPrefix("odd:"), let user = UserID(String(token.dropFirst(4))) {
      return .success(
        AcceptedToken(
          userID: user, expiresAt: now + 3_600_000, issuedAt: now, isAdministrator: false, warning: "it looks wrong"))
    }
    let isAdministrator = token.hasPrefix("adm:")
    let (issuedAt, name) = NamedTokens.issued(token.dropFirst(isAdministrator ? 4 : 0), now: now)
    let parts = name.split(separator: "~")
    guard let first = parts.first, let user = UserID(String(first)) else {
      return .failure(TokenRefusal(WireError(.tokenMalformed)))
    }
    let life = parts.count > 1 ? Int64(parts[1]) ?? 0 : 3_600_000
    return .success(
      AcceptedToken(userID: user, expiresAt: now + life, issuedAt: issuedAt, isAdministrator: isAdministrator))
  }

  /// When a token was issued, and the rest of its text.
  private static func issued(_ token: Substring, now: WallInstant) -> (WallInstant?, Substring) {
    guard let colon = token.firstIndex(of: ":") else { return (now, token) }
    let (prefix, name) = (token[..<colon], token[token.index(after: colon)...])
    if prefix == "noiat" { return (nil, name) }
    guard prefix.hasPrefix("iat"), let milliseconds = Int64(prefix.dropFirst(3)) else { return (now, token) }
    return (WallInstant(milliseconds: milliseconds), name)
  }
}
