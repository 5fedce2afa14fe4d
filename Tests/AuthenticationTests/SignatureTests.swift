import Authentication
import Foundation
import JWTKit
import Testing

/// The keys that may have signed a token (Protocol.md, "Tokens").
@Suite struct SignatureTests {
  let forge: TokenForge
  /// Secret and file together, every algorithm in use.
  let verifier: TokenVerifier

  init() async throws {
    forge = try TokenForge()
    let keySet = TokenForge.keySet(try forge.rsaJWK(), try forge.ecJWK(), forge.edJWK())
    verifier = try await TokenVerifier(.init(secret: TokenForge.secret, keySet: keySet))
  }

  private func result(header: String, payload: String = TokenForge.goodPayload, by signer: TokenForge.Signer) async throws
    -> TokenError?
  {
    verifier.verify(try await forge.token(header: header, payload: payload, by: signer), now: TokenForge.now).error
  }

  @Test func everyAlgorithmIsInUse() {
    #expect(verifier.algorithms == TokenAlgorithm.allCases)
  }

  @Test(arguments: [
    (#"{"alg":"HS256"}"#, TokenForge.Signer.secret(TokenForge.secret)), (#"{"alg":"RS256"}"#, .rsa), (#"{"alg":"ES256"}"#, .ec),
    (#"{"alg":"EdDSA"}"#, .ed), (#"{"alg":"RS256","kid":"rsa","typ":"JWT"}"#, .rsa), (#"{"alg":"ES256","kid":"ec"}"#, .ec),
    (#"{"alg":"EdDSA","kid":"ed"}"#, .ed), (#"{"alg":"HS256","kid":"any"}"#, .secret(TokenForge.secret)),
    (#"{"alg":"ES256","kid":null}"#, .ec),
  ])
  func accepted(header: String, signer: TokenForge.Signer) async throws {
    #expect(try await result(header: header, by: signer) == nil)
  }

  @Test(arguments: [
    (#"{"alg":"HS256"}"#, TokenForge.Signer.secret(Array("another secret of thirty-two bytes".utf8))),
    (#"{"alg":"RS256"}"#, .otherRSA), (#"{"alg":"ES256"}"#, .otherEC), (#"{"alg":"RS256","kid":"other"}"#, .rsa),
    (#"{"alg":"ES256","kid":"rsa"}"#, .ec), (#"{"alg":"EdDSA","kid":""}"#, .ed), (#"{"alg":"EdDSA"}"#, .ec),
    (#"{"alg":"ES256"}"#, .ed), (#"{"alg":"RS256"}"#, .secret(TokenForge.secret)), (#"{"alg":"HS256"}"#, .rsa),
  ])
  func wrongKey(header: String, signer: TokenForge.Signer) async throws {
    #expect(try await result(header: header, by: signer) == .wrongSignature)
  }

  /// While a secret is changed, tokens of the former one are good, with and without a kid.
  @Test func theFormerSecretVerifiesToo() async throws {
    let former = Array("the former secret of thirty-two b".utf8)
    let third = Array("a third secret, of thirty-two byt".utf8)
    let both = try await TokenVerifier(.init(secret: TokenForge.secret, previousSecret: former))
    for header in [#"{"alg":"HS256"}"#, #"{"alg":"HS256","kid":"any"}"#] {
      for (secret, expected) in [(TokenForge.secret, nil), (former, nil), (third, TokenError.wrongSignature)] {
        let token = try await forge.token(header: header, payload: TokenForge.goodPayload, by: .secret(secret))
        #expect(both.verify(token, now: TokenForge.now).error == expected)
      }
    }
    let expired = try await forge.token(
      header: #"{"alg":"HS256"}"#, payload: #"{"sub":"alice","exp":1}"#, by: .secret(former))
    #expect(both.verify(expired, now: TokenForge.now).error == .expired)
    await #expect(throws: AuthenticationError.self) {
      try await TokenVerifier(.init(secret: TokenForge.secret, previousSecret: Array("too short".utf8)))
    }
  }

  /// Where HS256 is not in use, a former secret signs nobody in.
  @Test func aFormerSecretAloneIsNone() async throws {
    let keySet = TokenForge.keySet(try forge.ecJWK())
    let verifier = try await TokenVerifier(.init(secret: nil, previousSecret: TokenForge.secret, keySet: keySet))
    #expect(verifier.algorithms == [.es256])
    let token = try await forge.token(payload: TokenForge.goodPayload)
    #expect(verifier.verify(token, now: TokenForge.now).error == .malformed)
  }

  @Test(arguments: [
    "none", "None", "NONE", "", "hs256", "HS384", "HS512", "RS512", "PS256", "ES384", "Ed25519", "HS256 ",
  ])
  func otherAlgorithm(name: String) async throws {
    #expect(try await result(header: #"{"alg":"\#(name)"}"#, by: .secret(TokenForge.secret)) == .malformed)
  }

  @Test(arguments: [
    "{}", #"{"alg":null}"#, #"{"alg":7}"#, #"{"alg":["HS256"]}"#, #"{"alg":"HS256","kid":7}"#, "[]", "", "HS256",
    #"{"alg":"HS256","crit":["exp"]}"#, #"{"alg":"HS256","crit":[],"b64":false}"#,
  ])
  func badHeader(header: String) async throws {
    #expect(try await result(header: header, by: .secret(TokenForge.secret)) == .malformed)
  }

  @Test func noneWithoutSignatureIsMalformed() {
    let token = "\(TokenForge.base64URL(#"{"alg":"none"}"#.utf8)).\(TokenForge.base64URL(TokenForge.goodPayload.utf8))."
    #expect(verifier.verify(token, now: TokenForge.now).error == .malformed)
  }

  /// The classic confusion: the public key is known to all, so it must never serve as a shared
  /// secret.
  @Test func publicKeyIsNoSecret() async throws {
    let numbers = try forge.rsa.publicKey.getKeyPrimitives()
    let publicTexts = [
      Array(forge.rsa.publicKey.pemRepresentation.utf8), Array((forge.rsa.publicKey.pemRepresentation + "\n").utf8),
      Array(forge.rsa.publicKey.derRepresentation), Array(numbers.modulus), Array(TokenForge.base64URL(numbers.modulus).utf8),
      Array(try forge.rsaJWK().utf8), Array(forge.ec.publicKey.pemRepresentation.utf8),
    ]
    for text in publicTexts {
      for header in [#"{"alg":"HS256"}"#, #"{"alg":"HS256","kid":"rsa"}"#, #"{"alg":"RS256","kid":"rsa"}"#] {
        #expect(try await result(header: header, by: .secret(text)) == .wrongSignature)
      }
    }
  }

  @Test func fileWithoutSecretTakesNoHS256() async throws {
    let verifier = try await TokenVerifier(.init(secret: nil, keySet: TokenForge.keySet(try forge.rsaJWK())))
    #expect(verifier.algorithms == [.rs256])
    let modulus = Array(try forge.rsa.publicKey.getKeyPrimitives().modulus)
    let token = try await forge.token(header: #"{"alg":"HS256"}"#, payload: TokenForge.goodPayload, by: .secret(modulus))
    #expect(verifier.verify(token, now: TokenForge.now).error == .malformed)
  }

  @Test func configuredAlgorithmsLeaveTheOthersOut() async throws {
    let keySet = TokenForge.keySet(try forge.rsaJWK(), try forge.ecJWK())
    let verifier = try await TokenVerifier(.init(secret: TokenForge.secret, keySet: keySet, algorithms: [.es256]))
    let cases: [(String, TokenForge.Signer, TokenError?)] = [
      ("ES256", .ec, nil), ("RS256", .rsa, .malformed), ("HS256", .secret(TokenForge.secret), .malformed),
    ]
    for (name, signer, error) in cases {
      let token = try await forge.token(header: #"{"alg":"\#(name)"}"#, payload: TokenForge.goodPayload, by: signer)
      #expect(verifier.verify(token, now: TokenForge.now).error == error)
    }
  }

  @Test func everyKeyOfTheAlgorithmIsTried() async throws {
    let second = TokenForge.keySet(
      try TokenForge().ecJWK(kid: "old"), try forge.ecJWK(kid: "new"), try TokenForge().ecJWK(kid: nil))
    let verifier = try await TokenVerifier(.init(secret: nil, keySet: second))
    let cases: [(String, TokenError?)] = [
      (#"{"alg":"ES256"}"#, nil), (#"{"alg":"ES256","kid":"new"}"#, nil), (#"{"alg":"ES256","kid":"old"}"#, .wrongSignature),
    ]
    for (header, error) in cases {
      let token = try await forge.token(header: header, payload: TokenForge.goodPayload, by: .ec)
      #expect(verifier.verify(token, now: TokenForge.now).error == error)
    }
  }

  @Test(arguments: [#"{"sub":"alice","exp":1}"#, #"{"sub":"@","exp":1700003600}"#, #"{"sub":"alice"}"#, "no json"])
  func signatureIsCheckedBeforeClaims(payload: String) async throws {
    #expect(try await result(header: #"{"alg":"ES256"}"#, payload: payload, by: .otherEC) == .wrongSignature)
  }
}
