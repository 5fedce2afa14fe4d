/// A test has waited for something that did not happen in time.
public struct WaitTimedOut: Error, CustomStringConvertible {
  /// The awaited event, and the file and line of the call.
  public let description: String
}

/// Returns when `condition` holds.
///
/// The limit only ends a test that has already failed; it is no part of what the test checks. A stretch in
/// which other tests keep all threads of the process counts little of it: what is waited for had no turn either.
/// - Parameters:
///   - event: what the caller waits for, for the report of a failure.
///   - limit: the time, without such stretches.
/// - Throws: `WaitTimedOut` at the limit, `CancellationError` when the test is cancelled before.
public func waitUntil(
  _ event: String, atMost limit: Duration = .seconds(60), isolation: isolated (any Actor)? = #isolation,
  file: StaticString = #fileID, line: Int = #line, _ condition: () async throws -> Bool
) async throws {
  var left = limit
  var pause = Duration.milliseconds(1)
  while !(try await condition()) {
    guard left > .zero else { throw WaitTimedOut(description: "\(file):\(line): waited \(limit) in vain until \(event)") }
    let start = ContinuousClock.now
    // Spinning would take a core from what is waited for.
    try await Task.sleep(for: pause)
    left -= min(ContinuousClock.now - start, pause * 10)
    pause = min(pause * 2, .milliseconds(20))
  }
}

/// Returns after a minute, for a task that ends a test that has already failed. Stretches in which other tests
/// keep all threads of the process count little, as with `waitUntil(_:atMost:isolation:file:line:_:)`.
/// - Throws: `CancellationError`.
public func sleepAMinute() async throws {
  for _ in 0..<60 { try await Task.sleep(for: .seconds(1)) }
}
