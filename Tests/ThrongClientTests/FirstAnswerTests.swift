import Testing

@testable import ThrongClient

/// Functions that call back: as URLSession's do, at times twice, or never.
@Suite struct FirstAnswerTests {
  private typealias Answer = @Sendable ((any Error)?) -> Void
  private struct Failure: Error, Equatable {}

  @Test func theFirstAnswerCounts() async throws {
    try await firstAnswer(within: .seconds(60)) { answer in
      answer(nil)
      answer(Failure())
    }
    await #expect(throws: Failure()) {
      try await firstAnswer(within: .seconds(60)) { answer in
        answer(Failure())
        answer(nil)
      }
    }
  }

  @Test func anAnswerMayComeFromAnywhere() async throws {
    try await firstAnswer(within: .seconds(60)) { answer in
      for _ in 0..<10 { Task { answer(nil) } }
    }
  }

  @Test func noAnswerInTimeIsAnError() async {
    await #expect(throws: TransportError.self) { try await firstAnswer(within: .milliseconds(1)) { _ in } }
  }

  @Test func whoDoesNotWaitAnyMoreIsFree() async {
    let (kept, keep) = AsyncStream.makeStream(of: Answer.self)
    let wait = Task { try await firstAnswer(within: .seconds(60)) { keep.yield($0) } }
    var late: Answer?
    for await answer in kept {
      late = answer
      break
    }
    wait.cancel()
    await #expect(throws: CancellationError.self) { try await wait.value }
    late?(nil)
  }
}
