import ArgumentParser

/// `throng bench`: generates load and measures what the server makes of it.
struct Bench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Generate load and measure the server.",
    discussion: """
      The connections sign in with tokens made from the server's secret: auth.secret, or the one in dataDir/auth-secret. \
      Benchmarks.md tells what the figures mean.
      """,
    subcommands: [
      BenchRoom.self, BenchGroups.self, BenchConnect.self, BenchStorm.self, BenchDurable.self, BenchPriority.self,
    ])
}
