import GroupModel
import ThrongTestKit
import WireProtocol

@testable import Gateway

/// Tokens that say what they are: `alice` is good for an hour, `alice~5000` for 5 s from now on,
/// `adm:alice` an administrator's, `odd:alice` looks wrong; `expired`, `wrong` and `bad` are
/// refused, and so is `stale`, alice's.
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
      return .success(AcceptedToken(userID: user, expiresAt: now + 3_600_000, isAdministrator: false, warning: "it looks wrong"))
    }
    let isAdministrator = token.hasPrefix("adm:")
    let parts = token.dropFirst(isAdministrator ? 4 : 0).split(separator: "~")
    guard let first = parts.first, let user = UserID(String(first)) else {
      return .failure(TokenRefusal(WireError(.tokenMalformed)))
    }
    let life = parts.count > 1 ? Int64(parts[1]) ?? 0 : 3_600_000
    return .success(AcceptedToken(userID: user, expiresAt: now + life, isAdministrator: isAdministrator))
  }
}
