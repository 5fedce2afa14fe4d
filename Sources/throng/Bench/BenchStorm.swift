import ArgumentParser
import LoadGenerator

/// `throng bench storm`: everyone comes back at once.
struct BenchStorm: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "storm", abstract: "One live room whose members are all cut off at once and all come back at once.")

  @Option(help: ArgumentHelp("How many members.", valueName: "n"))
  var connections: Int

  @Option(
    help: ArgumentHelp("How many more stay connected and talk in a room of theirs before and during the storm.", valueName: "n"))
  var established = 0

  @Option(help: ArgumentHelp("How many messages those who stay send per second, together.", valueName: "messages/s"))
  var rate = 20.0

  @OptionGroup var options: BenchOptions
  @OptionGroup var configuration: ConfigurationOptions

  func validate() throws {
    try require((2...60_000).contains(connections), "--connections takes 2 to 60000")
    try require(established == 0 || (2...10_000).contains(established), "--established takes 0, or 2 to 10000")
    try validateRate(rate, "--rate", of: "messages")
  }

  func run() async throws {
    try await options.run(
      StormScenario(connections: connections, established: established, rate: rate), configuration: configuration)
  }
}
