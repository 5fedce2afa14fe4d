import ArgumentParser
import Authentication
import GroupModel
import LoadGenerator
import ServerConfiguration

/// `throng bench`: generates load and measures the server.
struct Bench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Generate load and measure the server.",
    discussion: """
      The connections sign in with tokens made from the server's secret: auth.secret, or the one in dataDir/auth-secret. \
      Benchmarks.md tells what the figures mean.
      """,
    subcommands: [
      BenchRoom.self, BenchGroups.self, BenchConnect.self, BenchStorm.self, BenchDurable.self, BenchPriority.self,
      BenchPresence.self,
    ])
}

extension BenchOptions {
  /// Runs a scenario and writes its figures. The command ends with 1 when the run fails or a
  /// condition is not met.
  /// - Parameter configuration: names the secret for the tokens; nil: the server takes no tokens.
  func run(_ scenario: some Scenario, configuration: ConfigurationOptions?) async throws {
    let conditions = try conditions()
    let unknown = conditions.first { !scenario.metrics.contains($0.metric) }
    if let unknown {
      throw ValidationError("this scenario does not measure \(unknown.metric.rawValue) (--assert '\(unknown.text)')")
    }
    let output = try BenchOutput(json: json)
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
    try output.write(report)
    if !report.isGood { throw ExitCode.failure }
  }
}

extension ConfigurationOptions {
  /// Makes tokens as `throng token` does, valid for a day. It creates no secret: a missing one
  /// means a wrong data directory.
  fileprivate func tokenMaker() async throws -> Benchmark.TokenMaker {
    let settings = try load()
    do {
      guard settings.auth.algorithms?.contains(TokenAlgorithm.hs256.rawValue) ?? true else {
        throw StandardError.failure("auth.algorithms does not name HS256, the only algorithm that throng bench can sign with")
      }
      let file = SecretFile(dataDirectory: settings.dataDir)
      guard let secret = try settings.auth.secret.map({ Array($0.utf8) }) ?? file.load() else {
        throw StandardError.failure(
          "throng bench: there is no secret in \(file.path); is it the server's data directory? "
            + "(--data-dir, --config, --set auth.secret=…)")
      }
      let issuer = try await TokenIssuer(secret: secret, audience: settings.auth.audience, issuer: settings.auth.issuer)
      let now = SystemClocks().wall
      return { user in try issuer.issue(user: user, lifetime: .seconds(86_400), now: now) }
    } catch let error as AuthenticationError {
      throw StandardError.failure(error.description)
    }
  }
}
