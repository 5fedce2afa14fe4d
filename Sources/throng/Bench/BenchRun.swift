import ArgumentParser
import Authentication
import Foundation
import LoadGenerator
import ServerConfiguration
import ThrongServer

extension BenchOptions {
  /// Carries out a scenario and tells what it measured. The command ends with 1 when it fails or a condition is not met.
  /// - Parameter configuration: where the secret for the tokens is found; nil: the server takes no tokens.
  func run(_ scenario: some Scenario, configuration: ConfigurationOptions?) async throws {
    let conditions = try conditions()
    let unknown = conditions.first { !scenario.metrics.contains($0.metric) }
    if let unknown {
      throw ValidationError("this scenario does not measure \(unknown.metric.rawValue) (--assert '\(unknown.text)')")
    }
    let token = try await configuration?.tokenMaker() ?? { _ in "" }
    Interruption.catchSignals()
    let progress = BenchProgress(isWanted: !quiet)
    let report: Report
    do {
      report = try Benchmark(runOptions(), token: token, progress: progress.line).run(scenario, conditions: conditions)
      progress.end()
    } catch let error as BenchmarkError {
      progress.end()
      throw StandardError.failure("throng bench: \(error)")
    }
    try tell(report)
    if !report.isGood { throw ExitCode.failure }
  }

  private func tell(_ report: Report) throws {
    switch json {
    case nil: print(report.table, terminator: "")
    case "-":
      FileHandle.standardError.write(Data(report.table.utf8))
      print(report.json)
    case .some(let file):
      print(report.table, terminator: "")
      do { try Data((report.json + "\n").utf8).write(to: URL(fileURLWithPath: file)) } catch {
        throw StandardError.failure("throng bench: \(file) cannot be written: \(error.localizedDescription)")
      }
    }
  }
}

extension ConfigurationOptions {
  /// Makes tokens as `throng token` does, a day good.
  fileprivate func tokenMaker() async throws -> Benchmark.TokenMaker {
    let settings = try load()
    do {
      guard let secret = try settings.signingSecret() else {
        throw StandardError.failure("auth.algorithms does not name HS256, the only algorithm that throng bench can sign with")
      }
      let issuer = try await TokenIssuer(secret: secret, audience: settings.auth.audience, issuer: settings.auth.issuer)
      let now = Int64(Date().timeIntervalSince1970 * 1000)
      return { user in try issuer.issue(user: user, lifetime: 86_400, now: now) }
    } catch let error as AuthenticationError {
      throw StandardError.failure(error.description)
    }
  }
}
