import Authentication
import GroupModel
import Testing

/// The rules of claims (Protocol.md, "Tokens"), each with a correctly signed HS256 token.
@Suite struct ClaimTests {
  let forge: TokenForge
  let verifier: TokenVerifier

  init() async throws {
    forge = try TokenForge()
    verifier = try await TokenVerifier(.init(secret: TokenForge.secret))
  }

  @Test func goodTokenTellsWhoAndUntilWhen() async throws {
    let token = try await forge.token(payload: #"{"sub":"alice","exp":1700003600,"iat":1,"jti":"x","aud":7,"iss":[]}"#)
    let verified = try verifier.verify(token, now: TokenForge.now).get()
    #expect(verified.userID == UserID("alice"))
    #expect(verified.expiresAt == TokenForge.now + .seconds(3600))
    #expect(!verified.isAdministrator)
  }

  /// A revocation looks at it, and nothing else: no token is refused for its `iat`.
  @Test(
    arguments: [
      (#","iat":1"#, 1000), (#","iat":1700000000.25"#, 1_700_000_000_250), (#","iat":0"#, 0), (#","iat":-1"#, -1000),
      (#","iat":9007199254740"#, 9_007_199_254_740_000), ("", nil), (#","iat":null"#, nil), (#","iat":"1""#, nil),
      (#","iat":true"#, nil), (#","iat":[1]"#, nil), (#","iat":{"a":1}"#, nil), (#","iat":1e300"#, nil), (#","iat":1e999"#, nil),
    ] as [(String, Int64?)])
  func theInstantOfIssueIsReadWhereItIsADate(claim: String, milliseconds: Int64?) async throws {
    let token = try await forge.token(payload: #"{"sub":"alice","exp":1700003600\#(claim)}"#)
    let verified = try verifier.verify(token, now: TokenForge.now).get()
    #expect(verified.issuedAt == milliseconds.map { WallInstant(milliseconds: $0) })
  }

  @Test func administratorIsWhoSaysSo() async throws {
    let token = try await forge.token(payload: #"{"sub":"backend","exp":1700003600,"adm":true}"#)
    #expect(try verifier.verify(token, now: TokenForge.now).get().isAdministrator)
  }

  @Test(arguments: [
    #"{"sub":"alice","exp":1700003600,"adm":false}"#,
    #"{"sub":"alice","exp":1700003600,"adm":null,"nbf":null}"#,
    #"{"sub":"alice","exp":1700003600,"nbf":1700000005}"#,
    #"{"sub":"alice","exp":1700003600,"nbf":-1e9}"#,
    #"{"sub":"alice","exp":1.7000036e9}"#,
    #"{"sub":"alice","exp":1699999996}"#,
    #"{"sub":"~!#$%^&*()_+{}|:<>?-=[];',./","exp":9007199254740}"#,
    #"{"sub":"12345678901234567890123456789012","exp":1700003600}"#,
    #"{"sub":"Administrator","exp":1700003600}"#,
  ])
  func accepted(payload: String) async throws {
    let result = verifier.verify(try await forge.token(payload: payload), now: TokenForge.now)
    #expect(throws: Never.self) { try result.get() }
  }

  @Test(arguments: [
    #"{"sub":"alice"}"#, #"{"sub":"alice","exp":null}"#, #"{"sub":"alice","exp":"1700003600"}"#,
    #"{"sub":"alice","exp":true}"#, #"{"sub":"alice","exp":"NaN"}"#, #"{"sub":"alice","exp":NaN}"#,
    #"{"sub":"alice","exp":1e300}"#, #"{"sub":"alice","exp":-1e300}"#, #"{"sub":"alice","exp":1e999}"#,
    #"{"sub":"alice","exp":9007199254740.992}"#, #"{"sub":"alice","exp":9223372036854775807}"#,
    #"{"sub":"alice","exp":99999999999999999999999999}"#,
    #"{"sub":"alice","exp":1700003600,"nbf":1700000006}"#, #"{"sub":"alice","exp":1700003600,"nbf":1e300}"#,
    #"{"sub":"alice","exp":1700003600,"nbf":"0"}"#,
    #"{"exp":1700003600}"#, #"{"sub":7,"exp":1700003600}"#, #"{"sub":"","exp":1700003600}"#,
    #"{"sub":"@alice","exp":1700003600}"#, #"{"sub":"administrator","exp":1700003600}"#,
    #"{"sub":"al ice","exp":1700003600}"#, #"{"sub":"alicé","exp":1700003600}"#, #"{"sub":"a\u0000","exp":1700003600}"#,
    #"{"sub":"123456789012345678901234567890123","exp":1700003600}"#,
    #"{"sub":"alice","exp":1700003600,"adm":"true"}"#, #"{"sub":"alice","exp":1700003600,"adm":1}"#,
    #"[]"#, #""alice""#, "", "not json", #"{"sub":"alice","exp":1700003600"#,
    String(repeating: "[", count: 5000),
  ])
  func malformed(payload: String) async throws {
    let token = try await forge.token(payload: payload)
    #expect(verifier.verify(token, now: TokenForge.now).error == .malformed)
  }

  @Test(arguments: [
    (#"{"sub":"alice","exp":1700000000}"#, Int64(1_700_000_004_999), nil),
    (#"{"sub":"alice","exp":1700000000}"#, 1_700_000_005_000, TokenError.expired),
    (#"{"sub":"alice","exp":1700000000.25}"#, 1_700_000_005_249, nil),
    (#"{"sub":"alice","exp":1700000000.25}"#, 1_700_000_005_250, .expired),
    (#"{"sub":"alice","exp":0}"#, 1_700_000_000_000, .expired), (#"{"sub":"alice","exp":-1e9}"#, 1_700_000_000_000, .expired),
    (#"{"sub":"@alice","exp":0}"#, 1_700_000_000_000, .malformed),
  ])
  func expiry(payload: String, now: Int64, error: TokenError?) async throws {
    let result = verifier.verify(try await forge.token(payload: payload), now: WallInstant(milliseconds: now))
    #expect(result.error == error)
  }

  @Test func anExpiredTokenStillTellsWhoseItIsAndAForgedOneDoesNot() async throws {
    let expired = try await forge.token(payload: #"{"sub":"alice","exp":0}"#)
    func user(_ token: String) -> UserID? { verifier.verify(token, now: TokenForge.now).fault?.userID }
    #expect(user(expired)?.rawValue == "alice")
    #expect(user(String(expired.dropLast(4)) + "AAAA") == nil && user("no token") == nil)
    #expect(user(try await forge.token(payload: #"{"sub":"@alice","exp":0}"#)) == nil)
  }

  @Test(
    arguments: [
      ("app", nil, #","aud":"app""#, true), ("app", nil, #","aud":["other","app"]"#, true), ("app", nil, "", false),
      ("app", nil, #","aud":"application""#, false), ("app", nil, #","aud":[]"#, false), ("app", nil, #","aud":7"#, false),
      (nil, "me", #","iss":"me""#, true), (nil, "me", #","iss":"you""#, false), (nil, "me", "", false),
      (nil, "me", #","iss":["me"]"#, false), ("app", "me", #","aud":"app","iss":"me""#, true),
      ("app", "me", #","aud":"app""#, false),
    ] as [(String?, String?, String, Bool)])
  func audienceAndIssuer(audience: String?, issuer: String?, claims: String, isGood: Bool) async throws {
    let verifier = try await TokenVerifier(.init(secret: TokenForge.secret, audience: audience, issuer: issuer))
    let token = try await forge.token(payload: #"{"sub":"alice","exp":1700003600\#(claims)}"#)
    #expect(verifier.verify(token, now: TokenForge.now).error == (isGood ? nil : .malformed))
  }
}

extension Result where Success == VerifiedToken, Failure == TokenFault {
  /// The code of the failure, or nil.
  var error: TokenError? { fault?.code }

  /// Why it failed, or nil.
  var fault: TokenFault? {
    switch self {
    case .success: nil
    case .failure(let fault): fault
    }
  }
}
