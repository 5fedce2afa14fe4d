import ArgumentParser
import LoadGenerator

/// `throng bench presence`: statuses that many watch.
struct BenchPresence: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "presence",
    abstract: "Sessions that watch each other's statuses, which change, while rooms of 100 of them talk.")

  @Option(help: ArgumentHelp("How many sessions.", valueName: "n"))
  var sessions: Int

  @Option(help: ArgumentHelp("How many users each of them watches.", valueName: "w"))
  var watch = 100

  @Option(help: ArgumentHelp("Changes of statuses per second, of all sessions in turn.", valueName: "changes/s"))
  var flap = 0.0

  @Option(help: ArgumentHelp("Messages per second, of all rooms together.", valueName: "messages/s"))
  var rate = 20.0

  @OptionGroup var options: BenchOptions
  @OptionGroup var configuration: ConfigurationOptions

  func validate() throws {
    try require((4...60_000).contains(sessions), "--sessions takes 4 to 60000")
    try require((1...10_000).contains(watch), "--watch takes 1 to 10000")
    try require(watch < sessions, "--watch is less than --sessions: nobody watches itself here")
    if flap != 0 { try validateRate(flap, "--flap", of: "changes") }
    try validateRate(rate, "--rate", of: "messages")
  }

  func run() async throws {
    try await options.run(
      PresenceScenario(sessions: sessions, watch: watch, flap: flap, rate: rate), configuration: configuration)
  }
}
