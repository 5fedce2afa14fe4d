import ArgumentParser
import Authentication
import Foundation
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
    commandName: "show", abstract: "Print each key with its value and source; secrets are masked.")

  @OptionGroup var options: ConfigurationOptions

  func run() async throws {
    let entries = try options.load().entries
    let keyWidth = entries.map(\.key.count).max() ?? 0
    // On a screen one long value would push all sources out of sight: it stands out of its column.
    let longest = entries.map(\.value.count).max() ?? 0
    let valueWidth = isatty(STDOUT_FILENO) == 1 ? min(longest, 32) : longest
    for entry in entries {
      print("\(entry.key.padded(to: keyWidth))  \(entry.value.padded(to: valueWidth))  \(entry.source)")
    }
  }
}

/// `throng config example`: prints a file with every key.
struct ConfigExample: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "example", abstract: "Print a configuration file with every key, commented out at its default.")

  func run() { print(Settings.exampleFile, terminator: "") }
}

extension String {
  fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
