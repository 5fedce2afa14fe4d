import ArgumentParser
import Foundation
import LoadGenerator

/// `throng bench room`: one group of N members, K publishers.
struct BenchRoom: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "room", abstract: "One group: N members receive what K publishers send.",
    discussion: BenchDialectOptions.discussion)

  @Option(help: ArgumentHelp("How many sessions receive.", valueName: "n"))
  var members: Int

  @Option(help: ArgumentHelp("How many more sessions send; they are members too.", valueName: "k"))
  var publishers = 1

  /// Half of what an AVChatRoom takes at the defaults, so that no message waits or is dropped.
  private static let usualRate = 20.0

  @Option(
    help: ArgumentHelp(
      "Open loop: messages per second, of all publishers together. Without this and --inflight it is 20, half of what a live room takes at the defaults.",
      valueName: "messages/s"))
  var rate: Double?

  @Option(help: ArgumentHelp("Closed loop: so many messages under way.", valueName: "n"))
  var inflight: Int?

  @Option(help: ArgumentHelp("The group's type.", valueName: "type"))
  var type = MeasuredGroupType.avChatRoom

  @Option(help: ArgumentHelp("How many more members never read.", valueName: "n"))
  var stalled = 0

  @Option(
    help: ArgumentHelp(
      "Beside the messages, so many increments of a counter per second, of all members in turn; 4 a second of each at most.",
      valueName: "increments/s"))
  var increments: Double?

  @Flag(
    help: "Offer permessage-deflate, inflate what comes compressed, and compare each message's bytes at all receivers.")
  var compress = false

  @Option(
    help: ArgumentHelp(
      "The texts of the messages, one a line, in place of --size; --publish has %l for them.", valueName: "file"))
  var texts: String?

  @OptionGroup var other: BenchDialectOptions
  @OptionGroup var options: BenchOptions
  @OptionGroup var configuration: ConfigurationOptions

  func validate() throws {
    try require((1...60_000).contains(members), "--members takes 1 to 60000")
    try require((1...10_000).contains(publishers), "--publishers takes 1 to 10000")
    try require((0...10_000).contains(stalled), "--stalled takes 0 to 10000")
    // A member that never reads never quits, and a Work group ends with its last member.
    try require(stalled == 0 || type.canBeDisbanded, "--stalled is not for \(type.name): the group could not be taken away")
    try require(rate == nil || inflight == nil, "--rate and --inflight exclude each other")
    try validateRate(rate, "--rate", of: "messages")
    try validateRate(increments, "--increments", of: "increments")
    let most = RoomScenario.mostIncrements(members: members, senders: publishers)
    try require(increments ?? 0 <= most, "--increments takes 4 a second for each member, which is \(Int(most))")
    try require(increments == nil || other.publish == nil, "--increments is for Throng's servers")
    try require(
      other.publish.map { $0.contains("%l") == (texts != nil) } ?? true, "--texts and %l in --publish belong together")
    try require(inflight.map { (1...100_000).contains($0) } ?? true, "--inflight takes 1 to 100000")
  }

  func run() async throws {
    let load: RoomScenario.Load = inflight.map { .inflight($0) } ?? .rate(rate ?? BenchRoom.usualRate)
    let description = other.description
    let scenario = RoomScenario(
      members: members, senders: publishers, stalled: stalled, load: load, increments: increments, checksCompression: compress,
      texts: try messageTexts(), type: type, other: description)
    try await options.run(scenario, configuration: description == nil ? configuration : nil)
  }
  private func messageTexts() throws -> MessageTexts? {
    guard let texts else { return nil }
    do { return try MessageTexts(lines: String(contentsOfFile: texts, encoding: .utf8), name: texts) } catch {
      throw StandardError.failure(
        "throng bench: --texts \(texts): \((error as? BenchmarkError)?.description ?? error.localizedDescription)")
    }
  }
}
