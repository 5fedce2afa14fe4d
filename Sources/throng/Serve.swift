import ArgumentParser
import ServerConfiguration
import ThrongServer

/// `throng serve`: runs the server until a signal ends it.
struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Run the server.")

  @OptionGroup var options: ConfigurationOptions

  func run() async throws {
    let settings = try options.load()
    try await ThrongServer.run(settings)
  }
}
