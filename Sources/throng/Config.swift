import ArgumentParser
import Authentication
import ServerConfiguration
import ThrongServer

/// `throng config`: commands about the configuration, without a server.
struct Config: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Check, show or begin a configuration.", subcommands: [ConfigCheck.self, ConfigShow.self, ConfigExample.self])
}

/// `throng config check`: prints `ok`, or all problems.
struct ConfigCheck: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Check the configuration, the files of auth.jwksFile and tls included.")

  @OptionGroup var options: ConfigurationOptions

  func run() async throws {
    let settings = try options.load()
    do {
      for warning in try await settings.checkKeys() { StandardError.write("warning: \(warning)") }
    } catch let error as AuthenticationError {
      throw StandardError.failure(error.description)
    } catch let error as StartError {
      throw StandardError.failure(error.description)
    }
    print("ok")
  }
}

/// `throng config show`: prints each key with its value and source.
struct ConfigShow: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Print each key with its value and source; secrets are masked.",
    discussion: "In a terminal long lines are wrapped to its width; elsewhere each key has one line.")

  @OptionGroup var options: ConfigurationOptions

  func run() async throws {
    let lines = try options.load().shownLines(width: Terminal.isThere ? Terminal.size.width : nil)
    for line in lines { print(line) }
  }
}

/// `throng config example`: prints a file with every key.
struct ConfigExample: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "example", abstract: "Print a configuration file with every key, commented out at its default.")

  func run() { print(Settings.exampleFile, terminator: "") }
}
