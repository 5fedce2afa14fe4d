import ArgumentParser
import ServerConfiguration
import ThrongServer

/// `throng serve`: runs the server until a signal ends it.
struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Run the server.")

  @OptionGroup var options: ConfigurationOptions

  func run() async throws {
    let settings: Settings
    do throws(ConfigurationError) { settings = try options.read() } catch {
      throw fail(error.problems, error.logFormat)
    }
    do { try await ThrongServer.run(settings) } catch let error as StartError {
      throw fail([error.description], settings.log.format)
    }
  }

  private func fail(_ reasons: [String], _ format: LogFormat?) -> ExitCode {
    StandardError.failure(reasons.map { StartFailure.line($0, format: format) }.joined(separator: "\n"))
  }
}

/// `throng health`: asks the configured server for its health, for the health checks of containers.
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
