import GroupModel
import ThrongTestKit
import WireProtocol

@testable import Gateway

/// Tokens that say what they are: `alice` is good for an hour, `alice~5000` for 5 s from now on,
/// `adm:alice` an administrator's; `expired`, `wrong` and `bad` are refused.
struct NamedTokens: TokenChecking {
  func owner(of token: String, at now: WallInstant) -> Result<TokenOwner, WireError> {
    switch token {
    case "expired": return .failure(WireError(.tokenExpired))
    case "wrong": return .failure(WireError(.tokenWrongSignature))
    case "bad": return .failure(WireError(.tokenMalformed))
    default: break
    }
    let isAdministrator = token.hasPrefix("adm:")
    let parts = token.dropFirst(isAdministrator ? 4 : 0).split(separator: "~")
    guard let first = parts.first, let user = UserID(String(first)) else { return .failure(WireError(.tokenMalformed)) }
    let life = parts.count > 1 ? Int64(parts[1]) ?? 0 : 3_600_000
    return .success(TokenOwner(userID: user, expiresAt: now + life, isAdministrator: isAdministrator))
  }
}
