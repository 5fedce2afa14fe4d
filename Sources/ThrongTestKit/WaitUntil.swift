/// A test has waited for something that did not happen in time.
public struct WaitTimedOut: Error, CustomStringConvertible {
  /// The awaited event, and the file and line of the call.
  public let description: String
}

/// Returns when `condition` holds.
///
/// The limit only ends a test that has already failed; it is no part of what the test checks.
/// - Parameter event: what the caller waits for, for the report of a failure.
/// - Throws: `WaitTimedOut` at the limit, `CancellationError` when the test is cancelled before.
public func waitUntil(
  _ event: String, atMost limit: Duration = .seconds(60), isolation: isolated (any Actor)? = #isolation,
  file: StaticString = #fileID, line: Int = #line, _ condition: () async throws -> Bool
) async throws {
  let end = ContinuousClock.now + limit
  var pause = Duration.milliseconds(1)
  while !(try await condition()) {
    guard ContinuousClock.now < end else {
      throw WaitTimedOut(description: "\(file):\(line): waited \(limit) in vain until \(event)")
    }
    // Spinning would take a core from what is waited for.
    try await Task.sleep(for: pause)
    pause = min(pause * 2, .milliseconds(20))
  }
}
