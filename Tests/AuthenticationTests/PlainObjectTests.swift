import Foundation
import GroupModel
import Testing

@testable import Authentication

/// A part of a token that is read without Foundation says what Foundation reads.
@Suite struct PlainObjectTests {
  @Test(arguments: [
    #"{"sub":"alice","exp":1700003600}"#, #"{"exp":-5,"sub":"","nbf":0,"iat":123456789012345,"adm":true}"#,
    #"{"iss":"x","sub":"a~ b","jti":"","aud":null,"exp":-0,"adm":false,"n":true}"#,
  ])
  func tokensOfLibrariesArePlain(payload: String) throws {
    let plain = try #require(TokenClaims(plain: Array(payload.utf8)))
    #expect(TestClaims(plain) == TestClaims(try JSONDecoder().decode(TokenClaims.self, from: Data(payload.utf8))))
  }

  @Test func headersOfLibrariesArePlain() throws {
    let header = try #require(TokenHeader(plain: Array(#"{"alg":"ES256","typ":"JWT","kid":"a"}"#.utf8)))
    #expect(header.alg == "ES256" && header.kid == "a" && header.crit == nil)
    #expect(try #require(TokenHeader(plain: Array(#"{"typ":"JWT","alg":"HS256"}"#.utf8))).kid == nil)
  }

  @Test(arguments: [
    "", "{", "{}", #"{"alg":"a""#, #"{"alg":"a"}x"#, #"{"alg":"a",}"#, #"{"alg":"a","alg":"b"}"#, #"{"alg":1}"#, #"{"alg":null}"#,
    #"{"alg":"a","kid":null}"#, #"{"alg":"a","kid":"a","kid":"b"}"#, #"{"alg":"a","crit":[]}"#, #"{"alg":"a","crit":null}"#,
    #"{"alg":"\u0061"}"#, #"{"alg":"é"}"#, #"{"alg":"a\#u{7F}"}"#, #"{"alg":"a\#n"}"#, #"{ "alg":"a"}"#, #"{"alg": "a"}"#,
    #"{"alg":"a","x":[]}"#, #"{"alg":"a","x":{}}"#, #"{"alg":"a","x":1.5}"#, #"{"alg":"a","x":1e3}"#, #"{"alg":"a","x":01}"#,
    #"{"alg":"a","x":-}"#, #"{"alg":"a","x":1234567890123456}"#, #"{"alg":"a","x":tru}"#, #"{"alg":"a","x":nullx}"#,
    #"{"alg":"a" "x":1}"#, #"{"alg":"a","x"}"#, #"{"alg":"a","x":}"#, #"["alg","a"]"#, #"{alg:"a"}"#,
  ])
  func anotherFormIsLeftToFoundation(header: String) {
    #expect(TokenHeader(plain: Array(header.utf8)) == nil)
  }

  @Test func whatIsPlainIsWhatFoundationReads() {
    var random = SystemRandomNumberGenerator()
    let pieces = [
      "{", "}", ",", ":", #""sub""#, #""exp""#, #""nbf""#, #""iat""#, #""adm""#, #""x""#, #""alice""#, #""""#, "1", "0", "-7",
      "00", "1700003600", "1.5", "1e2", "true", "false", "null", " ", "[", "]", "\\", "\u{1}", "é",
    ]
    var plainCount = 0
    for _ in 0..<50_000 {
      // Half of a token, and then anything.
      var text = Bool.random(using: &random) ? #"{"sub":"alice","exp":1"# : "{"
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        text += [",", ""].randomElement(using: &random) ?? ""
        text += #""\#(["sub", "exp", "nbf", "iat", "adm", "x"].randomElement(using: &random) ?? "")":"#
        text += pieces.randomElement(using: &random) ?? ""
      }
      text += Int.random(in: 0..<8, using: &random) == 0 ? pieces.randomElement(using: &random) ?? "" : "}"
      guard let plain = TokenClaims(plain: Array(text.utf8)) else { continue }
      plainCount += 1
      let read = try? JSONDecoder().decode(TokenClaims.self, from: Data(text.utf8))
      #expect(read.map(TestClaims.init) == TestClaims(plain), "\(text)")
    }
    #expect(plainCount > 100)
  }
}

/// The members of claims, to be compared.
private struct TestClaims: Equatable {
  let sub: String
  let exp: Double
  let nbf, iat: Double?
  let adm: Bool?

  init(_ claims: TokenClaims) {
    (sub, exp, nbf, iat, adm) = (claims.sub, claims.exp, claims.nbf, claims.iat?.seconds, claims.adm)
  }
}
