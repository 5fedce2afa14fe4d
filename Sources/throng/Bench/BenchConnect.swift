import ArgumentParser
import LoadGenerator

/// `throng bench connect`: connections per second, memory per session.
struct BenchConnect: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "connect", abstract: "Sessions that sign in and stay: how fast they come, what they cost.")

  @Option(help: ArgumentHelp("How many sessions.", valueName: "n"))
  var connections: Int

  @Option(help: ArgumentHelp("How many are begun per second; otherwise as fast as it goes.", valueName: "connections/s"))
  var rate: Double?

  @OptionGroup var options: BenchOptions
  @OptionGroup var configuration: ConfigurationOptions

  func validate() throws {
    try require((1...60_000).contains(connections), "--connections takes 1 to 60000")
    try validateRate(rate, "--rate", of: "connections")
  }

  func run() async throws {
    try await options.run(ConnectScenario(connections: connections, rate: rate), configuration: configuration)
  }
}
