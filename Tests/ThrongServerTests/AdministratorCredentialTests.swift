import Authentication
import GroupModel
import ServerConfiguration
import Testing

@testable import ThrongServer

/// The time at which the tokens of these tests are good.
private struct FixedClocks: Clocks {
  let wall: WallInstant
  var monotonic: MonotonicInstant { MonotonicInstant(nanoseconds: 0) }
}

/// The credentials of the internal listener, and whose they are in the log.
@Suite struct AdministratorCredentialTests {
  private static let now = WallInstant(milliseconds: 1_700_000_000_000)
  private let secret = Array("a secret of thirty-two bytes, yes".utf8)
  private let credential: AdministratorCredential
  private let clocks = FixedClocks(wall: AdministratorCredentialTests.now)

  init() async throws {
    let flags = [
      ("admin.apiKey", String(repeating: "k", count: 32)), ("admin.previousAPIKey", String(repeating: "p", count: 32)),
    ]
    let settings = try Settings.load(flags: flags.map { (key: $0.0, value: $0.1) })
    credential = AdministratorCredential(
      tokens: try await CurrentTokenVerifier(TokenVerifier.Configuration(secret: secret)), settings.admin)
  }

  private func token(_ user: String, isAdministrator: Bool) async throws -> String {
    try await TokenIssuer(secret: secret)
      .issue(user: user, lifetime: .seconds(60), isAdministrator: isAdministrator, now: Self.now)
  }

  @Test func theHolderIsNamed() async throws {
    let backend = try await token("backend", isAdministrator: true)
    let holders = [
      (backend, "backend"), (String(repeating: "k", count: 32), "API key"),
      (String(repeating: "p", count: 32), "previous API key"),
    ]
    for (text, holder) in holders { #expect(try await credential.holder("Bearer \(text)", clocks) == holder) }
    await #expect(throws: HTTPRefusal.self) {
      try await credential.holder("Bearer \(String(repeating: "x", count: 32))", clocks)
    }
  }

  /// Somebody who is known has taken the wrong one of two tokens.
  @Test func aUsersTokenIsRefusedWithTheUser() async throws {
    let alice = try await token("alice", isAdministrator: false)
    let refusal = await #expect(throws: HTTPRefusal.self) { try await credential.holder("Bearer \(alice)", clocks) }
    #expect(refusal?.status == 401 && refusal?.user == UserID("alice"))
    #expect(refusal?.sentence.hasPrefix("this token is a user's") == true)
    let nobody = await #expect(throws: HTTPRefusal.self) { try await credential.holder(nil, clocks) }
    #expect(nobody?.status == 401 && nobody?.user == nil)
  }
}
