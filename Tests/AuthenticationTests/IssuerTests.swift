import Authentication
import Foundation
import GroupModel
import JWTKit
import Testing

@Suite struct IssuerTests {
  @Test(arguments: [false, true])
  func issuedTokenSignsIn(isAdministrator: Bool) async throws {
    let issuer = try await TokenIssuer(secret: TokenForge.secret)
    let token = try issuer.issue(user: "alice", lifetime: .seconds(3600), isAdministrator: isAdministrator, now: TokenForge.now)
    let verified = try await TokenVerifier(.init(secret: TokenForge.secret)).verify(token, now: TokenForge.now).get()
    #expect(verified.userID == UserID("alice"))
    #expect(verified.isAdministrator == isAdministrator)
    #expect(verified.expiresAt == TokenForge.now + .seconds(3600))
  }

  @Test func audienceAndIssuerAreInTheToken() async throws {
    let issuer = try await TokenIssuer(secret: TokenForge.secret, audience: "app", issuer: "throng/test")
    let token = try issuer.issue(user: "alice", lifetime: .seconds(60), now: TokenForge.now)
    let strict = try await TokenVerifier(.init(secret: TokenForge.secret, audience: "app", issuer: "throng/test"))
    #expect(strict.verify(token, now: TokenForge.now).error == nil)
  }

  @Test func anotherLibraryReadsIt() async throws {
    struct Claims: JWTPayload {
      let sub: SubjectClaim
      let exp: ExpirationClaim
      let iat: IssuedAtClaim

      func verify(using algorithm: some JWTAlgorithm) throws {
        try exp.verifyNotExpired(currentDate: Date(timeIntervalSince1970: 1_700_000_000))
      }
    }
    let user = #"a"b\c/d"#
    let token = try await TokenIssuer(secret: TokenForge.secret).issue(user: user, lifetime: .seconds(60), now: TokenForge.now)
    let keys = await JWTKeyCollection().add(hmac: HMACKey(from: TokenForge.secret), digestAlgorithm: .sha256)
    let claims = try await keys.verify(token, as: Claims.self)
    #expect(claims.sub.value == user)
    #expect(claims.exp.value.timeIntervalSince(claims.iat.value) == 60)
  }

  @Test(arguments: ["", "@alice", "administrator", "al ice", "alicé", String(repeating: "a", count: 33)])
  func badNameIsRefused(name: String) async throws {
    let issuer = try await TokenIssuer(secret: TokenForge.secret)
    #expect(throws: AuthenticationError.self) { try issuer.issue(user: name, lifetime: .seconds(60), now: TokenForge.now) }
  }

  @Test func shortSecretIsRefused() async {
    await #expect(throws: AuthenticationError.self) { try await TokenIssuer(secret: Array("short".utf8)) }
  }
}

@Suite struct APIKeyTests {
  @Test(arguments: [
    ("key", "key", true), ("key", "kez", false), ("key", "aey", false), ("key", "ke", false), ("key", "keykey", false),
    ("key", "", false), ("", "", false), ("", "x", false), ("schlüssel", "schlüssel", true), ("aa", "a", false),
    ("a", "aaa", false),
  ])
  func onlyTheKeyMatches(key: String, candidate: String, isMatch: Bool) {
    #expect(APIKey(key).matches(candidate) == isMatch)
  }
}
