import ArgumentParser
import ServerConfiguration
import ThrongServer

/// `throng store`: reads the database.
struct Store: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Check the database.", subcommands: [StoreCheck.self])
}

/// `throng store check`: prints `ok`, or all faults.
struct StoreCheck: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Read the whole database and say whether it is sound.",
    discussion: """
      Changes nothing, and may run beside the server, whose write-ahead log grows meanwhile. It reads everything: for a big database \
      that takes minutes.
      """)

  @OptionGroup var options: ConfigurationOptions

  func run() async throws {
    let settings = try options.load()
    let faults: [String]
    do throws(StartError) { faults = try settings.storeFaults() } catch { throw StandardError.failure(error.description) }
    guard faults.isEmpty else { throw StandardError.failure(faults.joined(separator: "\n")) }
    print("ok")
  }
}
