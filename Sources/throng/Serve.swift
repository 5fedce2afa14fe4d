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
