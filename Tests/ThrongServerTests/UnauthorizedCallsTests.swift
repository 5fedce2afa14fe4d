import GroupModel
import Logging
import Synchronization
import Testing
import ThrongTestKit

@testable import ThrongServer

/// Guessing at the credential of `POST /rpc` is seen, and does not fill the log.
@Suite struct UnauthorizedCallsTests {
  @Test func eachIsCountedAndAFewASecondAreWrittenDown() throws {
    let lines = Lines()
    let metrics = PrometheusRegistry()
    let clocks = ManualClocks()
    let calls = UnauthorizedCalls(metrics: metrics, clocks: clocks, logger: Logger(label: "test") { _ in lines })
    for _ in 0..<12 { calls.log(from: "192.0.2.7", "expired") }
    clocks.advance(by: 2000)
    calls.log(from: "192.0.2.8", "expired")
    let text = String(decoding: metrics.render(), as: UTF8.self)
    #expect(text.contains("# TYPE throng_http_unauthorized_total counter\n"))
    #expect(text.contains("\nthrong_http_unauthorized_total 13\n"))
    #expect(lines.all.count == 6 && lines.all.allSatisfy { $0.hasPrefix("warning unauthorized call") })
    #expect(lines.all.first == "warning unauthorized call [address: 192.0.2.7, reason: expired]")
    #expect(lines.all.last == "warning unauthorized call [address: 192.0.2.8, dropped: 7, reason: expired]")
  }

  @Test func zeroIsShownBeforeTheFirst() {
    let metrics = PrometheusRegistry()
    let calls = UnauthorizedCalls(
      metrics: metrics, clocks: ManualClocks(), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    withExtendedLifetime(calls) {
      #expect(String(decoding: metrics.render(), as: UTF8.self).contains("\nthrong_http_unauthorized_total 0\n"))
    }
  }

  /// Keeps what was logged.
  private final class Lines: LogHandler {
    private let kept = Mutex<[String]>([])

    var all: [String] { kept.withLock { $0 } }
    var metadata: Logger.Metadata {
      get { [:] }
      set {}
    }
    var logLevel: Logger.Level {
      get { .trace }
      set {}
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { nil }
      set {}
    }

    func log(event: LogEvent) {
      let fields = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
      kept.withLock { $0.append("\(event.level) \(event.message) [\(fields.joined(separator: ", "))]") }
    }
  }
}
