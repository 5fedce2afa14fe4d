import Testing
import ThrongTestKit

/// A test that waits for something that never happens fails instead of running for ever.
@Suite struct WaitUntilTests {
  @Test func itReturnsWhenTheConditionHolds() async throws {
    var asked = 0
    try await waitUntil("the third time") {
      asked += 1
      return asked == 3
    }
    #expect(asked == 3)
  }

  @Test func theLimitThrowsAndNamesTheEventAndThePlace() async throws {
    let error = await #expect(throws: WaitTimedOut.self) {
      try await waitUntil("pigs fly", atMost: .zero) { false }
    }
    #expect(error?.description.contains("pigs fly") == true)
    #expect(error?.description.hasPrefix("GatewayTests/WaitUntilTests.swift:") == true)
  }

  @Test func itEndsWithItsTask() async {
    let waiting = Task { try await waitUntil("nothing") { false } }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
  }
}
