import Authentication
import Foundation
import Testing

/// Tokens whose keys come from `auth.jwksURL`.
@Suite struct RemoteKeyTests {
  let forge: TokenForge

  init() throws { forge = try TokenForge() }

  private func remote(
    _ keySet: Data?, secret: [UInt8]? = nil, algorithms: [TokenAlgorithm]? = nil
  ) async throws -> TokenVerifier {
    try await TokenVerifier(.init(secret: secret, keySet: keySet, keySetSource: .url, algorithms: algorithms))
  }

  private func problem(_ keySet: Data?, algorithms: [TokenAlgorithm]? = nil) async -> String? {
    do {
      _ = try await remote(keySet, algorithms: algorithms)
      return nil
    } catch { return "\(error)" }
  }

  private func token(_ algorithm: String, kid: String?, by signer: TokenForge.Signer) async throws -> String {
    let name = kid.map { #","kid":"\#($0)""# } ?? ""
    return try await forge.token(header: #"{"alg":"\#(algorithm)"\#(name)}"#, payload: TokenForge.goodPayload, by: signer)
  }

  /// Why a token is refused; nil = it is not.
  private func refusal(_ token: String, of verifier: TokenVerifier) -> TokenFault? {
    switch verifier.verify(token, now: TokenForge.now) {
    case .success: nil
    case .failure(let fault): fault
    }
  }

  private func refusal(
    _ algorithm: String, kid: String?, by signer: TokenForge.Signer, of verifier: TokenVerifier
  ) async throws -> TokenFault? {
    refusal(try await token(algorithm, kid: kid, by: signer), of: verifier)
  }

  @Test func withoutASetEveryTokenOfOneAwaitsIt() async throws {
    let verifier = try await remote(nil)
    #expect(verifier.awaitsKeySet && verifier.setKeyCount == 0)
    for kid in ["ec", nil] {
      let fault = try #require(try await refusal("ES256", kid: kid, by: .ec, of: verifier))
      #expect(fault.namesUnknownKey && fault.reason.contains("not read yet"))
    }
    // No set has a key of these.
    for algorithm in ["HS256", "none", "RS512"] {
      let fault = try #require(try await refusal(algorithm, kid: "ec", by: .ec, of: verifier))
      #expect(!fault.namesUnknownKey)
    }
  }

  @Test func theSecretIsGoodWithoutASet() async throws {
    let verifier = try await remote(nil, secret: TokenForge.secret)
    let token = try await forge.token(payload: TokenForge.goodPayload)
    #expect(refusal(token, of: verifier) == nil)
  }

  @Test func onlyAnUnknownNameIsAnUnknownKey() async throws {
    let verifier = try await remote(TokenForge.keySet(try forge.ecJWK(), forge.edJWK()))
    #expect(!verifier.awaitsKeySet && verifier.setKeyCount == 2)
    #expect(try await refusal("ES256", kid: "ec", by: .ec, of: verifier) == nil)
    #expect(try await refusal("ES256", kid: nil, by: .ec, of: verifier) == nil)
    let unknown = try #require(try await refusal("ES256", kid: "new", by: .ec, of: verifier))
    #expect(unknown.namesUnknownKey && unknown.reason.contains("auth.jwksURL"))
    let otherAlgorithm = try #require(try await refusal("RS256", kid: "new", by: .rsa, of: verifier))
    #expect(otherAlgorithm.namesUnknownKey, "the next set may have keys of another algorithm")
    let forged = try #require(try await refusal("ES256", kid: "ec", by: .otherEC, of: verifier))
    #expect(!forged.namesUnknownKey, "the key is known, and has not signed it")
    let nameless = try #require(try await refusal("ES256", kid: nil, by: .otherEC, of: verifier))
    #expect(!nameless.namesUnknownKey, "nobody without a kid causes a reading")
  }

  @Test func anAlgorithmThatIsNotAcceptedCausesNothing() async throws {
    let verifier = try await remote(TokenForge.keySet(try forge.ecJWK()), algorithms: [.es256])
    let fault = try #require(try await refusal("RS256", kid: "new", by: .rsa, of: verifier))
    #expect(!fault.namesUnknownKey)
  }

  @Test func aFileHasNoUnknownKeys() async throws {
    let verifier = try await TokenVerifier(.init(secret: nil, keySet: TokenForge.keySet(try forge.ecJWK())))
    let fault = try #require(try await refusal("ES256", kid: "new", by: .ec, of: verifier))
    #expect(!fault.namesUnknownKey && !verifier.awaitsKeySet)
  }

  @Test func aBrokenKeyIsLeftOut() async throws {
    let keySet = TokenForge.keySet(#"{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}"#, forge.edJWK())
    let verifier = try await remote(keySet)
    #expect(verifier.algorithms == [.edDSA])
    #expect(await problem(TokenForge.keySet(#"{"kty":"OKP","crv":"Ed25519","x":"AA"}"#)) != nil)
  }

  @Test(arguments: ["", "{}", "[]", "not json", #"{"keys":7}"#, #"{"keys":[{"n":"AQAB"}]}"#, #"{"keys":[]}"#])
  func aDocumentWithoutUsableKeysIsAFailure(text: String) async throws {
    let message = try #require(await problem(Data(text.utf8)))
    #expect(message.hasPrefix("auth.jwksURL") && !message.contains("\n"))
  }

  @Test func keysOfOtherAlgorithmsAloneAreAFailure() async throws {
    let message = try #require(await problem(TokenForge.keySet(forge.edJWK()), algorithms: [.rs256, .es256]))
    #expect(message.contains("auth.algorithms"))
    #expect(await problem(TokenForge.keySet(forge.edJWK()), algorithms: [.rs256, .edDSA]) == nil)
  }

  @Test func noMoreThanAHundredKeysAreInUse() async throws {
    let keys = (0..<105).map { forge.edJWK(kid: "k\($0)") }
    let keySet = Data(#"{"keys":[\#(keys.joined(separator: ","))]}"#.utf8)
    let verifier = try await remote(keySet)
    #expect(verifier.setKeyCount == 100)
    #expect(try await refusal("EdDSA", kid: "k99", by: .ed, of: verifier) == nil)
    let beyond = try #require(try await refusal("EdDSA", kid: "k100", by: .ed, of: verifier))
    #expect(beyond.namesUnknownKey)
  }
}
