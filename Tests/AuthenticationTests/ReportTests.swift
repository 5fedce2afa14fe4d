import Authentication
import Foundation
import GroupModel
import Testing

/// What `throng token check` prints (Operations.md, "Command line").
@Suite struct ReportTests {
  let forge: TokenForge

  init() throws { forge = try TokenForge() }

  private func report(_ token: String, audience: String? = nil, issuer: String? = nil) async throws -> TokenReport {
    let verifier = try await TokenVerifier(.init(secret: TokenForge.secret, audience: audience, issuer: issuer))
    return verifier.report(on: token, now: TokenForge.now)
  }

  private func rows(_ report: TokenReport) -> [String: String] {
    Dictionary(uniqueKeysWithValues: report.rows.map { ($0.name, $0.text) })
  }

  @Test func anAcceptedTokenIsToldInWords() async throws {
    let payload = #"{"sub":"alice","exp":1700003600,"iat":1699996400,"nbf":1700000000,"jti":"7","role":"vip","more":{}}"#
    let report = try await report(forge.token(payload: payload))
    #expect(report.isAccepted && report.warnings.isEmpty)
    #expect(report.rows.map(\.name) == ["header", "signature", "sub", "exp", "nbf", "iat", "jti", "others", "verdict"])
    let rows = rows(report)
    #expect(rows["header"] == #"alg "HS256""# && rows["signature"] == "good" && rows["sub"] == #""alice""#)
    #expect(rows["exp"] == "2023-11-14T23:13:20Z, in 60 minutes")
    #expect(rows["nbf"] == "2023-11-14T22:13:20Z, in 0 seconds")
    #expect(rows["iat"] == "2023-11-14T21:13:20Z, 60 minutes ago (only revokeTokens looks at it)")
    #expect(rows["others"] == "more, role (not read)" && rows["verdict"] == "accepted: signs in alice")
  }

  @Test func anAdministratorIsForTheInternalListener() async throws {
    let report = try await report(forge.token(payload: #"{"sub":"backend","exp":1700003600,"adm":true}"#))
    #expect(report.isAccepted && rows(report)["verdict"]?.contains("internal listener") == true)
    #expect(rows(report)["adm"]?.hasPrefix("true: an application administrator") == true)
  }

  /// The verdict names the first fault, the rows name all.
  @Test func allFaultsOfTheClaimsAreTold() async throws {
    let payload = #"{"sub":"550e8400-e29b-41d4-a716-446655440000","exp":"soon","adm":1}"#
    let report = try await report(forge.token(payload: payload), audience: "app", issuer: "me")
    #expect(!report.isAccepted)
    let rows = rows(report)
    #expect(rows["sub"]?.contains("36 bytes") == true && rows["exp"] == "exp is text, not a number of seconds")
    #expect(rows["adm"] == "adm is a number, not true or false")
    #expect(rows["aud"] == #"none; auth.audience wants "app""# && rows["iss"] == #"none; auth.issuer wants "me""#)
    #expect(rows["verdict"]?.hasPrefix("refused with 70003: sub ") == true && rows["signature"] == "good")
  }

  @Test func audienceAndIssuerAreCompared() async throws {
    let token = try await forge.token(payload: #"{"sub":"alice","exp":1700003600,"aud":["other","app"],"iss":"you"}"#)
    let free = rows(try await report(token))
    #expect(free["aud"] == #""other", "app" (not checked: auth.audience is not set)"#)
    let strict = try await report(token, audience: "app", issuer: "me")
    #expect(rows(strict)["aud"] == #""app", as auth.audience wants"# && rows(strict)["iss"] == #""you"; auth.issuer wants "me""#)
    #expect(!strict.isAccepted && rows(strict)["verdict"]?.contains("auth.issuer") == true)
  }

  @Test func aTokenOfAnotherKeyIsToldAsUnproven() async throws {
    let signer = TokenForge.Signer.secret(Array("another secret of thirty-two bytes".utf8))
    let report = try await report(forge.token(header: #"{"alg":"HS256"}"#, payload: TokenForge.goodPayload, by: signer))
    #expect(!report.isAccepted && rows(report)["signature"]?.hasPrefix("wrong") == true)
    #expect(rows(report)["sub"] == #""alice""# && rows(report)["verdict"]?.hasPrefix("refused with 70009") == true)
    let strange = try await self.report(forge.token(header: #"{"alg":"HS512"}"#, payload: TokenForge.goodPayload, by: signer))
    #expect(rows(strange)["signature"]?.hasPrefix("not checked") == true)
  }

  @Test func millisecondsWarn() async throws {
    let report = try await report(forge.token(payload: #"{"sub":"alice","exp":1700003600000}"#))
    #expect(report.isAccepted && report.warnings.count == 1)
    #expect(rows(report)["exp"]?.hasPrefix("the year 558") == true)
  }

  @Test(arguments: ["", "abc", "a.b.c", "💬.💬.💬", String(repeating: "x", count: 9000)])
  func whatIsNoTokenHasAVerdictToo(token: String) async throws {
    let report = try await report(token)
    #expect(!report.isAccepted && report.rows.last?.name == "verdict")
    #expect(report.rows.last?.text.hasPrefix("refused with 70003: ") == true)
  }

  /// Names and texts of a token reach a terminal escaped.
  @Test func controlCharactersAreEscaped() async throws {
    let payload = #"{"sub":"a\u001b[2J","exp":1700003600,"x\u001b":1,"jti":"\u0007"}"#
    let header = #"{"alg":"HS256","typ":"\u001b"}"#
    let report = try await report(forge.token(header: header, payload: payload, by: .secret(TokenForge.secret)))
    #expect(report.rows.allSatisfy { row in row.text.unicodeScalars.allSatisfy { $0.value >= 0x20 } })
  }

  @Test func theSecretIsNowhere() async throws {
    let secret = String(decoding: TokenForge.secret, as: UTF8.self)
    let report = try await report(forge.token(payload: TokenForge.goodPayload))
    #expect(!report.rows.contains { $0.text.contains(secret) })
  }
}
