import Authentication
import GroupModel
import ServerConfiguration
import Testing

@testable import ThrongServer

/// The credentials of the internal listener, and whose they are in the log.
@Suite struct AdministratorCredentialTests {
  private static let now = WallInstant(milliseconds: 1_700_000_000_000)
  private let secret = Array("a secret of thirty-two bytes, yes".utf8)
  private let credential: AdministratorCredential

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
    for (text, holder) in holders { #expect(try credential.holder("Bearer \(text)", at: Self.now) == holder) }
    #expect(throws: HTTPRefusal.self) { try credential.holder("Bearer \(String(repeating: "x", count: 32))", at: Self.now) }
  }

  /// Somebody who is known has taken the wrong one of two tokens.
  @Test func aUsersTokenIsRefusedWithTheUser() async throws {
    let alice = try await token("alice", isAdministrator: false)
    let refusal = #expect(throws: HTTPRefusal.self) { try credential.holder("Bearer \(alice)", at: Self.now) }
    #expect(refusal?.status == 401 && refusal?.user == UserID("alice"))
    #expect(refusal?.sentence.hasPrefix("this token is a user's") == true)
    let nobody = #expect(throws: HTTPRefusal.self) { try credential.holder(nil, at: Self.now) }
    #expect(nobody?.status == 401 && nobody?.user == nil)
  }
}
