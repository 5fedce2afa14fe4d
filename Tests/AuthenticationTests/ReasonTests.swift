import Authentication
import Foundation
import GroupModel
import Testing

/// Each refusal says what is wrong (Protocol.md, "Tokens").
@Suite struct ReasonTests {
  let forge: TokenForge
  let verifier: TokenVerifier

  init() async throws {
    forge = try TokenForge()
    verifier = try await TokenVerifier(.init(secret: TokenForge.secret))
  }

  private func fault(payload: String) async throws -> TokenFault? {
    verifier.verify(try await forge.token(payload: payload), now: TokenForge.now).fault
  }

  private func fault(header: String) async throws -> TokenFault? {
    let token = try await forge.token(header: header, payload: TokenForge.goodPayload, by: .secret(TokenForge.secret))
    return verifier.verify(token, now: TokenForge.now).fault
  }

  // MARK: Signed

  @Test(arguments: [
    (#"{"sub":"alice"}"#, "it has no exp"), (#"{"sub":"alice","exp":null}"#, "it has no exp"),
    (#"{"sub":"alice","exp":"1700003600"}"#, "exp is text, not a number of seconds"),
    (#"{"sub":"alice","exp":true}"#, "exp is true, not a number of seconds"),
    (#"{"sub":"alice","exp":[]}"#, "exp is a list, not a number of seconds"),
    (#"{"sub":"alice","exp":{}}"#, "exp is an object, not a number of seconds"),
    (#"{"sub":"alice","exp":1e300}"#, "exp is too large a number for a date in seconds"),
    (#"{"sub":"alice","exp":1700003600,"nbf":"0"}"#, "nbf is text, not a number of seconds"),
    (#"{"sub":"alice","exp":1700003600,"nbf":1e300}"#, "nbf is too large a number for a date in seconds"),
    (#"{"sub":"alice","exp":1700003600,"nbf":1700000600}"#, "nbf is 2023-11-14T22:23:20Z, in 10 minutes"),
    (#"{"sub":"alice","exp":1700003600,"adm":"true"}"#, "adm is text, not true or false"),
    (#"{"sub":"alice","exp":1699990000}"#, "exp was 2023-11-14T19:26:40Z, 2 hours ago"),
    (#"{"sub":"alice","exp":1699999994}"#, "exp was 2023-11-14T22:13:14Z, 6 seconds ago"),
  ])
  func aSignedTokenNamesItsUserToo(payload: String, reason: String) async throws {
    let found = try #require(try await fault(payload: payload))
    #expect(found.reason == reason)
    #expect(found.isSigned && found.userID == UserID("alice"))
    #expect(found.code == (reason.hasPrefix("exp was") ? .expired : .malformed))
  }

  @Test(arguments: [
    (#"{"exp":1700003600}"#, "it has no sub"), (#"{"sub":7,"exp":1700003600}"#, "sub is a number, not text"),
    (#"{"sub":"","exp":1700003600}"#, "sub is empty; a userID has 1 to 32 bytes"),
    (
      #"{"sub":"550e8400-e29b-41d4-a716-446655440000","exp":1700003600}"#,
      #"sub "550e8400-e29b-41d4-a716-446655440000" has 36 bytes; a userID has 1 to 32"#
    ),
    (#"{"sub":"@alice","exp":1700003600}"#, #"sub "@alice" begins with @"#),
    (#"{"sub":"administrator","exp":1700003600}"#, "sub is administrator, under which no user signs in"),
    (#"{"sub":"al ice","exp":1700003600}"#, #"sub "al ice" has a character that is not visible ASCII"#),
    (#"{"sub":"a\nb","exp":1700003600}"#, #"sub "a\nb" has a character that is not visible ASCII"#),
    ("[]", "its payload is no JSON object in base64url"), ("not json", "its payload is no JSON object in base64url"),
  ])
  func aSignedTokenWithoutUserHasNone(payload: String, reason: String) async throws {
    let found = try #require(try await fault(payload: payload))
    #expect(found.reason == reason)
    #expect(found.isSigned && found.userID == nil && found.code == .malformed)
  }

  @Test func aLongSubIsCut() async throws {
    let found = try #require(try await fault(payload: #"{"sub":"\#(String(repeating: "x", count: 5000))","exp":1700003600}"#))
    #expect(found.reason.utf8.count < 100 && found.reason.contains("5000 bytes"))
  }

  @Test func audienceAndIssuerAreNamedWithTheirKeys() async throws {
    let strict = try await TokenVerifier(.init(secret: TokenForge.secret, audience: "app", issuer: "me"))
    for (claims, reason) in [
      (#","iss":"me""#, #"aud does not name "app" (auth.audience)"#),
      (#","aud":"app","iss":"you""#, #"iss is not "me" (auth.issuer)"#),
      (#","aud":7,"iss":"me""#, "aud or iss is not text"),
    ] {
      let token = try await forge.token(payload: #"{"sub":"alice","exp":1700003600\#(claims)}"#)
      let found = try #require(strict.verify(token, now: TokenForge.now).fault)
      #expect(found.reason == reason && found.isSigned && found.userID == UserID("alice"))
    }
  }

  // MARK: Not signed

  @Test(arguments: [
    (#"{"alg":"HS512"}"#, #"its alg is "HS512"; this server accepts HS256"#),
    (#"{"alg":"none"}"#, #"its alg is "none"; this server accepts HS256"#),
    (#"{"alg":"RS256"}"#, #"its alg is "RS256"; this server accepts HS256"#),
    ("{}", "its header has no alg"), (#"{"alg":7}"#, "the alg of its header is a number, not text"),
    (#"{"alg":"HS256","kid":7}"#, "the kid of its header is a number, not text"),
    (#"{"alg":"HS256","crit":["exp"]}"#, "its header has crit, and this server knows no extensions"),
    ("[]", "its header is no JSON object in base64url"),
  ])
  func aHeader(header: String, reason: String) async throws {
    let found = try #require(try await fault(header: header))
    #expect(found.reason == reason)
    #expect(!found.isSigned && found.userID == nil && found.code == .malformed)
  }

  @Test(arguments: [
    ("", "it is empty"), ("abc", "it is not three parts with a dot between two of them"),
    ("a.b.c.d", "it is not three parts with a dot between two of them"),
    ("a. b.c", "it holds a character that base64url does not have, such as a blank, a quote or ="),
    (String(repeating: "x", count: 8193), "it has 8193 bytes, and a token at most 8192"),
  ])
  func aText(token: String, reason: String) throws {
    let found = try #require(verifier.verify(token, now: TokenForge.now).fault)
    #expect(found.reason == reason && !found.isSigned && found.code == .malformed)
  }

  @Test func aSignatureOrKeyIsNamedByItsKind() async throws {
    let keySet = TokenForge.keySet(try forge.ecJWK(kid: "ec"))
    let verifier = try await TokenVerifier(.init(secret: TokenForge.secret, keySet: keySet))
    let cases: [(String, TokenForge.Signer, String)] = [
      (#"{"alg":"HS256"}"#, .ec, "this server's secret has not signed it"),
      (#"{"alg":"ES256"}"#, .otherEC, "no ES256 key of auth.jwksFile has signed it"),
      (#"{"alg":"ES256","kid":"new"}"#, .ec, #"its kid is "new"; auth.jwksFile has no ES256 key of that name"#),
    ]
    for (header, signer, reason) in cases {
      let token = try await forge.token(header: header, payload: TokenForge.goodPayload, by: signer)
      let found = try #require(verifier.verify(token, now: TokenForge.now).fault)
      #expect(found.reason == reason && !found.isSigned && found.userID == nil && found.code == .wrongSignature)
    }
  }

  // MARK: Accepted

  @Test(arguments: [
    ("1700003600", false), ("2015000000", false), ("2016000000", true), ("1700003600000", true), ("9007199254740", true),
  ])
  func anEndInMillisecondsWarns(exp: String, warns: Bool) async throws {
    let token = try await forge.token(payload: #"{"sub":"alice","exp":\#(exp)}"#)
    let warning = try verifier.verify(token, now: TokenForge.now).get().warning(at: TokenForge.now)
    #expect((warning != nil) == warns)
    #expect(warning?.contains("milliseconds") ?? true)
  }
}
