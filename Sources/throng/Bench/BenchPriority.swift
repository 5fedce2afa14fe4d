import ArgumentParser
import LoadGenerator

/// `throng bench priority`: a live room over its limit.
struct BenchPriority: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "priority", abstract: "One live room over its limit: what becomes of each priority.")

  @Option(help: ArgumentHelp("How many sessions receive.", valueName: "n"))
  var members: Int

  @Option(help: ArgumentHelp("How many more sessions send, in turn; they are members too.", valueName: "k"))
  var publishers = 4

  @Option(help: ArgumentHelp("Messages per second of priority High.", valueName: "messages/s"))
  var high = 0.0

  @Option(help: ArgumentHelp("Messages per second of priority Normal.", valueName: "messages/s"))
  var normal = 0.0

  @Option(help: ArgumentHelp("Messages per second of priority Low.", valueName: "messages/s"))
  var low = 0.0

  @Option(help: ArgumentHelp("Messages per second of priority Lowest.", valueName: "messages/s"))
  var lowest = 0.0

  @OptionGroup var options: BenchOptions
  @OptionGroup var configuration: ConfigurationOptions

  func validate() throws {
    try require((1...60_000).contains(members), "--members takes 1 to 60000")
    try require((1...10_000).contains(publishers), "--publishers takes 1 to 10000")
    let rates = [("--high", high), ("--normal", normal), ("--low", low), ("--lowest", lowest)]
    for (option, rate) in rates where rate != 0 { try validateRate(rate, option, of: "messages") }
    try require(rates.contains { $0.1 > 0 }, "at least one of --high, --normal, --low and --lowest is needed")
  }

  func run() async throws {
    let scenario = PriorityScenario(
      members: members, senders: publishers, high: high, normal: normal, low: low, lowest: lowest)
    try await options.run(scenario, configuration: configuration)
  }
}
