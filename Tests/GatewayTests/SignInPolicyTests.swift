import GroupModel
import Testing
import ThrongTestKit
import WireProtocol

@testable import Gateway

/// Who may sign in, without a connection.
@Suite struct SignInPolicyTests {
  private func policy(_ configure: (inout GatewayConfiguration) -> Void = { _ in }) -> SignInPolicy {
    Backend(configure).services.signInPolicy
  }

  private func word(_ verdict: SignInPolicy.Verdict) -> String {
    switch verdict {
    case .admitted: "admitted"
    case .tooOften: "too often"
    case .platformRefused: "platform"
    case .unready: "unready"
    }
  }

  @Test func anAdministratorsTokenIsForTheInternalListener() {
    guard case .failure(let refusal) = policy().check("adm:root", at: 0) else {
      Issue.record("it is accepted")
      return
    }
    #expect(refusal.error.code == .tokenMalformed && refusal.userID == "root")
    #expect((try? policy().check("alice", at: 0).get())?.userID == "alice")
  }

  @Test func aPlatformThatIsNotAdmittedCountsForTheRate() {
    let policy = policy {
      $0.sessionsPerPlatform[.web] = 0
      $0.requestsPerSecond = 0
      $0.requestBurst = 2
    }
    #expect((0..<3).map { _ in word(policy.verdict(on: "alice", .web, at: 0)) } == ["platform", "platform", "too often"])
    #expect(word(policy.verdict(on: "bob", .web, at: 0)) == "platform")
    #expect((0..<3).map { _ in word(policy.verdict(on: "carol", .iOS, at: 0)) } == ["admitted", "admitted", "too often"])
  }

  @Test func theAnswerWaitsAfterTwentyBadTokensOfAnAddress() {
    let policy = policy { $0.failureDelay = .milliseconds(300) }
    for _ in 0..<20 { #expect(policy.noteBadToken(from: "192.0.2.1", at: 0) == nil) }
    #expect(policy.noteBadToken(from: "192.0.2.1", at: 0) == .milliseconds(300))
    #expect(policy.noteBadToken(from: "192.0.2.2", at: 0) == nil, "another address")
    let prompt = self.policy { $0.failureDelay = .zero }
    for _ in 0..<30 { #expect(prompt.noteBadToken(from: "192.0.2.1", at: 0) == nil) }
  }
}
