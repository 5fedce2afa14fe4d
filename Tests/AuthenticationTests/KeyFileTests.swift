import Authentication
import Foundation
import Testing

/// The configured keys: secret, JWKS file, algorithms.
@Suite struct KeyFileTests {
  let forge: TokenForge

  init() throws { forge = try TokenForge() }

  private func problem(_ configuration: TokenVerifier.Configuration) async -> String? {
    do {
      _ = try await TokenVerifier(configuration)
      return nil
    } catch { return error.description }
  }

  @Test(arguments: [0, 1, 31])
  func shortSecretIsRefused(count: Int) async throws {
    let message = try #require(await problem(.init(secret: [UInt8](repeating: 0x61, count: count))))
    #expect(message.contains("\(count) bytes") && message.contains("32"))
  }

  @Test func thirtyTwoBytesAreEnough() async {
    #expect(await problem(.init(secret: [UInt8](repeating: 0x61, count: 32))) == nil)
  }

  @Test func nothingToCheckWithIsRefused() async {
    #expect(await problem(.init(secret: nil)) != nil)
    #expect(await problem(.init(secret: TokenForge.secret, algorithms: [])) != nil)
  }

  @Test(arguments: ["", "{}", "[]", "not json", #"{"keys":7}"#, #"{"keys":[{"n":"AQAB"}]}"#, #"{"keys":[]}"#])
  func badFileIsRefused(text: String) async throws {
    let message = try #require(await problem(.init(secret: TokenForge.secret, keySet: Data(text.utf8))))
    #expect(message.hasPrefix("auth.jwksFile") && !message.contains("\n"))
  }

  @Test(arguments: [
    #"{"kty":"RSA"}"#, #"{"kty":"RSA","n":"AQAB","e":"AQAB"}"#, #"{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}"#,
    #"{"kty":"OKP","crv":"Ed25519"}"#, #"{"kty":"OKP","crv":"Ed25519","x":"AA"}"#,
  ])
  func brokenKeyIsRefusedByItsPlace(key: String) async throws {
    let message = try #require(await problem(.init(secret: nil, keySet: TokenForge.keySet(forge.edJWK(), key))))
    #expect(message.contains("key 2"))
  }

  @Test func keysOfOtherKindsAreNotUsed() async throws {
    let others = [
      #"{"kty":"oct","k":"AQAB"}"#, #"{"kty":"EC","crv":"P-384","x":"AA","y":"AA"}"#,
      #"{"kty":"OKP","crv":"X25519","x":"AA"}"#, #"{"kty":"new"}"#, try forge.rsaJWK(extra: #","use":"enc""#),
      try forge.rsaJWK(extra: #","alg":"RS512""#), try forge.ecJWK(extra: #","key_ops":["sign"]"#),
    ]
    for other in others {
      #expect(await problem(.init(secret: nil, keySet: TokenForge.keySet(other))) != nil, "\(other)")
      let verifier = try await TokenVerifier(.init(secret: nil, keySet: TokenForge.keySet(other, forge.edJWK())))
      #expect(verifier.algorithms == [.edDSA])
    }
  }

  @Test func statedUseAndAlgorithmAreAccepted() async throws {
    let keySet = TokenForge.keySet(
      try forge.rsaJWK(extra: #","use":"sig","alg":"RS256","x5c":["?"]"#), try forge.ecJWK(extra: #","key_ops":["verify"]"#),
      forge.edJWK(extra: #","alg":"EdDSA""#))
    #expect(try await TokenVerifier(.init(secret: nil, keySet: keySet)).algorithms == [.rs256, .es256, .edDSA])
  }

  @Test(arguments: [
    ([TokenAlgorithm.hs256], false, true), ([.rs256], true, false), ([.edDSA, .hs256], false, true),
    ([.hs256, .es256], true, true),
  ])
  func algorithmWithoutKeyIsRefused(algorithms: [TokenAlgorithm], hasSecret: Bool, hasFile: Bool) async throws {
    let keySet = hasFile ? TokenForge.keySet(forge.edJWK()) : nil
    let configuration = TokenVerifier.Configuration(
      secret: hasSecret ? TokenForge.secret : nil, keySet: keySet, algorithms: algorithms)
    let message = try #require(await problem(configuration))
    #expect(message.contains("auth.algorithms"))
  }
}
