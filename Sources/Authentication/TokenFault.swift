import Foundation
import GroupModel

/// Why a token is refused, in words for people (Protocol.md, "Tokens").
public struct TokenFault: Error, Sendable, Equatable {
  /// The code on the wire.
  public let code: TokenError
  /// What is wrong, a clause without capital and full stop: "it has no exp". Texts of the token in
  /// it are quoted and cut; it never holds a key.
  public let reason: String
  /// Whether a configured key has signed the token. Its client learns the reason only then.
  public let isSigned: Bool
  /// The user of a signed token; nil where its `sub` is no userID.
  public let userID: UserID?
  /// Whether the key that the token names may be at `auth.jwksURL`, and was not when that was read last.
  public let namesUnknownKey: Bool

  /// A fault of a token that no key is known to have signed.
  static func unsigned(_ code: TokenError, _ reason: String, namesUnknownKey: Bool = false) -> TokenFault {
    TokenFault(code: code, reason: reason, isSigned: false, userID: nil, namesUnknownKey: namesUnknownKey)
  }

  /// A fault in the claims of a token that a configured key has signed.
  static func signed(_ code: TokenError, _ reason: String, of user: UserID?) -> TokenFault {
    TokenFault(code: code, reason: reason, isSigned: true, userID: user, namesUnknownKey: false)
  }
}

/// The code of a refused token; the raw value is that on the wire.
public enum TokenError: Int, Sendable, CaseIterable {
  /// Its `exp` is past by more than the leeway, and all else is valid.
  case expired = 70001
  /// It is no token, or its `alg`, `exp`, `nbf`, `sub`, `aud` or `iss` is not accepted.
  case malformed = 70003
  /// Its signature is of no configured key.
  case wrongSignature = 70009
}

extension String {
  /// The text in quotes, control characters escaped, cut after 40 scalars: it may come from anybody.
  var quotedForReason: String {
    let shown = String(unicodeScalars.prefix(40))
    return (unicodeScalars.count > 40 ? shown + "…" : shown).debugDescription
  }
}

extension WallInstant {
  /// The instant for people: "2026-11-26T12:53:12Z"; the year alone before 1970 and from 10000 on.
  var textForPeople: String {
    guard (0..<253_402_300_800_000).contains(milliseconds) else { return "the year \(1970 + milliseconds / 31_556_952_000)" }
    return Date(timeIntervalSince1970: Double(milliseconds / 1000)).formatted(.iso8601)
  }

  /// How far the instant is from another: "in 59 minutes", "5 days ago".
  func distanceForPeople(from now: WallInstant) -> String {
    let seconds = self.milliseconds(since: now) / 1000
    let length = WallInstant.length(seconds: abs(seconds))
    return milliseconds >= now.milliseconds ? "in \(length)" : "\(length) ago"
  }

  /// A length of time in the largest unit of which there are two.
  private static func length(seconds: Int64) -> String {
    let units: [(seconds: Int64, name: String)] = [
      (31_556_952, "years"), (86_400, "days"), (3600, "hours"), (60, "minutes"),
    ]
    if let unit = units.first(where: { seconds >= 2 * $0.seconds }) { return "\(seconds / unit.seconds) \(unit.name)" }
    return seconds == 1 ? "1 second" : "\(seconds) seconds"
  }
}
