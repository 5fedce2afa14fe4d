import ArgumentParser
import ServerConfiguration
import ThrongServer

/// `throng health`: whether the server of this configuration lives, for the health checks of containers.
struct Health: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Ask the running server whether it lives.",
    discussion: """
      Asks /healthz of internalListen as the file, the environment and the flags name it; a server that was started with other \
      flags is somewhere else. Ends with 0 when it answers, and with 1 when it does not within 2 seconds.
      """)

  @OptionGroup var options: ConfigurationOptions

  func run() async throws {
    let settings = try options.load()
    do throws(HealthProbe.Failure) {
      try HealthProbe.ask(settings)
    } catch {
      throw StandardError.failure("throng health: \(error)")
    }
    print("alive")
  }
}
