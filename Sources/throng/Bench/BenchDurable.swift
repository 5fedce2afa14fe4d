import ArgumentParser
import LoadGenerator

/// `throng bench durable`: stored messages.
struct BenchDurable: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "durable", abstract: "Stored messages: each sender sends the next one when the last is stored.")

  @Option(help: ArgumentHelp("How many send.", valueName: "s"))
  var senders: Int

  @Option(help: ArgumentHelp("How many of them share a group, at most.", valueName: "k"))
  var sendersPerGroup = 1

  @Option(help: ArgumentHelp("How many sessions in each group, its senders included.", valueName: "m"))
  var members: Int

  @Option(
    help: ArgumentHelp(
      "Open loop: messages per second, of all senders together; otherwise one under way each.", valueName: "messages/s"))
  var rate: Double?

  @Option(help: ArgumentHelp("The groups' type, one that stores messages.", valueName: "type"))
  var type = StoringType(.public)

  @OptionGroup var options: BenchOptions
  @OptionGroup var configuration: ConfigurationOptions

  func validate() throws {
    try require((1...30_000).contains(senders), "--senders takes 1 to 30000")
    try require((1...6000).contains(members), "--members takes 1 to 6000")
    try require((1...members).contains(sendersPerGroup), "--senders-per-group takes 1 to --members")
    try require((senders / sendersPerGroup + 1) * members <= 60_000, "these are over 60000 sessions")
    try validateRate(rate, "--rate", of: "messages")
  }

  func run() async throws {
    try await options.run(
      DurableScenario(senders: senders, sendersPerGroup: sendersPerGroup, members: members, rate: rate, type: type.type),
      configuration: configuration)
  }
}
