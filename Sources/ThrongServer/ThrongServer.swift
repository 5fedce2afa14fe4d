import CoreMetrics
import Dispatch
import Foundation
import Logging
import ServerConfiguration
import Synchronization

/// Runs a server for `throng serve`.
public enum ThrongServer {
  /// Serves until SIGTERM or SIGINT, then drains and returns. Such a signal that comes a second later
  /// ends the process with 1 at once. SIGHUP reads certificates and keys again. A disk that fails a
  /// sync ends it with 74.
  /// - Throws: `StartError` when the server cannot start.
  public static func run(_ settings: Settings) async throws {
    let log = LogOutput(STDOUT_FILENO)
    defer { log.flush(within: 1000) }
    let logger = bootstrapLogging(settings, log)
    let metrics = PrometheusRegistry()
    MetricsSystem.bootstrap(metrics)
    let signals = SignalListener()
    let server = try await Server(
      settings, metrics: metrics, logger: logger, time: try time(settings), end: ProcessEnd(logger: logger, log: log))
    try await server.join()
    server.start()
    let maintenance = Task { await server.runMaintenance() }
    let reloading = Task { for await _ in signals.reloads { await server.reload() } }
    await signals.first()
    maintenance.cancel()
    reloading.cancel()
    await server.drain()
  }

  private static func bootstrapLogging(_ settings: Settings, _ log: LogOutput) -> Logger {
    let format = settings.log.format
    // The configuration's levels are swift-log's names.
    let level = Logger.Level(rawValue: settings.log.level.rawValue) ?? .info
    // Logs of several nodes are often read together. `node` is the number of a node that an entry is about.
    let nodeName = settings.cluster.isEnabled ? settings.nodeName : nil
    LoggingSystem.bootstrap { _ in
      var handler = LineLogHandler(format: format, level: level, output: log)
      handler.metadata = nodeName.map { ["nodeName": "\($0)"] } ?? [:]
      return handler
    }
    return Logger(label: "throng")
  }

  /// The system's time; in a debug build, that of a test where it brings one.
  private static func time(_ settings: Settings) throws(StartError) -> ServerTime {
    #if DEBUG
      guard let place = ProcessInfo.processInfo.environment[Settings.testClockVariable] else { return .system }
      guard !settings.cluster.isEnabled else {
        throw StartError("\(Settings.testClockVariable): a test's clock is that of one process, and this is a node of a cluster")
      }
      return ServerTime(try TestClock(at: place))
    #else
      return .system
    #endif
  }
}

/// Waits for SIGTERM and SIGINT, of which `ShutdownSignals` decides what a further one means, and
/// tells of SIGHUP.
private final class SignalListener: Sendable {
  private struct State {
    var signals = ShutdownSignals()
    var hasCome = false
    var waiting: CheckedContinuation<Void, Never>?
  }

  /// An element for each SIGHUP; several that come while one is handled are one.
  let reloads: AsyncStream<Void>
  private let state = Mutex(State())
  /// Only kept alive: no thread reads or writes it after `init`.
  private nonisolated(unsafe) let sources: [any DispatchSourceSignal]

  init() {
    let (reloads, reload) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    self.reloads = reloads
    let hangup = SignalListener.source(of: SIGHUP)
    let shutdowns = [SIGTERM, SIGINT].map(SignalListener.source)
    sources = [hangup] + shutdowns
    hangup.setEventHandler { reload.yield() }
    for source in shutdowns { source.setEventHandler { [self] in arrived() } }
    // Dispatch listens some time later, and a signal that comes before is lost.
    let registrations = DispatchGroup()
    for source in sources {
      registrations.enter()
      source.setRegistrationHandler { registrations.leave() }
      source.resume()
    }
    registrations.wait()
  }

  private static func source(of number: Int32) -> any DispatchSourceSignal {
    signal(number, SIG_IGN)
    return DispatchSource.makeSignalSource(signal: number, queue: .global())
  }

  private func arrived() {
    let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
      switch state.signals.receive(at: .now) {
      case .drain: break
      case .nothing: return nil
      // `exit` would run handlers beside threads that still work.
      case .endAtOnce: _exit(1)
      }
      state.hasCome = true
      defer { state.waiting = nil }
      return state.waiting
    }
    waiting?.resume()
  }

  /// Returns when a signal has come.
  func first() async {
    await withCheckedContinuation { continuation in
      let hasCome = state.withLock { state -> Bool in
        if !state.hasCome { state.waiting = continuation }
        return state.hasCome
      }
      if hasCome { continuation.resume() }
    }
  }
}

/// Decides what a signal means (Operations.md, "Stopping"). Service managers and terminals often
/// send two for one stop: a signal within a second of the first counts as the same.
struct ShutdownSignals {
  enum Action: Equatable {
    case drain
    case nothing
    case endAtOnce
  }

  private static let sameSignal = Duration.seconds(1)
  private var first: ContinuousClock.Instant?

  mutating func receive(at now: ContinuousClock.Instant) -> Action {
    guard let first else {
      first = now
      return .drain
    }
    return now - first < ShutdownSignals.sameSignal ? .nothing : .endAtOnce
  }
}
