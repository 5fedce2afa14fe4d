import ArgumentParser
import LoadGenerator

/// `throng bench groups`: many groups.
struct BenchGroups: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "groups", abstract: "Many groups: in each of G groups one of M members sends to the others.",
    discussion: BenchDialectOptions.discussion)

  @Option(help: ArgumentHelp("How many groups.", valueName: "g"))
  var groups: Int

  @Option(help: ArgumentHelp("How many sessions in each, the sender included.", valueName: "m"))
  var members: Int?

  @Option(help: ArgumentHelp("How many sessions in all, in place of --members.", valueName: "c"))
  var connections: Int?

  @Option(help: ArgumentHelp("Messages per second, of all groups together.", valueName: "messages/s"))
  var rate: Double

  @Option(help: ArgumentHelp("The groups' type.", valueName: "type"))
  var type = MeasuredGroupType.avChatRoom

  @OptionGroup var other: BenchDialectOptions
  @OptionGroup var options: BenchOptions
  @OptionGroup var configuration: ConfigurationOptions

  func validate() throws {
    try require((1...30_000).contains(groups), "--groups takes 1 to 30000")
    try require(members != nil || connections != nil, "either --members or --connections is needed")
    try require(connections.map { $0.isMultiple(of: groups) } ?? true, "--connections is no multiple of --groups")
    try require(
      members == nil || connections == nil || membersPerGroup == members, "--connections is not --groups times --members")
    try require(membersPerGroup >= 2, "a group needs at least 2 members: one sends, the others receive")
    try require(groups * membersPerGroup <= 60_000, "these are over 60000 sessions")
    try validateRate(rate, "--rate", of: "messages")
  }

  private var membersPerGroup: Int { min(60_001, connections.map { $0 / groups } ?? members ?? 0) }

  func run() async throws {
    let description = other.description
    let scenario = GroupsScenario(groups: groups, members: membersPerGroup, rate: rate, type: type, other: description)
    try await options.run(scenario, configuration: description == nil ? configuration : nil)
  }
}
