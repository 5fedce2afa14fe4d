import CoreMetrics
import Dispatch
import Foundation
import Logging
import ServerConfiguration
import Synchronization

/// What `throng serve` does.
public enum ThrongServer {
  /// Serves until a signal: SIGTERM, SIGINT or SIGHUP drains and returns; one that comes a second later or more ends the process with 1
  /// at once.
  /// - Throws: `StartError` when the server cannot start.
  public static func run(_ settings: Settings) async throws {
    let log = LogOutput(STDOUT_FILENO)
    defer { log.flush(within: 1000) }
    let logger = bootstrapLogging(settings, log)
    let metrics = PrometheusRegistry()
    MetricsSystem.bootstrap(metrics)
    let signals = Signals()
    let server = try await Server(settings, metrics: metrics, logger: logger)
    server.start()
    let housekeeping = Task { try await keepHouse(server) }
    await signals.first()
    housekeeping.cancel()
    await server.drain()
  }

  private static func bootstrapLogging(_ settings: Settings, _ log: LogOutput) -> Logger {
    let format = settings.log.format
    // The configuration's levels are swift-log's names.
    let level = Logger.Level(rawValue: settings.log.level.rawValue) ?? .info
    LoggingSystem.bootstrap { _ in LineLogHandler(format: format, level: level, output: log) }
    return Logger(label: "throng")
  }

  private static func keepHouse(_ server: Server) async throws {
    while true {
      try await Task.sleep(for: .seconds(60))
      server.retireIdleGroups()
    }
  }
}

/// SIGTERM, SIGINT and SIGHUP (a terminal was closed, unless nohup has the process ignore that) as something to wait for;
/// `ShutdownSignals` says what a further one means.
private final class Signals: Sendable {
  private struct State {
    var signals = ShutdownSignals()
    var hasCome = false
    var waiting: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())
  /// Kept alive and never touched again after `init`, so no two threads meet here.
  private nonisolated(unsafe) let sources: [any DispatchSourceSignal]

  init() {
    sources = ([SIGTERM, SIGINT] + (Signals.isIgnored(SIGHUP) ? [] : [SIGHUP])).map { number in
      signal(number, SIG_IGN)
      return DispatchSource.makeSignalSource(signal: number, queue: .global())
    }
    for source in sources {
      source.setEventHandler { [self] in arrived() }
      source.resume()
    }
  }

  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    sigaction(number, nil, &action)
    // The handler is a pointer, which has the size of an Int, and is only compared.
    return action.__sigaction_handler.sa_handler.map { unsafeBitCast($0, to: Int.self) } == Signals.ignore
  }

  /// SIG_IGN, which is no function that Swift could compare.
  private static let ignore = 1

  private func arrived() {
    let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
      switch state.signals.receive(at: .now) {
      case .drain: break
      case .nothing: return nil
      // Not `exit`: what runs at an orderly end would meet threads that still work.
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
