import Foundation
import GroupModel
import GroupRuntime
import ServerConfiguration

/// Shows the live rates of a running server, for `throng top`.
public struct Top: Sendable {
  private let client: InternalClient
  private let address: String
  private let interval: Duration

  /// - Parameter interval: between two scrapes.
  public init(_ settings: Settings, interval: Duration) throws(InternalClient.Failure) {
    client = try InternalClient(settings, seconds: 10)
    address = "\(settings.internalListen)"
    self.interval = interval
  }

  /// The form of the report.
  public enum Form: Sendable {
    /// A screen that is drawn over the last one; `size` is asked each time.
    case screen(size: @Sendable () -> (width: Int, height: Int))
    /// A line for each interval.
    case lines
  }

  /// Writes a report for each interval, until `count` are written or the task is cancelled.
  /// - Parameter count: nil = without end.
  /// - Throws: `InternalClient.Failure` where the server does not answer.
  public func run(as form: Form, count: Int?, write: (String) -> Void) async throws {
    var before = try scrape()
    var written = 0
    while count.map({ written < $0 }) ?? true {
      try await Task.sleep(for: interval)
      let now = try scrape()
      let report = TopReport(MetricsDifference(before: before, now: now), address: address)
      switch form {
      case .lines: write(report.line + "\n")
      case .screen(let size):
        let (width, height) = size()
        // Home, each line with what is left of the old one erased, then everything below.
        let lines = report.screen(width: width, height: height - 1).map { $0 + "\u{1b}[K\n" }
        write("\u{1b}[H" + lines.joined() + "\u{1b}[J")
      }
      written += 1
      before = now
    }
  }

  private func scrape() throws(InternalClient.Failure) -> MetricsSnapshot {
    let answer = try client.get("/metrics?nodes=all")
    guard answer.status == 200 else { throw InternalClient.Failure(description: "\(address) answers \(answer.status)") }
    return MetricsSnapshot(String(decoding: answer.body, as: UTF8.self), at: SystemClocks().monotonic)
  }
}
