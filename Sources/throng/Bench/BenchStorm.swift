import ArgumentParser
import LoadGenerator

/// `throng bench storm`: everyone comes back at once.
struct BenchStorm: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "storm", abstract: "One live room whose members are all cut off at once and all come back at once.")

  @Option(help: ArgumentHelp("How many members.", valueName: "n"))
  var connections: Int

  @OptionGroup var options: BenchOptions
  @OptionGroup var configuration: ConfigurationOptions

  func validate() throws { try demand((2...60_000).contains(connections), "--connections takes 2 to 60000") }

  func run() async throws {
    try await options.run(StormScenario(connections: connections), configuration: configuration)
  }
}
